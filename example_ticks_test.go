package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// A loop body every minute; when the context is canceled the loop ends.
func ExampleTicks() {
	virtually(func(ctx context.Context, _ *clock.Virtual) {
		bide.Run(ctx, func(s *bide.Scope) error {
			for at, missed := range bide.Ticks(s, time.Minute) {
				fmt.Println("refresh at", at, "missed", missed)
				switch at {
				case clock.Instant(time.Minute):
					bide.Sleep(s, 150*time.Second) // takes its time
				case clock.Instant(4 * time.Minute):
					s.Cancel(nil)
				}
			}
			return bide.Check(s)
		})
	})
	// Output:
	// refresh at 1m0s missed 0
	// refresh at 3m0s missed 1
	// refresh at 4m0s missed 0
}
