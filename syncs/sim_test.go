//go:build bidestep

package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/sim"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/syncs"
)

// All orders of a few steps: see package sim. A wait of "impatient" is canceled by "cancel"; who waits under w.Context()
// has to get what he waits for, or the model fails because somebody waits for ever.

// impatient is a scope that a goroutine of the model cancels.
func impatient(w *sim.World) context.Context {
	s := bide.Open(w.Context())
	w.Go("cancel", func() { s.Cancel(nil) })
	w.Check(func() error { s.Close(nil); return nil })
	return s
}

func TestSimFuture(t *testing.T) {
	sim.Explore(t, "future", func(w *sim.World) {
		var f syncs.Future[int]
		var set, failed bool
		var calls int
		broken := errors.New("broken")
		f.OnDone(func(int, error) { calls++ })
		w.Go("set", func() { set = f.Set(1) })
		w.Go("fail", func() { failed = f.Fail(broken) })
		var early, late error
		var v int
		ctx := impatient(w)
		w.Go("impatient", func() { _, early = f.Wait(ctx) })
		w.Go("waits", func() { v, late = f.Wait(w.Context()) })
		w.Check(func() error {
			switch {
			case set == failed:
				return fmt.Errorf("Set %v, Fail %v", set, failed)
			case set && (v != 1 || late != nil), failed && late != broken:
				return fmt.Errorf("Set %v, the waiter got %d, %v", set, v, late)
			case early != late && !errors.Is(early, context.Canceled):
				return fmt.Errorf("the other got %v", early)
			case calls != 1:
				return fmt.Errorf("OnDone was called %d times", calls)
			}
			return nil
		})
	})
}

// lock is what the locks have in common.
type simLock interface {
	Lock(context.Context) error
	TryLock() bool
	Unlock()
}

// oneAtATime has three goroutines want the lock, one of them not for long.
func oneAtATime(w *sim.World, m simLock) {
	holders, got := 0, 0
	hold := func(err error) error {
		if err != nil {
			return err
		}
		if holders++; holders != 1 {
			panic("two hold the lock")
		}
		got++
		step.At("held")
		holders--
		m.Unlock()
		return nil
	}
	var early error
	ctx := impatient(w)
	w.Go("impatient", func() { early = hold(m.Lock(ctx)) })
	for _, name := range []string{"a", "b"} {
		w.Go(name, func() {
			if err := hold(m.Lock(w.Context())); err != nil && w.Context().Err() == nil {
				panic(err)
			}
		})
	}
	w.Check(func() error {
		want := 3
		if early != nil {
			want = 2
		}
		if got != want {
			return fmt.Errorf("%d have held it, the impatient one got %v", got, early)
		}
		if !m.TryLock() {
			return errors.New("not free in the end")
		}
		return nil
	})
}

func TestSimMutex(t *testing.T) {
	sim.Explore(t, "mutex hand-off", func(w *sim.World) { oneAtATime(w, new(syncs.Mutex)) })
}

func TestSimRWMutex(t *testing.T) {
	sim.Explore(t, "rwmutex, readers and writers", func(w *sim.World) {
		var m syncs.RWMutex
		readers, writers := 0, 0
		ctx := impatient(w)
		w.Go("impatient writer", func() {
			if m.Lock(ctx) == nil {
				writers++
				if writers != 1 || readers != 0 {
					panic("a writer is not alone")
				}
				step.At("held")
				writers--
				m.Unlock()
			}
		})
		for _, name := range []string{"reader 1", "reader 2"} {
			w.Go(name, func() {
				if m.RLock(w.Context()) != nil {
					return
				}
				readers++
				if writers != 0 {
					panic("a reader beside a writer")
				}
				step.At("held")
				readers--
				m.RUnlock()
			})
		}
		w.Check(func() error {
			if !m.TryLock() {
				return errors.New("not free in the end")
			}
			return nil
		})
	})
}

