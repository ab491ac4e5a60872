//go:build !race

// Under the race detector sync.Pool drops at random what is put into it, so there is nothing to hold it to.

package syncs_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// noAllocs holds f at no allocation, once what it needs is there.
func noAllocs(t *testing.T, name string, f func()) {
	t.Helper()
	for range 100 {
		f()
	}
	if n := testing.AllocsPerRun(some(1000), f); n != 0 {
		t.Errorf("%s: %v allocations, want none", name, n)
	}
}

// allocContexts are those under which a wait allocates nothing.
func allocContexts(t *testing.T) map[string]context.Context {
	std, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := open(t, context.Background(), bide.Timeout(time.Hour))
	return map[string]context.Context{
		"background":            context.Background(),
		"std":                   std,
		"scope":                 s,
		"value below a scope":   context.WithValue(s, key{}, 1),
		"scope right below std": open(t, std),
	}
}

func TestAllocsUncontended(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		var m syncs.Mutex
		noAllocs(t, "Mutex, "+name, func() {
			if m.Lock(ctx) == nil {
				m.Unlock()
			}
		})
		var e syncs.Event
		e.Set()
		noAllocs(t, "Event, set, "+name, func() { _ = e.Wait(ctx) })
		noAllocs(t, "WaitAny, ready, "+name, func() { _, _ = syncs.WaitAny(ctx, &e) })
	}
	var m syncs.Mutex
	noAllocs(t, "TryLock", func() { m.TryLock(); m.Unlock() })
	noAllocs(t, "LockUntil", func() { _ = m.LockUntil(clock.Forever); m.Unlock() })
	l := m.Locker()
	noAllocs(t, "Locker", func() { l = m.Locker(); l.Lock(); l.Unlock() })
	var e syncs.Event
	noAllocs(t, "Set, Reset", func() { e.Set(); e.Reset() })
	m.TryLock()
	past := clock.Now()
	noAllocs(t, "LockUntil a deadline that has passed", func() { _ = m.LockUntil(past) })
}

// answer starts a goroutine that calls f each time that ask returns; stop ends it.
func answer(f func()) (ask, stop func()) {
	asked, over := make(chan struct{}), make(chan struct{})
	go func() {
		for range asked {
			f()
		}
		close(over)
	}()
	return func() { asked <- struct{}{} }, func() { close(asked); <-over }
}

func TestAllocsContended(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		var m syncs.Mutex
		m.TryLock()
		ask, stop := answer(func() {
			for !m.Queued() {
				yield()
			}
			m.Unlock()
		})
		noAllocs(t, "Mutex, "+name, func() {
			ask()
			if err := m.Lock(ctx); err != nil {
				t.Error(err)
			}
		})
		far := clock.After(time.Hour)
		noAllocs(t, "LockUntil", func() {
			ask()
			if err := m.LockUntil(far); err != nil {
				t.Error(err)
			}
		})
		stop()

		var e syncs.Event
		ask, stop = answer(func() {
			for !e.Queued() {
				yield()
			}
			e.Set()
		})
		noAllocs(t, "Event, "+name, func() {
			ask()
			if err := e.Wait(ctx); err != nil {
				t.Error(err)
			}
			e.Reset()
		})
		stop()

		var holder struct {
			syncs.Future[[4]int]
		}
		f := &holder.Future
		ask, stop = answer(func() {
			for !f.Queued() {
				yield()
			}
			f.Set([4]int{1, 2, 3, 4})
		})
		noAllocs(t, "Future, "+name, func() {
			*f = syncs.Future[[4]int]{}
			ask()
			if v, err := f.Wait(ctx); v[3] != 4 || err != nil {
				t.Error(v, err)
			}
		})
		stop()
		noAllocs(t, "Future, complete, "+name, func() {
			*f = syncs.Future[[4]int]{}
			f.Set([4]int{1, 2, 3, 4})
			if v, err := f.Wait(ctx); v[3] != 4 || err != nil {
				t.Error(v, err)
			}
		})
	}
}

func TestAllocsWaitAny(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		for _, n := range []int{2, 8, 64} {
			events := make([]syncs.Event, n)
			all := make([]syncs.Waitable, n)
			for i := range all {
				all[i] = &events[i]
			}
			last := &events[n-1]
			ask, stop := answer(func() {
				for !last.Queued() {
					yield()
				}
				last.Set()
			})
			noAllocs(t, "WaitAny, "+name, func() {
				ask()
				if i, err := syncs.WaitAny(ctx, all...); i != n-1 || err != nil {
					t.Error(i, err)
				}
				last.Reset()
			})
			stop()
		}
		var a, b syncs.Event
		ask, stop := answer(func() {
			for !b.Queued() {
				yield()
			}
			b.Set()
		})
		noAllocs(t, "WaitAny of arguments, "+name, func() {
			ask()
			if i, err := syncs.WaitAny(ctx, &a, &b); i != 1 || err != nil {
				t.Error(i, err)
			}
			b.Reset()
		})
		stop()
	}
}
