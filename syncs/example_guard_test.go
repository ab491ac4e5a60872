package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A value that cannot be had without its lock.
func ExampleGuard() {
	ctx := context.Background()
	visits := syncs.NewGuard(map[string]int{})

	visit := func(ctx context.Context, who string) error {
		return visits.With(ctx, func(m *map[string]int) error {
			(*m)[who]++
			return nil
		})
	}
	fmt.Println(visit(ctx, "ann"), visit(ctx, "ann"), visit(ctx, "bob"))

	_ = visits.With(ctx, func(m *map[string]int) error {
		fmt.Println(*m)
		// Somebody else waits, for as long as it is willing to.
		err := bide.FailAfter(ctx, 5*time.Millisecond, func(ctx context.Context) error { return visit(ctx, "cy") })
		fmt.Println(errors.Is(err, context.DeadlineExceeded))
		return nil
	})

	// Output:
	// <nil> <nil> <nil>
	// map[ann:2 bob:1]
	// true
}