func TestSimFairMutex(t *testing.T) {
	sim.Explore(t, "fairmutex", func(w *sim.World) { oneAtATime(w, new(syncs.FairMutex)) })
	sim.Explore(t, "fairmutex, a ticket that is skipped", func(w *sim.World) {
		var m syncs.FairMutex
		m.TryLock()
		first, second := m.LockAsync(), m.LockAsync()
		got := false
		w.Go("unlock", func() { m.Unlock() })
		w.Go("cancel", func() { first.Cancel() })
		w.Go("second", func() {
			if second.Wait(w.Context()) == nil {
				got = true
				m.Unlock()
			}
		})
		w.Check(func() error {
			if !got || !m.TryLock() {
				return fmt.Errorf("the second got it: %v, or the lock is not free in the end", got)
			}
			return nil
		})
	})
}

// What is signaled once is consumed once, and not by one who was canceled.
func TestSimCond(t *testing.T) {
	sim.Explore(t, "cond", func(w *sim.World) {
		var m syncs.Mutex
		c := syncs.Cond{L: m.Locker()}
		items, got := 0, 0
		take := func(ctx context.Context) error {
			c.L.Lock()
			defer c.L.Unlock()
			for items == 0 {
				if err := c.Wait(ctx); err != nil {
					return err
				}
			}
			items--
			got++
			return nil
		}
		put := func() {
			c.L.Lock()
			items++
			c.L.Unlock()
			c.Signal()
		}
		ctx := impatient(w)
		w.Go("impatient", func() {
			if take(ctx) == nil {
				put() // for the other
			}
		})
		w.Go("takes", func() { take(w.Context()) })
		w.Go("puts", put)
		w.Check(func() error {
			if got == 0 || items != 0 || !m.TryLock() {
				return fmt.Errorf("%d taken, %d left", got, items)
			}
			return nil
		})
	})
}

func TestSimSemaphore(t *testing.T) {
	sim.Explore(t, "semaphore", func(w *sim.World) {
		s := syncs.NewSemaphore(2)
		held := int64(0)
		use := func(ctx context.Context, n int64) {
			if s.Acquire(ctx, n) != nil {
				return
			}
			if held += n; held > 2 {
				panic("more than there are")
			}
			step.At("held")
			held -= n
			s.Release(n)
		}
		ctx := impatient(w)
		w.Go("impatient, two", func() { use(ctx, 2) })
		w.Go("one", func() { use(w.Context(), 1) })
		w.Go("two", func() { use(w.Context(), 2) })
		w.Check(func() error {
			if !s.TryAcquire(2) || s.TryAcquire(1) {
				return errors.New("not two in the end")
			}
			return nil
		})
	})
	sim.Explore(t, "semaphore, resized", func(w *sim.World) {
		s := syncs.NewSemaphore(1)
		s.TryAcquire(1)
		w.Go("release", func() { s.Release(1) })
		w.Go("resize", func() { s.SetSize(2) })
		w.Go("two", func() {
			if s.Acquire(w.Context(), 2) == nil {
				s.Release(2)
			}
		})
		w.Check(func() error {
			if !s.TryAcquire(2) || s.TryAcquire(1) {
				return errors.New("not two in the end")
			}
			return nil
		})
	})
}

func TestSimSequencer(t *testing.T) {
	sim.Explore(t, "sequencer", func(w *sim.World) {
		var s syncs.Sequencer
		ctx := impatient(w)
		var late error
		w.Go("increments", func() { s.Increment(); s.Increment() })
		w.Go("impatient", func() { s.Wait(ctx, 1) })
		w.Go("waits", func() { late = s.Wait(w.Context(), 2) })
		w.Check(func() error {
			if late != nil || s.Get() != 2 {
				return fmt.Errorf("%v at %d", late, s.Get())
			}
			return nil
		})
	})
	sim.Explore(t, "sequencer, closed", func(w *sim.World) {
		var s syncs.Sequencer
		var got error
		w.Go("advances", func() { s.Advance(2) })
		w.Go("closes", func() { s.Close() })
		w.Go("waits", func() { got = s.Wait(w.Context(), 2) })
		w.Check(func() error {
			if got != nil && got != syncs.ErrClosed {
				return got
			}
			return nil
		})
	})
}

