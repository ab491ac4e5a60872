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
	crew := newCrew(r.Scale(1000))
	defer crew.leave()
	var m syncs.Mutex
	m.TryLock()
	defer m.Unlock()
	sem := semaphore.NewWeighted(1)
	sem.TryAcquire(1)
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	ctx := context.Background()
	for r.Next() {
		r.Op("channel+NewTimer", crew.each(func() {
			t := time.NewTimer(patience)
			defer t.Stop()
			select {
			case ch <- struct{}{}:
			case <-t.C:
			}
		}))
		r.Op("LockUntil", crew.each(func() { _ = m.LockUntil(clock.After(patience)) }))
		r.Op("semaphore+WithTimeout", crew.each(func() {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_ = sem.Acquire(ctx, 1)
		}))
		r.Op("FailAfter+Lock", crew.each(func() {
			_ = bide.FailAfter(ctx, patience, func(ctx context.Context) error { return m.Lock(ctx) })
		}))
	}
	return nil
}

// A crew is goroutines that stay: a new one's stack has to grow first, which is dearer than a wait.
type crew struct {
	size int
	work chan func()
}

func newCrew(size int) *crew {
	c := &crew{size, make(chan func())}
	for range size {
		go func() {
			for f := range c.work {
				f()
			}
		}()
	}
	return c
}

func (c *crew) leave() { close(c.work) }

// each divides n waits among the crew.
func (c *crew) each(wait func()) func(n int) {
	return func(n int) {
		var group sync.WaitGroup
		for i := range c.size {
			rounds := n / c.size
			if i < n%c.size {
				rounds++
			}
			group.Add(1)
			c.work <- func() {
				defer group.Done()
				for range rounds {
					wait()
				}
			}
		}
		group.Wait()
	}
}
