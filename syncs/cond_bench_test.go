package syncs_test

import (
	"context"
	"sync"
	"testing"

	"bide.invalid/bide/syncs"
)

// BenchmarkCond is a round of two goroutines that take turns.
func BenchmarkCond(b *testing.B) {
	turns := func(b *testing.B, l sync.Locker, wait func(), signal func()) {
		b.ReportAllocs()
		turn := 0
		play := func(me, n int) {
			l.Lock()
			for range n {
				for turn != me {
					wait()
				}
				turn = 1 - me
				signal()
			}
			l.Unlock()
		}
		var other sync.WaitGroup
		other.Go(func() { play(1, b.N) })
		play(0, b.N)
		other.Wait()
	}
	for _, r := range []struct {
		name string
		ctx  func(b *testing.B) context.Context
	}{
		{"scope", benchScope},
		{"background", func(*testing.B) context.Context { return context.Background() }},
		{"std", benchStd},
	} {
		b.Run(r.name, func(b *testing.B) {
			ctx := r.ctx(b)
			c := syncs.Cond{L: new(sync.Mutex)}
			turns(b, c.L, func() { _ = c.Wait(ctx) }, c.Signal)
		})
	}
	b.Run("scope-mutex", func(b *testing.B) {
		ctx, m := benchScope(b), new(syncs.Mutex)
		c := syncs.Cond{L: m.Locker()}
		turns(b, c.L, func() { _ = c.Wait(ctx) }, c.Signal)
	})
	b.Run("anchor-sync", func(b *testing.B) {
		c := sync.NewCond(new(sync.Mutex))
		turns(b, c.L, c.Wait, c.Signal)
	})
	b.Run("signal-nobody", func(b *testing.B) {
		c := syncs.Cond{L: new(sync.Mutex)}
		for b.Loop() {
			c.Signal()
		}
	})
	b.Run("anchor-sync-signal-nobody", func(b *testing.B) {
		c := sync.NewCond(new(sync.Mutex))
		for b.Loop() {
			c.Signal()
		}
	})
}