func TestSimEvent(t *testing.T) {
	sim.Explore(t, "event, set and reset", func(w *sim.World) {
		var e syncs.Event
		ctx := impatient(w)
		w.Go("impatient", func() { e.Wait(ctx) })
		w.Go("set, reset, set", func() { e.Set(); e.Reset(); e.Set() })
		w.Go("waits", func() { e.Wait(w.Context()) })
		w.Check(func() error {
			if !e.IsSet() {
				return errors.New("not set")
			}
			return nil
		})
	})
	sim.Explore(t, "autoevent", func(w *sim.World) {
		var e syncs.AutoEvent
		ctx := impatient(w)
		w.Go("impatient", func() {
			if e.Wait(ctx) == nil {
				e.Set() // for the other
			}
		})
		w.Go("set", func() { e.Set() })
		w.Go("waits", func() { e.Wait(w.Context()) })
	})
}

// An item is never lost on a caller who was canceled.
func TestSimPool(t *testing.T) {
	sim.Explore(t, "pool hand-over", func(w *sim.World) {
		made, out := 0, 0
		p := &syncs.Pool[int]{Max: 1, New: func(context.Context) (int, error) { made++; return made, nil }}
		use := func(ctx context.Context) {
			v, err := p.Get(ctx)
			if err != nil {
				return
			}
			if out++; out != 1 {
				panic("lent twice")
			}
			step.At("lent")
			out--
			p.Put(v)
		}
		ctx := impatient(w)
		w.Go("impatient", func() { use(ctx) })
		w.Go("a", func() { use(w.Context()) })
		w.Go("b", func() { use(w.Context()) })
		w.Check(func() error {
			if _, ok := p.TryGet(); !ok || made != 1 {
				return fmt.Errorf("%d made, and one to be had: %v", made, ok)
			}
			return nil
		})
	})
}

// A value is taken once, or still there.
func TestSimQueue(t *testing.T) {
	sim.Explore(t, "queue", func(w *sim.World) {
		q := syncs.NewQueue[int](0)
		ctx := impatient(w)
		got := 0
		w.Go("impatient", func() {
			if _, err := q.Get(ctx); err == nil {
				got++
				q.Put(w.Context(), 1) // for the other
			}
		})
		w.Go("gets", func() {
			if _, err := q.Get(w.Context()); err == nil {
				got++
			}
		})
		w.Go("puts", func() { q.Put(w.Context(), 1) })
		w.Check(func() error {
			if got == 0 || q.Len() != 0 {
				return fmt.Errorf("%d taken, %d left", got, q.Len())
			}
			return nil
		})
	})
	sim.Explore(t, "queue, closed", func(w *sim.World) {
		q := syncs.NewQueue[int](1)
		var put error
		got, drained := 0, 0
		w.Go("puts", func() { put = q.Put(w.Context(), 1) })
		w.Go("closes", func() { q.Close() })
		w.Go("gets", func() {
			for {
				if _, err := q.Get(w.Context()); err != nil {
					return
				}
				got++
			}
		})
		w.Check(func() error {
			for {
				if _, ok := q.TryGet(); !ok {
					break
				}
				drained++
			}
			if (put == nil) != (got+drained == 1) {
				return fmt.Errorf("put: %v, got %d, left %d", put, got, drained)
			}
			return nil
		})
	})
}

func TestSimWaitAny(t *testing.T) {
	sim.Explore(t, "waitany", func(w *sim.World) {
		var a, b syncs.Event
		i, err := -1, error(nil)
		w.Go("a", func() { a.Set() })
		w.Go("b", func() { b.Set() })
		w.Go("any", func() { i, err = syncs.WaitAny(w.Context(), &a, &b) })
		w.Check(func() error {
			if err != nil || i < 0 || i > 1 {
				return fmt.Errorf("%d, %v", i, err)
			}
			return nil
		})
	})
}

func TestSimWaitGroup(t *testing.T) {
	sim.Explore(t, "waitgroup", func(w *sim.World) {
		var g syncs.WaitGroup
		g.Add(2)
		ctx := impatient(w)
		var late error
		w.Go("done", func() { g.Done() })
		w.Go("done too", func() { g.Done() })
		w.Go("impatient", func() { g.Wait(ctx) })
		w.Go("waits", func() { late = g.Wait(w.Context()) })
		w.Check(func() error { return late })
	})
}
