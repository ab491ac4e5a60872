//go:build !race

// See alloc_test.go.

package syncs_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

func TestAllocsLocksUncontended(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		var rw syncs.RWMutex
		noAllocs(t, "RWMutex, "+name, func() {
			if rw.Lock(ctx) == nil {
				rw.Unlock()
			}
			if rw.RLock(ctx) == nil {
				rw.RUnlock()
			}
		})
		var fair syncs.FairMutex
		noAllocs(t, "FairMutex, "+name, func() {
			if fair.Lock(ctx) == nil {
				fair.Unlock()
			}
		})
		s := syncs.NewSemaphore(2)
		noAllocs(t, "Semaphore, "+name, func() {
			if s.Acquire(ctx, 2) == nil {
				s.Release(2)
			}
			if s.Acquire(ctx, 3) != syncs.ErrTooLarge {
				t.Error("there are 3")
			}
		})
		var keyed syncs.KeyedMutex[string]
		noAllocs(t, "KeyedMutex, "+name, func() {
			if keyed.Lock(ctx, "k") == nil {
				keyed.Unlock("k")
			}
		})
		var g syncs.Guard[int]
		add := func(n *int) error { *n++; return nil }
		noAllocs(t, "Guard, "+name, func() { _ = g.With(ctx, add) })
	}
	var rw syncs.RWMutex
	noAllocs(t, "RWMutex, Try and Until", func() {
		rw.TryLock()
		_ = rw.LockUntil(0)
		_ = rw.RLockUntil(0)
		rw.Unlock()
		_ = rw.LockUntil(clock.Forever)
		rw.Unlock()
		_ = rw.RLockUntil(clock.Forever)
		rw.RUnlock()
		l, r := rw.Locker(), rw.RLocker()
		l.Lock()
		l.Unlock()
		r.Lock()
		r.Unlock()
		rw.Stats()
	})
	var fair syncs.FairMutex
	noAllocs(t, "FairMutex, Try and Until", func() {
		fair.TryLock()
		_ = fair.LockUntil(0)
		fair.Unlock()
		l := fair.Locker()
		l.Lock()
		l.Unlock()
	})
	s := syncs.NewSemaphore(2)
	noAllocs(t, "Semaphore, Try and SetSize", func() {
		s.TryAcquire(1)
		s.SetSize(3)
		s.SetSize(1)
		s.Release(1)
		s.Stats()
	})
	c := syncs.Cond{L: new(sync.Mutex)}
	noAllocs(t, "Cond without waiters", func() { c.Signal(); c.Broadcast() })

	// A ticket is something a user can hold.
	if n := testing.AllocsPerRun(100, func() { fair.LockAsync().Cancel() }); n != 1 {
		t.Errorf("LockAsync of a free lock: %v allocations, want 1", n)
	}
	fair.TryLock()
	if n := testing.AllocsPerRun(100, func() { fair.LockAsync().Cancel() }); n != 1 {
		t.Errorf("LockAsync in a queue: %v allocations, want 1", n)
	}
}

