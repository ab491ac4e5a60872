package syncs_test

import (
	"context"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

func init() { calls = append(calls, lockCalls...) }

// lockCalls are the calls of locks, semaphores and condition variables, for the tests that go through all calls. Each is
// of something that is taken, so that it waits.
var lockCalls = []struct {
	name string
	make func() call
}{
	{"Semaphore.Acquire", func() call {
		s := syncs.NewSemaphore(3)
		s.TryAcquire(2)
		wait := func(ctx context.Context) error { return s.Acquire(ctx, 2) }
		release := func() { s.Release(2) }
		return call{wait, release, release, func() bool { return !s.Queued() }}
	}},
	{"Semaphore.Acquire, by SetSize", func() call {
		s := syncs.NewSemaphore(2)
		s.TryAcquire(1)
		wait := func(ctx context.Context) error { return s.Acquire(ctx, 2) }
		return call{wait, func() { s.SetSize(3) }, func() { s.Release(2) }, func() bool { return !s.Queued() }}
	}},
	{"RWMutex.Lock behind a writer", func() call {
		m := new(syncs.RWMutex)
		m.TryLock()
		return call{m.Lock, m.Unlock, m.Unlock, func() bool { return !m.Queued() }}
	}},
	{"RWMutex.Lock behind a reader", func() call {
		m := new(syncs.RWMutex)
		m.TryRLock()
		return call{m.Lock, m.RUnlock, m.Unlock, func() bool { return !m.Queued() }}
	}},
	{"RWMutex.RLock", func() call {
		m := new(syncs.RWMutex)
		m.TryLock()
		return call{m.RLock, m.Unlock, m.RUnlock, func() bool { return !m.Queued() }}
	}},
	{"FairMutex.Lock", func() call {
		m := new(syncs.FairMutex)
		m.TryLock()
		return call{m.Lock, m.Unlock, m.Unlock, func() bool { return !m.Queued() }}
	}},
	{"Ticket.Wait", func() call {
		m := new(syncs.FairMutex)
		m.TryLock()
		wait := func(ctx context.Context) error {
			t := m.LockAsync()
			defer t.Cancel()
			return t.Wait(ctx)
		}
		return call{wait, m.Unlock, m.Unlock, func() bool { return !m.Queued() }}
	}},
	{"KeyedMutex.Lock", func() call {
		m := new(syncs.KeyedMutex[string])
		m.TryLock("a")
		m.TryLock("b")
		unlock := func() { m.Unlock("a") }
		wait := func(ctx context.Context) error { return m.Lock(ctx, "a") }
		return call{wait, unlock, unlock, func() bool { return !m.Queued() }}
	}},
	{"Guard.With", func() call {
		g := syncs.NewGuard(0)
		g.Take()
		wait := func(ctx context.Context) error {
			return g.With(ctx, func(n *int) error { *n++; return nil })
		}
		return call{wait, g.Free, func() {}, func() bool { return !g.Queued() }}
	}},
	{"Cond.Wait", func() call {
		m := new(sync.Mutex)
		return condCall(m, m)
	}},
	{"Cond.Wait with a Mutex", func() call {
		m := new(syncs.Mutex)
		return condCall(m.Locker(), m.Locker())
	}},
	{"Cond.Wait with a FairMutex", func() call {
		m := new(syncs.FairMutex)
		return condCall(m.Locker(), m.Locker())
	}},
	{"Cond.Wait with a RWMutex", func() call {
		m := new(syncs.RWMutex)
		return condCall(m.RLocker(), m.Locker())
	}},
}

// condCall is a wait for something that one taker gets: there is one for each grant. change is l, or its writing side.
func condCall(l, change sync.Locker) call {
	c := syncs.Cond{L: l}
	var there atomic.Int64 // since l may be for reading
	take := func() bool {
		for n := there.Load(); n > 0; n = there.Load() {
			if there.CompareAndSwap(n, n-1) {
				return true
			}
		}
		return false
	}
	wait := func(ctx context.Context) error {
		if err := park.Err(ctx); err != nil {
			return err
		}
		l.Lock()
		defer l.Unlock()
		for !take() {
			if err := c.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	grant := func() {
		change.Lock()
		there.Add(1)
		change.Unlock()
		c.Signal()
	}
	return call{wait, grant, grant, func() bool { return !c.Queued() }}
}
