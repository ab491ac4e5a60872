package bide_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// I. Primitives, continued: lots, waits that cannot be canceled, waits for several.

// Who waits for a key is woken in the order of arrival, also when moved to another key; and may leave from there.
var _ = register(103, "lots", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var lot park.Lot
		var mu sync.Mutex
		var order []int
		wait := func(ctx context.Context, key string, i int) *Op {
			op := c.Start(func() error {
				o := lot.Park(ctx, key, clock.Forever, park.KindUser, nil)
				if o == park.Canceled {
					return park.Reason(ctx)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				return nil
			})
			op.Parked(key)
			return op
		}
		// woken wakes n of key, one after the other, and returns who it was.
		woken := func(key string, n int) []int {
			order = nil
			for range n {
				lot.Wake(key, 1, park.Woken, nil)
				c.Settle()
			}
			return order
		}
		waiting := func(key string) (n int) {
			lot.Wake(key, 0, park.Woken, func(_, left int) { n = left })
			return n
		}
		s := bide.Open(ctx)
		var ops []*Op
		for i := range 8 {
			under := ctx
			if i == 3 || i == 5 {
				under = s
			}
			ops = append(ops, wait(under, "a", i))
		}
		c.Equal(woken("a", 1), []int{0}, "the first")
		c.Equal(lot.Wake("a", 2, park.Woken, nil), 2, "woken at once")
		c.Settle()
		slices.Sort(order)
		c.Equal(order, []int{0, 1, 2}, "the first three")

		ops = append(ops, wait(ctx, "b", 8))
		c.Equal(lot.Requeue("a", "b", 4, nil), 4, "moved")
		c.Equal([2]int{waiting("a"), waiting("b")}, [2]int{1, 5}, "waiting for each")
		s.Cancel(failure) // two of those that were moved
		c.Equal(ops[3].Returned("moved and canceled"), s.Cause(), "error")
		c.Equal(ops[5].Returned("moved and canceled"), s.Cause(), "error")
		c.Equal([2]int{waiting("a"), waiting("b")}, [2]int{1, 3}, "waiting for each, without the canceled ones")
		c.Equal(woken("b", 3), []int{8, 4, 6}, "those of b, in order")
		c.Equal(woken("a", 1), []int{7}, "who stayed")
		c.Equal(lot.Wake("a", 9, park.Woken, nil)+lot.Wake("b", 9, park.Woken, nil), 0, "nobody is left")
		for _, op := range ops {
			op.Returned("all")
		}
		s.Close(nil)
	})
})

// A wait that cannot be canceled ends by its grant, with nil; the next cancel point says what happened meanwhile. Who is
// to be told of a cancellation is told once, whatever else is canceled.
var _ = register(104, "waits_that_cannot_be_canceled", func(c *C) {
	deaf := map[string]func(s *bide.Scope) (wait func() error, grant func()){
		"under no context": func(*bide.Scope) (func() error, func()) {
			e := new(syncs.Event)
			return func() error { return e.Wait(context.Background()) }, e.Set
		},
		"without cancel": func(s *bide.Scope) (func() error, func()) {
			e := new(syncs.Event)
			return func() error { return e.Wait(context.WithoutCancel(s)) }, e.Set
		},
		"in a shield": func(s *bide.Scope) (func() error, func()) {
			e := new(syncs.Event)
			return func() error { return bide.Shield(s, 1000*time.Hour, e.Wait) }, e.Set
		},
		"a Locker": func(s *bide.Scope) (func() error, func()) {
			m := new(syncs.Mutex)
			m.TryLock()
			return func() error { m.Locker().Lock(); return nil }, m.Unlock
		},
		"a condition's lock": func(s *bide.Scope) (func() error, func()) {
			m := new(syncs.Mutex)
			cond := syncs.Cond{L: m.Locker()}
			return func() error {
				c.True(m.TryLock(), "free")
				go func() { // takes it away, and has it until it is granted
					m.Lock(context.Background())
					cond.Signal()
				}()
				return cond.Wait(s)
			}, m.Unlock
		},
		"a function": func(s *bide.Scope) (func() error, func()) {
			leave := make(chan struct{})
			return func() error {
				_, err := bide.Blocking(s, func(context.Context) (int, error) { <-leave; return 0, nil })
				return err
			}, func() { close(leave) }
		},
		"a nursery's end": func(s *bide.Scope) (func() error, func()) {
			leave := make(chan struct{})
			return func() error {
				return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
					n.Go(func(context.Context) error { <-leave; return nil })
					return nil
				})
			}, func() { close(leave) }
		},
		"a nursery's slot": func(s *bide.Scope) (func() error, func()) {
			leave, once := make(chan struct{}), sync.Once{}
			return func() error {
				return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
					n.Go(func(context.Context) error { <-leave; return nil })
					n.Go(func(context.Context) error { return nil })
					return nil
				}, bide.Limit(1))
			}, func() { once.Do(func() { close(leave) }) }
		},
	}
	for name, make := range deaf {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			outer := bide.Open(ctx)
			s := bide.Open(outer)
			wait, grant := make(s)
			var next error
			op := c.Start(func() error {
				err := wait()
				next = bide.Check(s)
				return err
			})
			op.Parked(name)
			s.Cancel(failure)
			op.Parked(name + ", canceled")
			outer.Cancel(errOther)
			vc.Advance(time.Hour)
			op.Parked(name + ", canceled twice")
			grant()
			c.NoError(op.Returned(name + ", granted"))
			c.Equal(c.Canceled(next).Reason, failure, "the next cancel point")
			s.Close(nil)
			outer.Close(nil)
		})
	}

	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, first := range []string{"inner", "outer", "both at once"} {
			outer := bide.Open(ctx)
			inner := bide.Open(outer)
			calls := 0
			op := c.hooked(inner, func() { calls++ })
			switch first {
			case "inner":
				inner.Cancel(failure)
			case "outer":
				outer.Cancel(failure)
			}
			c.NoError(bide.Shield(inner, time.Hour, func(ctx context.Context) error {
				if first == "both at once" {
					race(rand.New(rand.NewPCG(1, 1)), 10, func() { inner.Cancel(failure) }, func() { outer.Cancel(failure) })
				}
				outer.Cancel(errOther)
				inner.Cancel(errOther)
				return bide.Check(ctx)
			}))
			c.Equal(c.Canceled(op.Returned("hooked")).Reason, failure, "reason")
			c.Equal(calls, 1, first+": calls of the hook")
			inner.Close(nil)
			outer.Close(nil)
			c.Equal(calls, 1, first+": calls of the hook in the end")
		}
	})
})

