package syncs_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// Stats for a page that shows how a service is doing: here somebody holds a lock too long, and others give up.
func ExampleMutex_Stats() {
	ctx := bide.Open(context.Background())
	defer ctx.Close(nil)
	var mu syncs.Mutex
	mu.TryLock()
	var others sync.WaitGroup
	for range 3 {
		others.Go(func() { _ = mu.Lock(ctx) })
	}
	for mu.Stats().Waiting < 3 {
		runtime.Gosched()
	}
	fmt.Printf("%+v\n", mu.Stats())
	ctx.Cancel(nil)
	others.Wait()
	fmt.Printf("%+v\n", mu.Stats())

	// Output:
	// {Held:1 Waiting:3 Waits:3 Failed:0}
	// {Held:1 Waiting:0 Waits:3 Failed:3}
}
