package syncs_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// A server is ready when its parts are, in whatever order.
func ExampleWaitAll() {
	var config syncs.Future[string]
	var listening syncs.Event
	var warming syncs.WaitGroup
	for range 3 {
		warming.Go(func() {})
	}
	go listening.Set()
	go config.Set("v2")

	err := bide.FailAfter(context.Background(), time.Minute, func(ctx context.Context) error {
		return syncs.WaitAll(ctx, &listening, &warming, &config)
	})
	version, _, _ := config.Poll()
	fmt.Println(version, err)

	// Output:
	// v2 <nil>
}

// One channel can be among what is waited for, without a goroutine and without a select of reflection.
func ExampleRecv() {
	ctx := context.Background()
	jobs := make(chan string, 2)
	var stop syncs.Event
	var job string
	var ok bool

	next := syncs.Recv(jobs, &job, &ok)
	jobs <- "one"
	jobs <- "two"
	for {
		which, err := syncs.WaitAny(ctx, &stop, next)
		if err != nil || which == 0 {
			fmt.Println("stopped:", err)
			break
		}
		fmt.Println(job, ok)
		if job == "two" {
			stop.Set()
		}
	}

	// Output:
	// one true
	// two true
	// stopped: <nil>
}

// To wait for a batch to fill, but not for long, and that is no error.
func ExampleAt() {
	ctx := context.Background()
	var full syncs.Event
	soon := syncs.At(clock.After(time.Millisecond))

	which, err := syncs.WaitAny(ctx, &full, soon)
	fmt.Println(which, err)

	full.Set()
	which, err = syncs.WaitAny(ctx, &full, soon)
	fmt.Println(which, err)

	// Output:
	// 1 <nil>
	// 0 <nil>
}

// A function that is called when the value is there, on the goroutine that brings it: it must not block.
func ExampleFuture_OnDone() {
	var answer syncs.Future[int]
	answer.OnDone(func(v int, err error) { fmt.Println("logged:", v, err) })
	answer.Set(42)
	answer.OnDone(func(v int, err error) { fmt.Println("late:", v, err) })

	// Output:
	// logged: 42 <nil>
	// late: 42 <nil>
}

// One future for each slot of a ring, used again and again: when its waiter has gone it is opened for the next round.
func ExampleFuture_Reset() {
	ctx := context.Background()
	var slot syncs.Future[string]
	for round := range 2 {
		go slot.Set(fmt.Sprint("round ", round))
		text, err := slot.Wait(ctx)
		fmt.Println(text, err)
		slot.Reset()
	}

	// Output:
	// round 0 <nil>
	// round 1 <nil>
}
