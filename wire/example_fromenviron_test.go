package wire_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/wire"
)

// The main function of a child: what it was given is the bound of all it does, and no more than a minute in any case.
func ExampleFromEnviron() {
	bound := time.Minute
	if left, ok := wire.FromEnviron(); ok {
		bound = min(bound, left)
	}
	err := bide.FailAfter(context.Background(), bound, func(ctx context.Context) error {
		fmt.Println("at most a minute:", bide.Remaining(ctx) <= time.Minute)
		return nil
	})
	fmt.Println(err)
	// Output:
	// at most a minute: true
	// <nil>
}
