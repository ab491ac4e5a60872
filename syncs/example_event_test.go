package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A server says when it is ready, and everybody who depends on it waits for that, each with its own patience.
func ExampleEvent() {
	ctx := context.Background()
	var ready syncs.Event

	err := bide.FailAfter(ctx, time.Millisecond, ready.Wait)
	fmt.Println("impatient:", errors.Is(err, context.DeadlineExceeded))

	err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		for range 3 {
			n.Go(ready.Wait)
		}
		ready.Set()
		return nil
	}, bide.Timeout(time.Minute))
	fmt.Println("patient:", err)

	ready.Reset() // down for maintenance
	fmt.Println("ready:", ready.IsSet())

	// Output:
	// impatient: true
	// patient: <nil>
	// ready: false
}
