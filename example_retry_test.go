package bide_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// Half a second, a try at most 200 ms of it. Another pause does not fit, so Retry gives up at once instead of sleeping
// until the time is up, and the last error is not lost.
func ExampleRetry() {
	policy := bide.Retries{
		Delay:  100 * time.Millisecond,
		PerTry: 200 * time.Millisecond,
		Rand:   func() float64 { return 0 }, // for the same output each time: pauses of half of what they may be
	}
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.FailAfter(ctx, 500*time.Millisecond, func(ctx context.Context) error {
			return bide.Retry(ctx, policy, func(ctx context.Context) error {
				fmt.Println("a try at", vc.Now())
				return bide.Sleep(ctx, time.Second) // a server that does not answer
			})
		})
		fmt.Println(err)

		var gaveUp *bide.RetryError
		fmt.Println(errors.As(err, &gaveUp) && gaveUp.Tries == 2, errors.Is(err, context.DeadlineExceeded))
	})
	// Output:
	// a try at 0s
	// a try at 250ms
	// bide: gave up after 2 tries, with 50ms left and 100ms needed: bide: try 2: timeout after 200ms: waiting for sleep
	// true true
}

// Only what may be better the next time is tried again.
func ExampleRetries() {
	errBusy, errDenied := errors.New("busy"), errors.New("access denied")
	answers := []error{errBusy, errBusy, errDenied}
	virtually(func(ctx context.Context, _ *clock.Virtual) {
		policy := bide.Retries{Tries: 10, If: func(err error) bool { return errors.Is(err, errBusy) }}
		err := bide.Retry(ctx, policy, func(context.Context) error {
			answer := answers[0]
			answers = answers[1:]
			return answer
		})
		fmt.Println(err)
	})
	// Output: access denied
}
