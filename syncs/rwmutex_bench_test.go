package syncs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// An rwRival is a lock for readers and writers, made anew for each benchmark.
type rwRival struct {
	name string
	make func(b *testing.B) (rlock, runlock, lock, unlock func())
}

var rwRivals = []rwRival{
	{"scope", func(b *testing.B) (rlock, runlock, lock, unlock func()) { return rwUnder(b, benchScope(b)) }},
	{"background", func(b *testing.B) (rlock, runlock, lock, unlock func()) { return rwUnder(b, context.Background()) }},
	{"until", func(b *testing.B) (rlock, runlock, lock, unlock func()) {
		m, far := new(syncs.RWMutex), clock.After(time.Hour)
		return func() { _ = m.RLockUntil(far) }, m.RUnlock, func() { _ = m.LockUntil(far) }, m.Unlock
	}},
	{"anchor-sync", func(b *testing.B) (rlock, runlock, lock, unlock func()) {
		m := new(sync.RWMutex)
		return m.RLock, m.RUnlock, m.Lock, m.Unlock
	}},
}

func rwUnder(b *testing.B, ctx context.Context) (rlock, runlock, lock, unlock func()) {
	m := new(syncs.RWMutex)
	must := func(err error) {
		if err != nil {
			b.Error(err)
		}
	}
	return func() { must(m.RLock(ctx)) }, m.RUnlock, func() { must(m.Lock(ctx)) }, m.Unlock
}

// BenchmarkRWMutex is a lock that several goroutines want all the time, one in so many times for writing.
func BenchmarkRWMutex(b *testing.B) {
	for _, r := range rwRivals {
		for _, goroutines := range []int{1, 2, 4, 16, 64} {
			for _, writes := range []struct {
				name  string
				every int
			}{{"read", 0}, {"write-100", 100}, {"write-10", 10}, {"write", 1}} {
				b.Run(fmt.Sprintf("%s/g=%d/%s", r.name, goroutines, writes.name), func(b *testing.B) {
					rlock, runlock, lock, unlock := r.make(b)
					bind := func() (func(), func()) {
						i, writing := 0, false
						return func() {
								i++
								if writing = writes.every != 0 && i%writes.every == 0; writing {
									lock()
								} else {
									rlock()
								}
							}, func() {
								if writing {
									unlock()
								} else {
									runlock()
								}
							}
					}
					contended(b, bind, goroutines, func() {})
				})
			}
		}
	}
}

// BenchmarkRWMutexDirect is the uncontended lock, called as users call it.
func BenchmarkRWMutexDirect(b *testing.B) {
	scope := benchScope(b)
	b.Run("read/scope", func(b *testing.B) {
		m := new(syncs.RWMutex)
		b.ReportAllocs()
		for b.Loop() {
			if m.RLock(scope) == nil {
				m.RUnlock()
			}
		}
	})
	b.Run("read/anchor-sync", func(b *testing.B) {
		m := new(sync.RWMutex)
		for b.Loop() {
			m.RLock()
			m.RUnlock()
		}
	})
	b.Run("write/scope", func(b *testing.B) {
		m := new(syncs.RWMutex)
		b.ReportAllocs()
		for b.Loop() {
			if m.Lock(scope) == nil {
				m.Unlock()
			}
		}
	})
	b.Run("write/anchor-sync", func(b *testing.B) {
		m := new(sync.RWMutex)
		for b.Loop() {
			m.Lock()
			m.Unlock()
		}
	})
}
