package syncs_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// Somebody writes what has changed to a disk. Whoever changes something says so; changes that come while it writes are
// written together, with the next.
func ExampleAutoEvent() {
	var dirty syncs.AutoEvent
	var state, saved atomic.Int64
	change := func(context.Context) error {
		state.Add(1)
		dirty.Set()
		return nil
	}
	save := func(ctx context.Context) error {
		for saved.Load() < 1000 { // no change is overlooked, however many come at once
			if err := dirty.Wait(ctx); err != nil {
				return err
			}
			saved.Store(state.Load())
		}
		return nil
	}

	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(save)
		for range 1000 {
			n.Go(change)
		}
		return nil
	}, bide.Timeout(time.Minute))
	fmt.Println(saved.Load(), err)

	// Output:
	// 1000 <nil>
}
