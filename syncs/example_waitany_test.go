package syncs_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A worker waits for its result, or for being told to stop, or for its scope to end: one wait, no goroutine, no select.
func ExampleWaitAny() {
	var result syncs.Future[string]
	var stop syncs.Event

	wait := func(bound time.Duration) {
		err := bide.FailAfter(context.Background(), bound, func(ctx context.Context) error {
			switch i, err := syncs.WaitAny(ctx, &result, &stop); i {
			case 0:
				text, _, _ := result.Poll()
				fmt.Println("result:", text)
			case 1:
				fmt.Println("stopped")
			default:
				return err
			}
			return nil
		})
		if err != nil {
			fmt.Println("neither in time")
		}
	}

	wait(2 * time.Millisecond)
	stop.Set()
	wait(time.Minute)
	result.Set("done")
	wait(time.Minute) // both are ready: the first in the order of the arguments

	// Output:
	// neither in time
	// stopped
	// result: done
}
