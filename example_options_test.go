package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// The name stands in the errors that the scope makes, and in those of everything below it that it cancels.
func ExampleName() {
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		return bide.Run(s, func(inner *bide.Scope) error {
			s.Cancel(nil)
			fmt.Println(inner.Name(), "|", inner.Check())
			return nil
		}, bide.Name("query"))
	}, bide.Name("request"))
	fmt.Println(err)
	// Output:
	// query | bide: canceled by cancel of scope "request"
	// <nil>
}

// A virtual clock stands still until the test moves it, for this scope and for those below.
func ExampleClock() {
	vc := clock.NewVirtual()
	err := bide.FailAfter(context.Background(), time.Hour, func(ctx context.Context) error {
		return bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
			vc.Advance(61 * time.Second)
			return bide.Check(ctx)
		}, bide.Name("call"))
	}, bide.Clock(vc))
	fmt.Println(err)
	// Output: bide: call: timeout after 1m0s
}

// The duration counts from where the option is used, not from where it was made.
func ExampleTimeout() {
	vc := clock.NewVirtual()
	second := bide.Timeout(time.Second)
	vc.Advance(time.Minute)

	s := bide.Open(context.Background(), second, bide.Clock(vc))
	defer s.Close(nil)
	fmt.Println(s.Remaining(), s.Check())
	// Output: 1s <nil>
}

// A point in time, of the scope's clock.
func ExampleDeadline() {
	vc := clock.NewVirtual()
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		fmt.Println(s.Remaining())
		vc.Advance(time.Minute)
		return s.Check()
	}, bide.Deadline(time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC)), bide.Clock(vc), bide.Name("batch"))
	fmt.Println(err)
	// Output:
	// 30s
	// bide: batch: timeout after 30s; ended after 1m0s
}
