package syncs_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// chanMutex is the lock with a timeout that users write today.
type chanMutex chan struct{}

func (m chanMutex) lock(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case m <- struct{}{}:
		return true
	case <-t.C:
		return false
	}
}

func (m chanMutex) unlock() { <-m }

// A rival is a lock under one way to bound it. bind makes the functions for one goroutine.
type rival struct {
	name string
	make func(b *testing.B) (bind func() (lock, unlock func()))
}

func ours(lock func(b *testing.B, m *syncs.Mutex) func()) func(b *testing.B) func() (lock, unlock func()) {
	return func(b *testing.B) func() (func(), func()) {
		m := new(syncs.Mutex)
		l := lock(b, m)
		return func() (func(), func()) { return l, m.Unlock }
	}
}

func lockUnder(ctx func(b *testing.B) context.Context) func(b *testing.B, m *syncs.Mutex) func() {
	return func(b *testing.B, m *syncs.Mutex) func() {
		ctx := ctx(b)
		return func() {
			if err := m.Lock(ctx); err != nil {
				b.Error(err)
			}
		}
	}
}

var rivals = []rival{
	{"scope", ours(lockUnder(benchScope))},
	{"background", ours(lockUnder(func(*testing.B) context.Context { return context.Background() }))},
	{"std", ours(lockUnder(benchStd))},
	{"below-std", ours(lockUnder(func(b *testing.B) context.Context { return open(b, benchStd(b)) }))},
	{"lockuntil", ours(func(b *testing.B, m *syncs.Mutex) func() {
		far := clock.After(time.Hour)
		return func() {
			if err := m.LockUntil(far); err != nil {
				b.Error(err)
			}
		}
	})},
	{"anchor-sync", func(*testing.B) func() (lock, unlock func()) {
		m := new(sync.Mutex)
		return func() (func(), func()) { return m.Lock, m.Unlock }
	}},
	{"anchor-channel-newtimer", func(b *testing.B) func() (lock, unlock func()) {
		m := make(chanMutex, 1)
		lock := func() {
			if !m.lock(time.Hour) {
				b.Error("timeout")
			}
		}
		return func() (func(), func()) { return lock, m.unlock }
	}},
}

func benchScope(b *testing.B) context.Context {
	s := open(b, context.Background(), bide.Timeout(time.Hour))
	_, _ = s.Err(), s.Err() // observed
	return s
}

func benchStd(b *testing.B) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	b.Cleanup(cancel)
	return ctx
}

// BenchmarkP13 is a lock whose waiting is bounded: by one goroutine, and by several that want it all the time, without
// work inside and with some that lets others run. The calls without a function value between are BenchmarkP13Direct.
func BenchmarkP13(b *testing.B) {
	for _, r := range rivals {
		for _, goroutines := range []int{2, 4, 16, 64} {
			for _, inside := range []struct {
				name string
				work func()
			}{{"empty", func() {}}, {"gosched", runtime.Gosched}} {
				b.Run(fmt.Sprintf("%s/g=%d/%s", r.name, goroutines, inside.name), func(b *testing.B) {
					contended(b, r.make(b), goroutines, inside.work)
				})
			}
		}
	}
}

// contended divides b.N rounds among goroutines.
func contended(b *testing.B, bind func() (lock, unlock func()), goroutines int, work func()) {
	b.ReportAllocs()
	var ready, group sync.WaitGroup
	start := make(chan struct{})
	ready.Add(goroutines)
	for g := range goroutines {
		rounds := b.N / goroutines
		if g < b.N%goroutines {
			rounds++
		}
		group.Go(func() {
			lock, unlock := bind()
			ready.Done()
			<-start
			for range rounds {
				lock()
				work()
				unlock()
			}
		})
	}
	ready.Wait()
	b.ResetTimer()
	close(start)
	group.Wait()
}

// BenchmarkP13Direct is the uncontended lock, called as users call it.
func BenchmarkP13Direct(b *testing.B) {
	b.Run("anchor-sync", func(b *testing.B) {
		m := new(sync.Mutex)
		for b.Loop() {
			m.Lock()
			m.Unlock()
		}
	})
	for _, c := range []struct {
		name string
		ctx  context.Context
	}{
		{"scope", benchScope(b)}, {"background", context.Background()}, {"std", benchStd(b)}, {"below-std", open(b, benchStd(b))},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, ctx := new(syncs.Mutex), c.ctx
			b.ReportAllocs()
			for b.Loop() {
				if m.Lock(ctx) == nil {
					m.Unlock()
				}
			}
		})
	}
	b.Run("trylock", func(b *testing.B) {
		m := new(syncs.Mutex)
		for b.Loop() {
			if m.TryLock() {
				m.Unlock()
			}
		}
	})
	b.Run("anchor-sync-trylock", func(b *testing.B) {
		m := new(sync.Mutex)
		for b.Loop() {
			if m.TryLock() {
				m.Unlock()
			}
		}
	})
	b.Run("lockuntil", func(b *testing.B) {
		m := new(syncs.Mutex)
		far := clock.After(time.Hour)
		for b.Loop() {
			if m.LockUntil(far) == nil {
				m.Unlock()
			}
		}
	})
	b.Run("anchor-channel-newtimer", func(b *testing.B) {
		m := make(chanMutex, 1)
		b.ReportAllocs()
		for b.Loop() {
			if m.lock(time.Hour) {
				m.unlock()
			}
		}
	})
}
