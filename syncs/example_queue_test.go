package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// Jobs go through a queue with little room: whoever brings them is slowed down, but only as long as he is willing to
// wait.
func ExampleQueue() {
	ctx := context.Background()
	jobs := syncs.NewQueue[string](2)

	submit := func(job string, patience time.Duration) error {
		return bide.FailAfter(ctx, patience, func(ctx context.Context) error { return jobs.Put(ctx, job) })
	}
	fmt.Println(submit("sweep", time.Minute), submit("wash", time.Minute))
	fmt.Println("full:", errors.Is(submit("cook", time.Millisecond), context.DeadlineExceeded))

	// What is in is still done after Close.
	jobs.Close()
	fmt.Println(submit("iron", time.Minute))
	for {
		job, err := jobs.Get(ctx)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(job)
	}

	// Output:
	// <nil> <nil>
	// full: true
	// bide/syncs: closed
	// sweep
	// wash
	// bide/syncs: closed
}

// The zero Queue has no room: a Put that returns nil has been received. So a value is never in nobody's hands, and a
// sender who gives up knows that it is still his.
func ExampleQueue_handOver() {
	ctx := context.Background()
	var desk syncs.Queue[string]

	err := bide.FailAfter(ctx, time.Millisecond, func(ctx context.Context) error { return desk.Put(ctx, "the key") })
	fmt.Println("nobody there:", errors.Is(err, context.DeadlineExceeded))

	err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(ctx context.Context) error {
			v, err := desk.Get(ctx)
			fmt.Println("received:", v)
			return err
		})
		return desk.Put(ctx, "the key")
	})
	fmt.Println(err)

	// Output:
	// nobody there: true
	// received: the key
	// <nil>
}

// What can be had without waiting.
func ExampleQueue_TryPut() {
	latest := syncs.NewQueue[int](1)
	for i := range 3 { // who reads wants the newest only
		for !latest.TryPut(i) {
			latest.TryGet()
		}
	}
	fmt.Println(latest.TryGet())
	fmt.Println(latest.TryGet())

	// Output:
	// 2 true
	// 0 false
}
