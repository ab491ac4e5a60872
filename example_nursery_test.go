package bide_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"bide.invalid/bide"
)

// Nobody outlives the block. A child that fails cancels the others, and its error is the block's.
func ExampleWithNursery() {
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) })
		n.Go(func(ctx context.Context) error { return errors.New("no stock") })
		return bide.Sleep(ctx, time.Hour) // ends as well: this is the nursery's own context
	})
	fmt.Println(err)
	// Output: no stock
}

// Children get the nursery's context. Leaving the body waits for them, and does not cancel them.
func ExampleNursery_Go() {
	var mu sync.Mutex
	var pages []string
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		for _, page := range []string{"about", "index", "news"} {
			n.Go(func(ctx context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				pages = append(pages, page)
				return bide.Check(ctx)
			})
		}
		return nil
	})
	slices.Sort(pages)
	fmt.Println(pages, err)
	// Output: [about index news] <nil>
}

// With options a child runs in a scope of its own: here each has a bound, and one of them may be late.
func ExampleNursery_Go_options() {
	forever := func(ctx context.Context) error { return bide.Sleep(ctx, 1000*time.Hour) }

	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(forever, bide.Name("extra"), bide.Timeout(time.Millisecond), bide.MoveOn())
		n.Go(func(ctx context.Context) error {
			fmt.Println("running", bide.From(ctx).Name())
			return nil
		}, bide.Name("main"), bide.Timeout(time.Hour))
		return nil
	})
	fmt.Println(err)
	// Output:
	// running main
	// <nil>
}

// The first answer is enough. What the nursery itself has canceled is no error.
func ExampleNursery_Cancel() {
	answer := make(chan string, 1)
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) })
		n.Go(func(ctx context.Context) error {
			answer <- "fast"
			n.Cancel(errors.New("answered"))
			return nil
		})
		return nil
	})
	fmt.Println(<-answer, err)
	// Output: fast <nil>
}

// A child's failure is the reason that its siblings read in their error. It is not found by errors.Is there: they
// have not failed.
func ExampleNursery_reason() {
	errFull := errors.New("disk full")
	_ = bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(ctx context.Context) error { return errFull }, bide.Name("writer"))
		err := bide.Sleep(ctx, time.Hour)
		var c *bide.Canceled
		if errors.As(err, &c) {
			fmt.Println(c.Source, "|", c.Reason)
		}
		fmt.Println(errors.Is(err, errFull), errors.Is(c.Reason, errFull))
		return err
	})
	// Output:
	// sibling | child "writer": disk full
	// false true
}
