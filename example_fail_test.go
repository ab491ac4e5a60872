package bide_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// The bound covers everything inside, however many calls it takes.
func ExampleFailAfter() {
	err := bide.FailAfter(context.Background(), time.Millisecond, func(ctx context.Context) error {
		for {
			if err := bide.Sleep(ctx, 100*time.Microsecond); err != nil { // a slow drip
				return err
			}
		}
	})
	var timeout *bide.TimeoutError
	if errors.As(err, &timeout) {
		fmt.Println("timed out after", timeout.Limit)
	}
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded))
	// Output:
	// timed out after 1ms
	// true true
}

// What ended well has ended well, however late; and an error of one's own is returned as it is.
func ExampleFailAfter_late() {
	vc := clock.NewVirtual()
	err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
		vc.Advance(2 * time.Second) // work that does not look at its context
		return nil
	}, bide.Clock(vc))
	fmt.Println(err)

	err = bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
		vc.Advance(2 * time.Second)
		return errors.New("disk full")
	}, bide.Clock(vc))
	fmt.Println(err)
	// Output:
	// <nil>
	// disk full
}

// An inner bound can only shorten an outer one. The outermost that has passed is the one that reports.
func ExampleFailAfter_nested() {
	vc := clock.NewVirtual()
	err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
		return bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
			vc.Advance(5 * time.Second)
			return bide.Check(ctx)
		}, bide.Name("inner"))
	}, bide.Name("outer"), bide.Clock(vc))
	fmt.Println(err)
	// Output: bide: outer: timeout after 1s; ended after 5s
}

// Several steps share one point in time.
func ExampleFailAt() {
	vc := clock.NewVirtual()
	end := time.Date(2000, 1, 1, 0, 0, 10, 0, time.UTC) // a virtual clock starts at midnight of that day
	for i := range 4 {
		err := bide.FailAt(context.Background(), end, func(ctx context.Context) error {
			vc.Advance(4 * time.Second)
			return bide.Check(ctx)
		}, bide.Clock(vc), bide.Name("step"))
		fmt.Println(i, err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 bide: step: timeout after 2s; ended after 4s
	// 3 bide: step: timeout after 0s; ended after 4s
}

// FailAfter with a value: any func(ctx) (T, error) will do.
func ExampleWithin() {
	fetchUser := func(ctx context.Context) (string, error) {
		return "gopher", bide.Check(ctx)
	}
	user, err := bide.Within(context.Background(), time.Minute, fetchUser)
	fmt.Println(user, err)
	// Output: gopher <nil>
}

// The value is f's own also when the bound has ended it: what was done so far.
func ExampleWithin_partial() {
	vc := clock.NewVirtual()
	n, err := bide.Within(context.Background(), 10*time.Second, func(ctx context.Context) (n int, err error) {
		for bide.Check(ctx) == nil {
			vc.Advance(3 * time.Second) // one piece of the work
			n++
		}
		return n, bide.Check(ctx)
	}, bide.Clock(vc), bide.Name("count"))
	fmt.Println(n, err)
	// Output: 4 bide: count: timeout after 10s; ended after 12s
}
