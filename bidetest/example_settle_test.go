package bidetest_test

import (
	"context"
	"fmt"
	"testing"

	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/syncs"
)

// Whoever was started has come to its wait, and whoever was woken has done what it does.
func ExampleSettle() {
	bidetest.Bubble(new(testing.T), func(t *testing.T, ctx context.Context) {
		var ready syncs.Event
		go func() {
			fmt.Println("waiting")
			if ready.Wait(ctx) == nil {
				fmt.Println("going on")
			}
		}()
		bidetest.Settle(t)
		fmt.Println("now it waits")
		ready.Set()
		bidetest.Settle(t)
		fmt.Println("now it is done")
	})
	// Output:
	// waiting
	// now it waits
	// going on
	// now it is done
}
