package syncs_test

import (
	"container/list"
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

// chanSemaphore is the semaphore that users write today.
type chanSemaphore chan struct{}

func (s chanSemaphore) acquire(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s chanSemaphore) release() { <-s }

// listSemaphore is a weighted semaphore as golang.org/x/sync has it: a list of waiters with a channel each.
type listSemaphore struct {
	size, held int64
	mu         sync.Mutex
	waiters    list.List
}

type listWaiter struct {
	n     int64
	ready chan struct{}
}

func (s *listSemaphore) acquire(ctx context.Context, n int64) error {
	done := ctx.Done()
	s.mu.Lock()
	select {
	case <-done:
		s.mu.Unlock()
		return ctx.Err()
	default:
	}
	if s.size-s.held >= n && s.waiters.Len() == 0 {
		s.held += n
		s.mu.Unlock()
		return nil
	}
	ready := make(chan struct{})
	e := s.waiters.PushBack(listWaiter{n, ready})
	s.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-done:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-ready: // acquired after all
		s.held -= n
		s.notify()
	default:
		first := s.waiters.Front() == e
		s.waiters.Remove(e)
		if first {
			s.notify()
		}
	}
	return ctx.Err()
}

func (s *listSemaphore) release(n int64) {
	s.mu.Lock()
	s.held -= n
	s.notify()
	s.mu.Unlock()
}

func (s *listSemaphore) notify() {
	for e := s.waiters.Front(); e != nil; e = s.waiters.Front() {
		w := e.Value.(listWaiter)
		if s.size-s.held < w.n {
			return
		}
		s.held += w.n
		s.waiters.Remove(e)
		close(w.ready)
	}
}

// BenchmarkSemaphore is a limit of a few at a time: by one goroutine, and by several that want it all the time, without
// work inside and with some that lets others run.
func BenchmarkSemaphore(b *testing.B) {
	for _, r := range []struct {
		name string
		make func(b *testing.B, size int64) (acquire, release func())
	}{
		{"scope", func(b *testing.B, size int64) (acquire, release func()) {
			s, ctx := syncs.NewSemaphore(size), benchScope(b)
			return func() { _ = s.Acquire(ctx, 1) }, func() { s.Release(1) }
		}},
		{"std", func(b *testing.B, size int64) (acquire, release func()) {
			s, ctx := syncs.NewSemaphore(size), benchStd(b)
			return func() { _ = s.Acquire(ctx, 1) }, func() { s.Release(1) }
		}},
		{"anchor-channel-std", func(b *testing.B, size int64) (acquire, release func()) {
			s, ctx := make(chanSemaphore, size), benchStd(b)
			return func() { _ = s.acquire(ctx) }, s.release
		}},
		{"anchor-channel-background", func(b *testing.B, size int64) (acquire, release func()) {
			s := make(chanSemaphore, size)
			return func() { _ = s.acquire(context.Background()) }, s.release
		}},
		{"anchor-list-std", func(b *testing.B, size int64) (acquire, release func()) {
			s, ctx := &listSemaphore{size: size}, benchStd(b)
			return func() { _ = s.acquire(ctx, 1) }, func() { s.release(1) }
		}},
	} {
		for _, shape := range []struct {
			goroutines int
			size       int64
		}{{1, 4}, {4, 4}, {16, 4}, {4, 1}, {64, 4}} {
			for _, inside := range []struct {
				name string
				work func()
			}{{"empty", func() {}}, {"gosched", runtime.Gosched}} {
				b.Run(fmt.Sprintf("%s/g=%d/size=%d/%s", r.name, shape.goroutines, shape.size, inside.name), func(b *testing.B) {
					acquire, release := r.make(b, shape.size)
					bind := func() (func(), func()) { return acquire, release }
					contended(b, bind, shape.goroutines, inside.work)
				})
			}
		}
	}
}

// BenchmarkP14 is a Lock that times out. Many goroutines do that at once, so that what is measured is not the waiting but
// what it keeps the processors busy with.
func BenchmarkP14(b *testing.B) {
	const d = time.Millisecond
	bg := context.Background()
	for _, r := range []struct {
		name string
		make func() (lock func() bool)
	}{
		{"lockuntil", func() func() bool {
			m := new(syncs.Mutex)
			m.TryLock()
			return func() bool { return m.LockUntil(clock.After(d)) == nil }
		}},
		{"scope", func() func() bool {
			m := new(syncs.Mutex)
			m.TryLock()
			return func() bool { return bide.FailAfter(bg, d, m.Lock) == nil }
		}},
		{"std", func() func() bool {
			m := new(syncs.Mutex)
			m.TryLock()
			return func() bool {
				ctx, cancel := context.WithTimeout(bg, d)
				defer cancel()
				return m.Lock(ctx) == nil
			}
		}},
		{"fair-lockuntil", func() func() bool {
			m := new(syncs.FairMutex)
			m.TryLock()
			return func() bool { return m.LockUntil(clock.After(d)) == nil }
		}},
		{"semaphore-scope", func() func() bool {
			s := syncs.NewSemaphore(1)
			s.TryAcquire(1)
			return func() bool {
				return bide.FailAfter(bg, d, func(ctx context.Context) error { return s.Acquire(ctx, 1) }) == nil
			}
		}},
		{"anchor-list-semaphore-std", func() func() bool {
			s := &listSemaphore{size: 1, held: 1}
			return func() bool {
				ctx, cancel := context.WithTimeout(bg, d)
				defer cancel()
				return s.acquire(ctx, 1) == nil
			}
		}},
		{"anchor-channel-newtimer", func() func() bool {
			m := make(chanMutex, 1)
			m <- struct{}{}
			return func() bool { return m.lock(d) }
		}},
	} {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			lock := r.make()
			start := cpuTime()
			var group sync.WaitGroup
			const goroutines = 1000
			for g := range goroutines {
				group.Go(func() {
					for i := g; i < b.N; i += goroutines {
						if lock() {
							b.Error("locked")
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns/op")
		})
	}
}
