package bide_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// I. Primitives, continued: events, locks, conditions, semaphores, queues.

// A canceled waiter is out of the event's list, and the others are woken. A lock that hands over does so at once.
var _ = register(99, "events_and_direct_handover", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for canceled := range 4 {
			var e syncs.Event
			var ops []*Op
			var scopes []*bide.Scope
			for range 4 {
				s := bide.Open(ctx)
				ops, scopes = append(ops, c.Start(func() error { return e.Wait(s) })), append(scopes, s)
				c.Settle()
			}
			scopes[canceled].Cancel(failure)
			c.Equal(ops[canceled].Returned("canceled"), scopes[canceled].Cause(), "its error")
			for i, op := range ops {
				if i != canceled {
					op.Parked("the others")
				}
			}
			e.Set()
			for i, op := range ops {
				if i != canceled {
					c.NoError(op.Returned("the others"))
				}
				scopes[i].Close(nil)
			}
		}
		// Nothing of it is kept: thousands of canceled waits leave no waiter behind.
		var e syncs.Event
		s := bide.Open(ctx)
		c.keeps(2000, func() {
			c.Start(func() error {
				_, err := bide.MoveOnAfter(s, time.Second, e.Wait)
				return err
			})
			c.Settle()
			vc.Advance(time.Second)
			c.Settle()
		})
		e.Set() // nobody is left to be woken; and it was alive until here
		s.Close(nil)
	})

	type lock interface {
		Lock(ctx context.Context) error
		TryLock() bool
		Unlock()
	}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, l := range []lock{new(syncs.FairMutex), keyed{new(syncs.KeyedMutex[int])}, new(syncs.Mutex)} {
			_, barging := l.(*syncs.Mutex)
			l.TryLock()
			op := c.Start(func() error { return l.Lock(ctx) })
			op.Parked("locked")
			l.Unlock()
			// Nobody has run in between. A Mutex may be taken by who comes by; the others are the waiter's already.
			if took := l.TryLock(); took {
				c.True(barging, "%T: taken in the window", l)
				op.Parked("overtaken")
				l.Unlock()
			}
			c.NoError(op.Returned("it has the lock"))
			c.True(!l.TryLock(), "%T is locked", l)
			l.Unlock()
		}
	})
})

// keyed is one key's lock.
type keyed struct{ m *syncs.KeyedMutex[int] }

func (k keyed) Lock(ctx context.Context) error { return k.m.Lock(ctx, 1) }
func (k keyed) TryLock() bool                  { return k.m.TryLock(1) }
func (k keyed) Unlock()                        { k.m.Unlock(1) }

// A canceled Wait returns with the lock held, and a Signal that met it goes to the next.
var _ = register(100, "conditions", func(c *C) {
	for _, locks := range []func() (l sync.Locker, try func() bool){
		func() (sync.Locker, func() bool) { m := new(sync.Mutex); return m, m.TryLock },
		func() (sync.Locker, func() bool) { m := new(syncs.Mutex); return m.Locker(), m.TryLock },
		func() (sync.Locker, func() bool) { m := new(syncs.FairMutex); return m.Locker(), m.TryLock },
	} {
		l, try := locks()
		cond := syncs.Cond{L: l}
		wait := func(s context.Context) func() error {
			return func() error {
				l.Lock()
				err := cond.Wait(s)
				c.True(!try(), "the lock is held when Wait returns %v", err)
				l.Unlock()
				return err
			}
		}
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			for _, signalFirst := range []bool{true, false} {
				s := bide.Open(ctx)
				first := c.Start(wait(s))
				first.Parked("first")
				next := c.Start(wait(ctx))
				next.Parked("next")
				if signalFirst {
					cond.Signal()
					s.Cancel(failure)
					c.NoError(first.Returned("signaled"))
					next.Parked("the signal was taken")
					cond.Signal()
				} else {
					s.Cancel(failure)
					cond.Signal() // meets it in the queue
					c.Equal(first.Returned("canceled"), s.Cause(), "error")
				}
				c.NoError(next.Returned("it got a signal"))

				// Canceled from the start: nothing was unlocked in between.
				s.Cancel(failure)
				l.Lock()
				c.Equal(cond.Wait(s), s.Cause(), "error")
				c.True(!try(), "the lock is held")
				l.Unlock()
				s.Close(nil)
			}
		})
		// Signals and cancellations at the same time: as many are woken as were signaled, unless all others are canceled.
		c.Rounds(40, func(round int, r *rand.Rand) {
			c.Bubble(func(ctx context.Context) {
				s := bide.Open(ctx)
				var canceled, free []*Op
				for range 3 {
					canceled = append(canceled, c.Start(wait(s)))
					free = append(free, c.Start(wait(ctx)))
				}
				c.Settle()
				race(r, 100, func() { cond.Signal(); cond.Signal(); cond.Signal() }, func() { s.Cancel(nil) })
				woken := 0
				for _, op := range canceled {
					if err := op.Returned("canceled or signaled"); err == nil {
						woken++
					}
				}
				for _, op := range free {
					if op.Ended() {
						woken++
					}
				}
				c.Equal(woken, 3, "who was woken by three signals")
				cond.Broadcast()
				for _, op := range free {
					c.NoError(op.Returned("all"))
				}
				s.Close(nil)
			})
		})
	}
})