func TestAllocsLocksContended(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		s := syncs.NewSemaphore(3)
		var rw syncs.RWMutex
		var fair syncs.FairMutex
		var keyed syncs.KeyedMutex[string]
		var mu sync.Mutex
		c := syncs.Cond{L: &mu}
		for _, x := range []struct {
			name   string
			take   func() bool
			wait   func() error
			queued func() bool
			grant  func()
			give   func()
		}{
			{"Semaphore", func() bool { return s.TryAcquire(2) }, func() error { return s.Acquire(ctx, 3) }, s.Queued,
				func() { s.Release(2) }, func() { s.Release(3) }},
			{"RWMutex, write and write", rw.TryLock, func() error { return rw.Lock(ctx) }, rw.Queued, rw.Unlock, rw.Unlock},
			{"RWMutex, read and write", rw.TryRLock, func() error { return rw.Lock(ctx) }, rw.Queued, rw.RUnlock, rw.Unlock},
			{"RWMutex, write and read", rw.TryLock, func() error { return rw.RLock(ctx) }, rw.Queued, rw.Unlock, rw.RUnlock},
			{"FairMutex", fair.TryLock, func() error { return fair.Lock(ctx) }, fair.Queued, fair.Unlock, fair.Unlock},
			{"KeyedMutex", func() bool { return keyed.TryLock("k") }, func() error { return keyed.Lock(ctx, "k") }, keyed.Queued,
				func() { keyed.Unlock("k") }, func() { keyed.Unlock("k") }},
			{"Cond", mu.TryLock, func() error { return c.Wait(ctx) }, c.Queued, c.Signal, mu.Unlock},
		} {
			ask, stop := answer(func() {
				for !x.queued() {
					yield()
				}
				x.grant()
			})
			noAllocs(t, x.name+", "+name, func() {
				ask() // when it returns the last grant has: a RWMutex whose Unlock is under way is not free
				if !x.take() {
					t.Fatal("not free")
				}
				if err := x.wait(); err != nil {
					t.Error(err)
				}
				x.give()
			})
			stop()
		}
	}
}

func TestAllocsLocksExpired(t *testing.T) {
	var rw syncs.RWMutex
	var fair syncs.FairMutex
	rw.TryRLock()
	fair.TryLock()
	soon := func() clock.Instant { return clock.After(20 * time.Microsecond) }
	expired := func(name string, lock func(clock.Instant) error) {
		t.Helper()
		few := func() { _ = lock(soon()) }
		for range 20 {
			few()
		}
		if n := testing.AllocsPerRun(20, few); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	expired("RWMutex.LockUntil", rw.LockUntil)
	expired("FairMutex.LockUntil", fair.LockUntil)
	rw.RUnlock()
	rw.TryLock()
	expired("RWMutex.RLockUntil", rw.RLockUntil)
	expired("RWMutex.LockUntil", rw.LockUntil)
}

// Broadcast, Release and Unlock wake as many as there are without an allocation.
func TestAllocsManyAtOnce(t *testing.T) {
	const n = 100
	bg := context.Background()
	var mu sync.Mutex
	c, waiting := syncs.Cond{L: &mu}, 0
	s := syncs.NewSemaphore(n)
	var rw syncs.RWMutex
	for name, x := range map[string]struct {
		take   func()
		wait   func()
		queued func() int
		wake   func()
	}{
		"Semaphore": {
			func() { s.TryAcquire(n) },
			func() { _ = s.Acquire(bg, 1); s.Release(1) },
			func() int { return s.Stats().Waiting },
			func() { s.Release(n) },
		},
		"RWMutex": {
			func() {
				for !rw.TryLock() {
					yield()
				}
			},
			func() { _ = rw.RLock(bg); rw.RUnlock() },
			func() int { return rw.Stats().Waiting },
			rw.Unlock,
		},
		"Cond": {
			func() { waiting = 0 },
			func() { mu.Lock(); waiting++; _ = c.Wait(bg); mu.Unlock() },
			func() int { mu.Lock(); defer mu.Unlock(); return waiting },
			c.Broadcast,
		},
	} {
		gates := make(chan struct{})
		var over sync.WaitGroup
		for range n {
			over.Go(func() {
				for range gates {
					x.wait()
				}
			})
		}
		once := func() {
			for s.Held() > 0 {
				yield()
			}
			x.take()
			for range n {
				gates <- struct{}{}
			}
			for x.queued() < n {
				yield()
			}
			x.wake()
		}
		for range 20 {
			once()
		}
		// The pools of the processors fill in time, and are emptied by the collector.
		if allocs := testing.AllocsPerRun(50, once); allocs > n/20 {
			t.Errorf("%s: %v allocations for %d at once", name, allocs, n)
		}
		close(gates)
		over.Wait()
	}
}
