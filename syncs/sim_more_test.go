//go:build bidestep

package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"bide.invalid/bide/internal/sim"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/syncs"
)

// More models: see sim_test.go.

// A writer that drains gives up while a reader is inside, another waits, and a second writer is behind it.
func TestSimRWMutexDrain(t *testing.T) {
	sim.Explore(t, "rwmutex, a writer that gives up", func(w *sim.World) {
		var m syncs.RWMutex
		m.TryRLock()
		readers, writers, wrote := 1, 0, 0
		ctx := impatient(w)
		w.Go("inside", func() {
			readers--
			m.RUnlock()
		})
		w.Go("impatient writer", func() {
			if m.Lock(ctx) == nil {
				if readers != 0 || writers != 0 {
					panic("a writer is not alone")
				}
				m.Unlock()
			}
		})
		w.Go("reader", func() {
			if m.RLock(w.Context()) == nil {
				readers++
				if writers != 0 {
					panic("a reader beside a writer")
				}
				step.At("held")
				readers--
				m.RUnlock()
			}
		})
		w.Go("writer", func() {
			if m.Lock(w.Context()) == nil {
				if writers++; writers != 1 || readers != 0 {
					panic("a writer is not alone")
				}
				step.At("held")
				writers--
				wrote++
				m.Unlock()
			}
		})
		w.Check(func() error {
			if wrote != 1 || !m.TryLock() {
				return errors.New("not written, or not free in the end")
			}
			return nil
		})
	})
	sim.Explore(t, "rwmutex, marks that are taken back", func(w *sim.World) {
		var m syncs.RWMutex
		inside, got := 0, 0
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				if m.RLock(w.Context()) == nil {
					inside++
					step.At("held")
					inside--
					got++
					m.RUnlock()
				}
			})
		}
		w.Go("writer", func() {
			if m.Lock(w.Context()) == nil {
				if inside != 0 {
					panic("a writer is not alone")
				}
				step.At("held")
				got++
				m.Unlock()
			}
		})
		w.Go("tries", func() {
			if m.TryRLock() {
				m.RUnlock()
			}
			if m.TryLock() {
				m.Unlock()
			}
		})
		w.Check(func() error {
			if got != 3 || !m.TryLock() {
				return fmt.Errorf("%d were inside, or it is not free in the end", got)
			}
			return nil
		})
	})
}

// Nobody has asked before it is complete.
func TestSimFutureAsked(t *testing.T) {
	sim.Explore(t, "future, asked at the last moment", func(w *sim.World) {
		var f syncs.Future[int]
		var v, called int
		var err error
		w.Go("set", func() { f.Set(1) })
		w.Go("waits", func() { v, err = f.Wait(w.Context()) })
		w.Go("asks", func() { f.OnDone(func(v int, _ error) { called = v }) })
		w.Check(func() error {
			if v != 1 || err != nil || called != 1 {
				return fmt.Errorf("%d, %v, and OnDone was called with %d", v, err, called)
			}
			return nil
		})
	})
}

func TestSimKeyedMutex(t *testing.T) {
	sim.Explore(t, "keyedmutex", func(w *sim.World) {
		var m syncs.KeyedMutex[string]
		oneAtATime(w, ofKey{&m})
		w.Check(func() error {
			if m.Len() != 1 { // the check of oneAtATime has it
				return fmt.Errorf("%d keys", m.Len())
			}
			return nil
		})
	})
}

// ofKey is one key's lock.
type ofKey struct{ *syncs.KeyedMutex[string] }

func (k ofKey) Lock(ctx context.Context) error { return k.KeyedMutex.Lock(ctx, "k") }
func (k ofKey) TryLock() bool                  { return k.KeyedMutex.TryLock("k") }
func (k ofKey) Unlock()                        { k.KeyedMutex.Unlock("k") }