// Permits that are given back are the first waiter's; a semaphore may be resized at any time.
var _ = register(101, "semaphores", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		sem := syncs.NewSemaphore(1)
		stands := func(held int64, waiting int, what string) {
			c.Helper()
			c.Settle()
			st := sem.Stats()
			c.True(st.Held == held && st.Waiting == waiting, "%s: held %d, waiting %d, want %d, %d", what, st.Held, st.Waiting, held, waiting)
		}
		acquire := func() *Op { return c.Start(func() error { return sem.Acquire(ctx, 1) }) }
		c.NoError(sem.Acquire(ctx, 1))
		var ops []*Op
		for range 6 {
			ops = append(ops, acquire())
			c.Settle()
		}
		returned := func(n int, what string) {
			c.Helper()
			c.Settle()
			for i, op := range ops {
				c.Equal(op.Ended(), i < n, fmt.Sprintf("%s: waiter %d has returned", what, i))
			}
		}
		stands(1, 6, "at first")
		sem.Release(1)
		c.True(!sem.TryAcquire(1), "handed over: nothing to take in between")
		returned(1, "one given back")
		sem.SetSize(3)
		c.True(!sem.TryAcquire(1), "the two more are the waiters'")
		returned(3, "raised by two")
		stands(3, 3, "raised by two")
		sem.SetSize(1) // nobody is evicted
		stands(3, 3, "lowered")
		sem.Release(1)
		sem.Release(1)
		returned(3, "lowered: these two are gone")
		stands(1, 3, "lowered")
		sem.Release(1)
		returned(4, "below the size again")

		// A waiter that leaves is not counted any more, and those behind it go on.
		s := bide.Open(ctx)
		big := c.Start(func() error { return sem.Acquire(s, 1) })
		big.Parked("last in line")
		stands(1, 3, "one more")
		s.Cancel(failure)
		c.Equal(big.Returned("canceled"), s.Cause(), "error")
		stands(1, 2, "no record of it")
		s.Close(nil)

		// 0 is legal: what does not fit any more is refused, and nothing is given out.
		sem.SetSize(0)
		for _, op := range ops[4:] {
			c.Equal(op.Returned("refused"), syncs.ErrTooLarge, "error of who can never be served")
		}
		c.Equal(sem.Acquire(ctx, 1), syncs.ErrTooLarge, "error")
		c.True(!sem.TryAcquire(1), "nothing to take")
		sem.Release(1)
		stands(0, 0, "in the end")
	})
	// Never over-granted, whoever is canceled and however it is resized meanwhile.
	c.Rounds(40, func(round int, r *rand.Rand) {
		c.Bubble(func(ctx context.Context) {
			const most = 4
			sem := syncs.NewSemaphore(most)
			s := bide.Open(ctx)
			var held atomic.Int64
			var group sync.WaitGroup
			for range 12 {
				n := 1 + r.Int64N(3)
				yields := r.IntN(4)
				group.Go(func() {
					if err := sem.Acquire(s, n); err != nil {
						return
					}
					if held.Add(n) > most {
						c.Error("more is held than there is")
					}
					yield(yields)
					held.Add(-n)
					sem.Release(n)
				})
			}
			race(r, 100, func() {
				for _, size := range []int64{2, most, 0, 3, 1, most} {
					sem.SetSize(size)
				}
			}, func() { yield(r.IntN(30)); s.Cancel(nil) })
			group.Wait()
			st := sem.Stats()
			c.True(st.Held == 0 && st.Waiting == 0, "left: %+v", st)
			c.True(sem.TryAcquire(most), "all of it is there")
			s.Close(nil)
		})
	})
})

