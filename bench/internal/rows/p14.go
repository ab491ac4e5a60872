package rows

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// P14: a lock that nobody gives up, and times out after two milliseconds; a thousand goroutines wait for it at a time. What
// counts is the processor's time beyond the wait.
var p14 = pair.Row{
	Name: "P14", Title: "a lock that times out",
	Run: runP14,
	Lines: []pair.Line{
		{Case: "LockUntil", Ours: "LockUntil", Rival: "channel+NewTimer", Of: pair.CPU, Target: pair.AtLeast(2)},
		{Case: "LockUntil", Ours: "LockUntil", Rival: "semaphore+WithTimeout", Of: pair.CPU, Target: pair.AtLeast(2)},
		{Case: "a scope each", Ours: "FailAfter+Lock", Rival: "channel+NewTimer", Of: pair.CPU},
		{Case: "a scope each", Ours: "FailAfter+Lock", Rival: "semaphore+WithTimeout", Of: pair.CPU, Target: pair.AtLeast(2)},
	},
}

const patience = 2 * time.Millisecond

func runP14(r *pair.Run) error {
	g := r.Scale(1000)
	var m syncs.Mutex
	m.TryLock()
	defer m.Unlock()
	sem := semaphore.NewWeighted(1)
	sem.TryAcquire(1)
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	ctx := context.Background()
	for r.Next() {
		r.Op("channel+NewTimer", together(g, func() {
			t := time.NewTimer(patience)
			defer t.Stop()
			select {
			case ch <- struct{}{}:
			case <-t.C:
			}
		}))
		r.Op("LockUntil", together(g, func() { _ = m.LockUntil(clock.After(patience)) }))
		r.Op("semaphore+WithTimeout", together(g, func() {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_ = sem.Acquire(ctx, 1)
		}))
		r.Op("FailAfter+Lock", together(g, func() {
			_ = bide.FailAfter(ctx, patience, func(ctx context.Context) error { return m.Lock(ctx) })
		}))
	}
	return nil
}

// together divides n waits among g goroutines.
func together(g int, wait func()) func(n int) {
	return func(n int) {
		var group sync.WaitGroup
		for i := range g {
			rounds := n / g
			if i < n%g {
				rounds++
			}
			group.Go(func() {
				for range rounds {
					wait()
				}
			})
		}
		group.Wait()
	}
}
