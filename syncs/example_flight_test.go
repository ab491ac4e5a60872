package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// Everybody wants the same page at once: it is fetched once, and each waits for it with its own patience. One who gives
// up does not take it away from the others.
func ExampleFlight() {
	ctx := context.Background()
	var pages syncs.Flight[string, string]
	arrived := make(chan struct{})
	fetch := func(ctx context.Context) (string, error) {
		select {
		case <-arrived:
			return "hello", nil
		case <-ctx.Done(): // when nobody wants it any more
			return "", ctx.Err()
		}
	}

	err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		for range 3 {
			n.Go(func(ctx context.Context) error {
				page, err := pages.Do(ctx, "/", fetch)
				fmt.Println(page)
				return err
			})
		}
		_, err := bide.Within(ctx, time.Millisecond, func(ctx context.Context) (string, error) {
			return pages.Do(ctx, "/", fetch)
		})
		fmt.Println("impatient:", errors.Is(err, context.DeadlineExceeded))
		close(arrived)
		return nil
	})
	fmt.Println(err)

	// Output:
	// impatient: true
	// hello
	// hello
	// hello
	// <nil>
}
