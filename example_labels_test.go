package bide_test

import (
	"context"
	"fmt"
	"runtime/pprof"

	"bide.invalid/bide"
)

// In a profile the time of these goroutines is told apart by what they do.
func ExampleLabels() {
	work := func(ctx context.Context) error {
		path, _ := pprof.Label(ctx, "bide")
		fmt.Println(path)
		return nil
	}
	_ = bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(work, bide.Name("fetch"))
		return nil
	}, bide.Name("crawler"), bide.Labels())
	// Output: crawler/fetch
}
