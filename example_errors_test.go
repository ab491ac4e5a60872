package bide_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// A bound that was met is an ordinary error, to every scope around it too. Package net's way of asking works.
func ExampleTimeoutError() {
	vc := clock.NewVirtual()
	err := bide.FailAfter(context.Background(), 10*time.Second, func(ctx context.Context) error {
		vc.Advance(12 * time.Second)
		return fmt.Errorf("header: %w", bide.Check(ctx)) // a wrapped cancellation is still one
	}, bide.Clock(vc), bide.Name("upload"))

	var timeout *bide.TimeoutError
	if errors.As(err, &timeout) {
		fmt.Println(timeout.Scope, timeout.Limit, timeout.Elapsed)
	}
	var ne net.Error
	fmt.Println(errors.As(err, &ne) && ne.Timeout(), errors.Is(err, context.DeadlineExceeded))
	// Output:
	// upload 10s 12s
	// true true
}

// Inside of a scope its cancellation is an error like any other. It says by what, of which scope, and why.
func ExampleCanceled() {
	_ = bide.Run(context.Background(), func(s *bide.Scope) error {
		s.Cancel(errors.New("the user has left"))
		err := bide.Sleep(s, time.Hour) // returns at once

		var c *bide.Canceled
		if errors.As(err, &c) {
			fmt.Println(c.Source, "|", c.Scope, "|", c.Reason)
		}
		fmt.Println(errors.Is(err, context.Canceled))
		return err // and Run drops it
	}, bide.Name("request"))
	// Output:
	// cancel | request | the user has left
	// true
}
