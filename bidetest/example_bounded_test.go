package bidetest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/syncs"
)

// Whoever waits for the answer is bounded, whoever waits for the turn is not.
func ExampleBounded() {
	bidetest.Bubble(new(testing.T), func(_ *testing.T, ctx context.Context) {
		turn, answer := syncs.NewSemaphore(1), new(syncs.Future[string])
		ask := func(ctx context.Context) error {
			if err := turn.Acquire(ctx, 1); err != nil {
				return err
			}
			defer turn.Release(1)
			_, err := bide.Within(ctx, time.Second, answer.Wait)
			return err
		}
		turn.TryAcquire(1)
		time.AfterFunc(time.Second, func() { turn.Release(1) })
		time.AfterFunc(time.Second+time.Second/2, func() { answer.Set("yes") })
		t := new(fake)
		fmt.Println(bidetest.Bounded(t, ctx, ask))
		fmt.Println(t.text())
	})
	// Output:
	// <nil>
	// bidetest: Bounded: a wait (semaphore) without a bound, in syncs.(*Semaphore).Acquire at example_bounded_test.go:19
}
