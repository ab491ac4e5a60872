package bide_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// go-retryablehttp#272 (cenkalti/backoff#53). With 2 s left, and a pause of 4 s to come, it slept the 2 s away, and then
// said nothing but that the deadline was exceeded.
//
// Retry gives up at once, and the last error says why.
func TestReportRetryablehttp272(t *testing.T) {
	c := &C{T: t}
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.FailAfter(ctx, 2*time.Second, func(ctx context.Context) error {
			return bide.Retry(ctx, bide.Retries{Delay: 8 * time.Second}, func(context.Context) error { return failure })
		})
		c.Equal(vc.Now(), clock.Instant(0), "slept until")
		c.Is(err, failure)
		c.Is(err, context.DeadlineExceeded)
		var e *bide.RetryError
		c.True(errors.As(err, &e) && e.Left == 2*time.Second && e.Need >= 4*time.Second, "%v (%T)", err, err)
	})
}