// A wait for one of several leaves nothing in any of them; fired and canceled in the same instant, it is the index.
var _ = register(105, "wait_any", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		const n = 5
		var events [n]syncs.Event
		var f syncs.Future[int]
		sources := []syncs.Waitable{&f}
		for i := range events {
			sources = append(sources, &events[i])
		}
		var s *bide.Scope
		index := 0
		wait := func() error {
			var err error
			index, err = syncs.WaitAny(s, sources...)
			return err
		}
		for fired := range n { // fired first, canceled before anybody has run
			s = bide.Open(ctx)
			op := c.Start(wait)
			op.Parked("all of them")
			events[fired].Set()
			s.Cancel(failure)
			c.NoError(op.Returned("fired and canceled"))
			c.Equal(index, fired+1, "index")
			c.Equal(wait(), s.Cause(), "the next cancel point, although it is set still")
			c.Equal(index, -1, "index")
			events[fired].Reset()
			s.Close(nil)

			s = bide.Open(ctx)
			op = c.Start(wait)
			op.Parked("all of them")
			s.Cancel(failure)
			events[fired].Set() // too late
			c.Equal(op.Returned("canceled and fired"), s.Cause(), "error")
			c.Equal(index, -1, "index")
			events[fired].Reset()
			s.Close(nil)
		}
		// All registrations are gone: of a thousand canceled waits nothing is left, in six sources.
		outer := bide.Open(ctx)
		c.keeps(2000, func() {
			op := c.Start(func() error {
				_, err := bide.MoveOnAfter(outer, time.Second, func(ctx context.Context) error {
					_, err := syncs.WaitAny(ctx, sources...)
					return err
				})
				return err
			})
			op.Parked("all of them")
			vc.Advance(time.Second)
			c.NoError(op.Returned("moved on"))
		})
		outer.Close(nil)
		f.Set(7)
		s = bide.Open(ctx)
		c.NoError(wait())
		c.Equal(index, 0, "index")
		s.Close(nil)
	})
	// At the same time: the index or C, never both, and never neither.
	c.Rounds(100, func(round int, r *rand.Rand) {
		c.Bubble(func(ctx context.Context) {
			var a, b syncs.Event
			s := bide.Open(ctx)
			var fired, canceled atomic.Int32
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					switch i, err := syncs.WaitAny(s, &a, &b); {
					case err == nil && i == 1:
						fired.Add(1)
					case i == -1 && errors.Is(err, context.Canceled):
						canceled.Add(1)
					default:
						c.Errorf("WaitAny = %d, %v", i, err)
					}
				})
			}
			c.Settle()
			race(r, 100, b.Set, func() { s.Cancel(nil) })
			group.Wait()
			c.Equal(fired.Load()+canceled.Load(), int32(8), "waits that have ended")
			s.Close(nil)
		})
	})
})
