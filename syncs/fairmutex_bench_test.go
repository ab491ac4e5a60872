package syncs_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"bide.invalid/bide/syncs"
)

// BenchmarkFairMutex is a lock that is handed on in order; a channel is the rival that does the same.
func BenchmarkFairMutex(b *testing.B) {
	for _, r := range []struct {
		name string
		make func(b *testing.B) (lock, unlock func())
	}{
		{"fair-scope", func(b *testing.B) (lock, unlock func()) {
			m, ctx := new(syncs.FairMutex), benchScope(b)
			return func() { _ = m.Lock(ctx) }, m.Unlock
		}},
		{"keyed-scope", func(b *testing.B) (lock, unlock func()) {
			m, ctx := new(syncs.KeyedMutex[string]), benchScope(b)
			return func() { _ = m.Lock(ctx, "key") }, func() { m.Unlock("key") }
		}},
		{"ticket-scope", func(b *testing.B) (lock, unlock func()) {
			m, ctx := new(syncs.FairMutex), benchScope(b)
			return func() { _ = m.LockAsync().Wait(ctx) }, m.Unlock
		}},
		{"anchor-channel", func(b *testing.B) (lock, unlock func()) {
			m := make(chanMutex, 1)
			return func() { m <- struct{}{} }, m.unlock
		}},
		{"anchor-channel-newtimer", func(b *testing.B) (lock, unlock func()) {
			m := make(chanMutex, 1)
			return func() { m.lock(time.Hour) }, m.unlock
		}},
	} {
		for _, goroutines := range []int{1, 4, 64} {
			b.Run(fmt.Sprintf("%s/g=%d", r.name, goroutines), func(b *testing.B) {
				lock, unlock := r.make(b)
				bind := func() (func(), func()) { return lock, unlock }
				contended(b, bind, goroutines, runtime.Gosched)
			})
		}
	}
}
