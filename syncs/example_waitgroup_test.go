package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// Shutting down: what runs is waited for, but not for longer than there is patience.
func ExampleWaitGroup() {
	ctx := context.Background()
	var running syncs.WaitGroup
	var stuck syncs.Event

	running.Go(func() {})
	running.Go(func() { _ = stuck.Wait(ctx) })

	err := bide.FailAfter(ctx, time.Millisecond, running.Wait)
	fmt.Println("still running:", errors.Is(err, context.DeadlineExceeded))

	stuck.Set()
	fmt.Println(bide.FailAfter(ctx, time.Minute, running.Wait))

	// Output:
	// still running: true
	// <nil>
}
