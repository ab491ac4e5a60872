package bidetest_test

import (
	"context"
	"fmt"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// The cache is emptied between the look and the fill, each time.
func ExampleSequencer() {
	bidetest.Bubble(new(testing.T), func(t *testing.T, ctx context.Context) {
		order := bidetest.NewSequencer(t, "looked", "emptied", "filled")
		cache := map[string]int{} // guarded by the order
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error {
				fmt.Println("found:", cache["key"])
				order.Pass("looked")
				order.Pass("filled")
				cache["key"] = 1
				return nil
			})
			n.Go(func(ctx context.Context) error {
				order.Pass("emptied")
				return nil
			})
			return nil
		})
		fmt.Println("filled:", cache["key"], err)
	})
	// Output:
	// found: 0
	// filled: 1 <nil>
}
