package syncs_test

import (
	"context"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// What each of them reports: taken at once, with one more who waits, with two, one of them canceled, and the other one
// served.
func TestBubbleStats(t *testing.T) {
	type thing struct {
		name                 string
		take                 func() bool
		wait                 func(ctx context.Context) error
		give, giveBack       func()
		stats                func() syncs.Stats
		held, heldByTheOther int64
		again                uint64 // waits of the other one: for the one before it, and for the readers
	}
	var things []thing
	{
		m := new(syncs.Mutex)
		things = append(things, thing{"Mutex", m.TryLock, m.Lock, m.Unlock, m.Unlock, m.Stats, 1, 1, 0})
	}
	{
		m := new(syncs.RWMutex)
		things = append(things, thing{"RWMutex, writers", m.TryLock, m.Lock, m.Unlock, m.Unlock, m.Stats, 1, 1, 0})
	}
	{
		m := new(syncs.RWMutex)
		things = append(things, thing{"RWMutex, readers", m.TryLock, m.RLock, m.Unlock, m.RUnlock, m.Stats, 1, 1, 0})
	}
	{
		m := new(syncs.RWMutex)
		take := func() bool { return m.TryRLock() && m.TryRLock() }
		give := func() { m.RUnlock(); m.RUnlock() }
		things = append(things, thing{"RWMutex, a writer behind readers", take, m.Lock, give, m.Unlock, m.Stats, 2, 1, 1})
	}
	{
		s := syncs.NewSemaphore(5)
		take := func() bool { return s.TryAcquire(4) }
		wait := func(ctx context.Context) error { return s.Acquire(ctx, 3) }
		things = append(things, thing{"Semaphore", take, wait, func() { s.Release(4) }, func() { s.Release(3) }, s.Stats, 4, 3, 0})
	}
	for _, x := range things {
		t.Run(x.name, func(t *testing.T) {
			// In a bubble of its own for each look: things are made outside, which their waiters do not mind.
			synctest.Test(t, func(t *testing.T) {
				look := func(when string, want syncs.Stats) {
					t.Helper()
					synctest.Wait()
					if got := x.stats(); got != want {
						t.Errorf("%s: %+v, want %+v", when, got, want)
					}
				}
				look("new", syncs.Stats{})
				x.take()
				canceled, cancel := context.WithCancel(context.Background())
				look("taken", syncs.Stats{Held: x.held})
				errs := make(chan error, 2)
				go func() { errs <- x.wait(canceled) }()
				look("one waits", syncs.Stats{Held: x.held, Waiting: 1, Waits: 1})
				go func() { errs <- x.wait(context.Background()) }()
				look("two wait", syncs.Stats{Held: x.held, Waiting: 2, Waits: 2})
				cancel()
				look("one is canceled", syncs.Stats{Held: x.held, Waiting: 1, Waits: 2 + x.again, Failed: 1})
				if err := <-errs; err == nil {
					t.Error("canceled, and served")
				}
				_ = x.wait(canceled) // does nothing
				look("one that did not wait", syncs.Stats{Held: x.held, Waiting: 1, Waits: 2 + x.again, Failed: 1})
				x.give()
				look("served", syncs.Stats{Held: x.heldByTheOther, Waits: 2 + x.again, Failed: 1})
				if err := <-errs; err != nil {
					t.Error(err)
				}
				x.giveBack()
				look("given back", syncs.Stats{Waits: 2 + x.again, Failed: 1})
			})
		})
	}
}

// An expired wait has failed too; one whose deadline has passed has not waited.
func TestBubbleStatsExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m syncs.Mutex
		var rw syncs.RWMutex
		m.TryLock()
		rw.TryRLock()
		for range 3 {
			for _, lock := range []func(clock.Instant) error{m.LockUntil, rw.LockUntil} {
				at := clock.After(1)
				_, _ = lock(at), lock(at)
			}
		}
		want := syncs.Stats{Held: 1, Waits: 3, Failed: 3}
		if got := m.Stats(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got := rw.Stats(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}
