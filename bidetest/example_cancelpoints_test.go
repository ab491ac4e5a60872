package bidetest_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/syncs"
)

// A loop that takes a lock each time can be canceled each time; the one that computes can be only where it asks.
func ExampleCancelPoints() {
	var mu syncs.Mutex
	locks := func(ctx context.Context) error {
		for range 100 {
			if err := mu.Lock(ctx); err != nil {
				return err
			}
			mu.Unlock()
		}
		return nil
	}
	computes := func(ctx context.Context) error {
		for i := range 100 {
			if i%10 == 0 {
				if err := bide.Check(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	}
	n, err := bidetest.CancelPoints(context.Background(), locks)
	fmt.Println(n, err)
	n, err = bidetest.CancelPoints(context.Background(), func(ctx context.Context) error {
		return bide.FailAfter(ctx, time.Second, computes)
	})
	fmt.Println(n, err)
	// Output:
	// 100 <nil>
	// 10 <nil>
}
