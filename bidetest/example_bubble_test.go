package bidetest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// Time is fake, and moves by itself when everybody waits for it.
func ExampleBubble() {
	t := new(testing.T) // the test's
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		began := time.Now()
		err := bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
			return bide.Sleep(ctx, time.Hour)
		}, bide.Name("nap"))
		fmt.Println(err, "| took", time.Since(began))
	})
	fmt.Println("failed:", t.Failed())
	// Output:
	// bide: nap: timeout after 1m0s: waiting for sleep | took 1m0s
	// failed: false
}