// A post that comes while one waits for it, one leaves, and it is closed.
func TestSimFutex(t *testing.T) {
	sim.Explore(t, "futex", func(w *sim.World) {
		var f syncs.Futex
		ctx := impatient(w)
		var late error
		w.Go("posts", func() { f.Post(); f.Post() })
		w.Go("impatient", func() { f.Wait(ctx, 1) })
		w.Go("waits", func() { late = f.Wait(w.Context(), 2) })
		w.Check(func() error {
			if late != nil || f.Get() != 2 {
				return fmt.Errorf("%v at %d", late, f.Get())
			}
			return nil
		})
	})
	sim.Explore(t, "futex, closed", func(w *sim.World) {
		var f syncs.Futex
		var got error
		w.Go("posts", func() { f.Post() })
		w.Go("closes", func() { f.Close() })
		w.Go("waits", func() { got = f.Wait(w.Context(), 1) })
		w.Check(func() error {
			if f.Get() == 1 && got != nil && got != syncs.ErrClosed || f.Get() == 0 && got != syncs.ErrClosed {
				return fmt.Errorf("%v after %d posts", got, f.Get())
			}
			return nil
		})
	})
}

// Who is told that it was canceled has not counted; who was counted is told that all came. A round has one last.
func TestSimBarrier(t *testing.T) {
	sim.Explore(t, "barrier", func(w *sim.World) {
		b := syncs.NewBarrier(2)
		ctx := impatient(w)
		came, lasts := 0, 0
		wait := func(ctx context.Context) error {
			last, err := b.Wait(ctx)
			if err == nil {
				came++
			}
			if last {
				lasts++
			}
			return err
		}
		w.Go("impatient", func() {
			if wait(ctx) != nil {
				wait(w.Context())
			}
		})
		w.Go("waits", func() { wait(w.Context()) })
		w.Check(func() error {
			if came != 2 || lasts != 1 {
				return fmt.Errorf("%d were told that all came, %d that they were last", came, lasts)
			}
			return nil
		})
	})
}

func TestSimWaitAll(t *testing.T) {
	sim.Explore(t, "waitall", func(w *sim.World) {
		var a, b syncs.Event
		ctx := impatient(w)
		var early, late error
		w.Go("a", func() { a.Set() })
		w.Go("b", func() { b.Set() })
		w.Go("impatient", func() {
			if early = syncs.WaitAll(ctx, &a, &b); early == nil && !(a.IsSet() && b.IsSet()) {
				panic("not all")
			}
		})
		w.Go("all", func() {
			if late = syncs.WaitAll(w.Context(), &b, &a); late == nil && !(a.IsSet() && b.IsSet()) {
				panic("not all")
			}
		})
		w.Check(func() error {
			if late != nil || early != nil && !errors.Is(early, context.Canceled) {
				return fmt.Errorf("%v, %v", early, late)
			}
			return nil
		})
	})
}

// A source is closed while the goroutine registers, waits in another seat, or leaves.
func TestSimWaitAllClosed(t *testing.T) {
	sim.Explore(t, "waitall, closed, patient", func(w *sim.World) {
		var e syncs.Event
		var s, c syncs.Sequencer
		var err error
		w.Go("count", func() { c.Increment(); c.Close() })
		w.Go("close", func() { s.Close() })
		w.Go("patient", func() { err = syncs.WaitAll(w.Context(), &e, c.At(1), s.At(1)) })
		w.Check(func() error {
			if e.Queued() || !errors.Is(err, syncs.ErrClosed) {
				return fmt.Errorf("%v", err)
			}
			return nil
		})
	})
	sim.Explore(t, "waitall, closed", func(w *sim.World) {
		var e syncs.Event
		var s, c syncs.Sequencer
		ctx := impatient(w)
		var err error
		w.Go("set", func() { e.Set() })
		w.Go("count", func() { c.Increment(); c.Close() })
		w.Go("close", func() { s.Close() })
		w.Go("impatient", func() { err = syncs.WaitAll(ctx, &e, c.At(1), s.At(1)) })
		w.Check(func() error {
			if e.Queued() || !errors.Is(err, syncs.ErrClosed) && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%v", err)
			}
			return nil
		})
	})
}