// A queue: who is canceled has taken nothing and put nothing; who waits owns what comes; Close wakes both sides.
var _ = register(102, "queues", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, room := range []int{0, 1, 3} {
			q := syncs.NewQueue[int](room)
			get := func(ctx context.Context, v *int) func() error {
				return func() (err error) { *v, err = q.Get(ctx); return err }
			}
			var a, b int
			s := bide.Open(ctx)
			first := c.Start(get(s, &a))
			first.Parked("first")
			second := c.Start(get(ctx, &b))
			second.Parked("second")
			s.Cancel(failure)
			c.NoError(q.Put(ctx, 1))
			_, ok := q.TryGet()
			c.True(!ok && q.Len() == 0, "it is the second one's already")
			c.Equal(first.Returned("canceled"), s.Cause(), "error")
			c.NoError(second.Returned("second"))
			c.True(a == 0 && b == 1, "the value went to the second: %d, %d", a, b)

			// Full: a canceled Put has put nothing, the ones around it have.
			for i := range room {
				c.True(q.TryPut(i), "room for %d", i)
			}
			var puts []*Op
			for i := range 3 {
				under := ctx
				if i == 1 {
					under = s // canceled before, and
				}
				puts = append(puts, c.Start(func() error { return q.Put(under, 10+i) }))
				c.Settle()
			}
			c.Equal(puts[1].Returned("canceled"), s.Cause(), "error")
			late := bide.Open(ctx)
			puts = append(puts, c.Start(func() error { return q.Put(late, 13) })) // canceled while it waits
			puts[3].Parked("full")
			last := c.Start(func() error { return q.Put(ctx, 14) })
			last.Parked("full")
			late.Cancel(failure)
			c.Equal(puts[3].Returned("canceled"), late.Cause(), "error")
			var got []int
			for range room + 3 {
				v, err := q.Get(ctx)
				c.NoError(err)
				got = append(got, v)
			}
			want := append([]int{0, 1, 2}[:room:room], 10, 12, 14)
			c.True(slices.Equal(got, want), "got %v, want %v", got, want)
			for _, op := range []*Op{puts[0], puts[2], last} {
				c.NoError(op.Returned("taken"))
			}
			late.Close(nil)
			s.Close(nil)

			getter := c.Start(get(ctx, &a))
			getter.Parked("empty")
			q.Close()
			c.Equal(getter.Returned("closed"), syncs.ErrClosed, "error of Get")

			q = syncs.NewQueue[int](room)
			for i := range room {
				q.TryPut(i)
			}
			putter := c.Start(func() error { return q.Put(ctx, 1) })
			putter.Parked("full")
			q.Close()
			c.Equal(putter.Returned("closed"), syncs.ErrClosed, "error of Put")
			for i := range room {
				v, err := q.Get(ctx)
				c.True(v == i && err == nil, "what was in comes out: %d, %v", v, err)
			}
			_, err := q.Get(ctx)
			c.Equal(err, syncs.ErrClosed, "error of Get in the end")
		}
	})
	// Values that go in come out, once each, in the order of each sender, with cancellations on both sides.
	c.Rounds(30, func(round int, r *rand.Rand) {
		c.Bubble(func(ctx context.Context) {
			q := syncs.NewQueue[[2]int](r.IntN(3))
			const senders, each = 3, 20
			var put [senders][]int
			got := map[int][]int{}
			var sending sync.WaitGroup
			for g := range senders {
				bounds := r.Perm(each)
				sending.Go(func() {
					for i := range each {
						_, err := bide.MoveOnAfter(ctx, time.Duration(bounds[i]%4)*time.Second, func(ctx context.Context) error {
							err := q.Put(ctx, [2]int{g, i})
							if err == nil {
								put[g] = append(put[g], i)
							}
							return err
						})
						c.NoError(err)
					}
				})
			}
			receiving := c.Start(func() error {
				for i := 0; ; i++ {
					var v [2]int
					late, err := bide.MoveOnAfter(ctx, time.Duration(i%3)*time.Second, func(ctx context.Context) (err error) {
						v, err = q.Get(ctx)
						return err
					})
					switch {
					case late:
						time.Sleep(time.Second) // now the senders are the ones who wait
					case err == syncs.ErrClosed:
						return nil
					default:
						got[v[0]] = append(got[v[0]], v[1])
					}
				}
			})
			sending.Wait()
			q.Close()
			c.NoError(receiving.Wait())
			for g := range put {
				c.True(slices.Equal(got[g], put[g]), "sender %d: put %v, got %v", g, put[g], got[g])
			}
		})
	})
})