// The last caller leaves while another boards, and while the function returns.
func TestSimFlight(t *testing.T) {
	sim.Explore(t, "flight, the last caller leaves", func(w *sim.World) {
		var g syncs.Flight[string, int]
		calls, running, canceled := 0, 0, 0
		f := func(ctx context.Context) (int, error) {
			calls++
			running++
			step.At("flies")
			running--
			if ctx.Err() != nil {
				canceled++
				return 0, ctx.Err()
			}
			return 7, nil
		}
		ctx := impatient(w)
		var v int
		var early, late error
		w.Go("impatient", func() { _, early = g.Do(ctx, "k", f) })
		w.Go("stays", func() { v, late = g.Do(w.Context(), "k", f) })
		w.Check(func() error {
			switch {
			case late != nil || v != 7:
				return fmt.Errorf("who stayed has got %d, %v", v, late)
			case early != nil && !errors.Is(early, context.Canceled):
				return early
			case calls > 2 || running != 0 || canceled > 1:
				return fmt.Errorf("%d calls, %d running, %d canceled", calls, running, canceled)
			}
			return nil
		})
	})
}

// An attempt of New fails, or comes too late, while others wait.
func TestSimPoolNew(t *testing.T) {
	sim.Explore(t, "pool, an attempt that fails", func(w *sim.World) {
		broken := errors.New("broken")
		made := 0
		p := &syncs.Pool[int]{Max: 1, New: func(context.Context) (int, error) {
			if made++; made == 1 {
				return 0, broken
			}
			return made, nil
		}}
		ctx := impatient(w)
		got := 0
		use := func(ctx context.Context) error {
			v, err := p.Get(ctx)
			if err != nil {
				return err
			}
			got++
			p.Put(v)
			return nil
		}
		var err error
		w.Go("impatient", func() { use(ctx) })
		w.Go("a", func() {
			if err = use(w.Context()); err == broken {
				err = use(w.Context())
			}
		})
		w.Check(func() error {
			if s := p.Stats(); err != nil || s.Lent != 0 || s.Total > 1 || s.Waiting != 0 {
				return fmt.Errorf("%v, %+v", err, s)
			}
			return nil
		})
	})
}

// Two puts, room for one, and a get.
func TestSimQueuePut(t *testing.T) {
	sim.Explore(t, "queue, two who put", func(w *sim.World) {
		q := syncs.NewQueue[int](1)
		ctx := impatient(w)
		var early error
		var got []int
		w.Go("impatient", func() { early = q.Put(ctx, 1) })
		w.Go("puts", func() { q.Put(w.Context(), 2) })
		w.Go("gets", func() {
			if v, err := q.Get(w.Context()); err == nil {
				got = append(got, v)
			}
		})
		w.Check(func() error {
			for v, ok := q.TryGet(); ok; v, ok = q.TryGet() {
				got = append(got, v)
			}
			want := 1
			if early == nil {
				want = 2
			}
			if len(got) != want {
				return fmt.Errorf("%v are out, the impatient one was told %v", got, early)
			}
			return nil
		})
	})
}

// The counter comes to 0 while another is counted.
func TestSimWaitGroupAdd(t *testing.T) {
	sim.Explore(t, "waitgroup, added to meanwhile", func(w *sim.World) {
		var g syncs.WaitGroup
		g.Add(1)
		live := 1
		var late error
		w.Go("done", func() { live--; g.Done() })
		w.Go("adds", func() {
			live++
			g.Add(1)
			step.At("works")
			live--
			g.Done()
		})
		w.Go("waits", func() { late = g.Wait(w.Context()) })
		w.Check(func() error {
			if late != nil || live != 0 || g.Wait(w.Context()) != nil && w.Context().Err() == nil {
				return fmt.Errorf("%v, %d", late, live)
			}
			return nil
		})
	})
}
