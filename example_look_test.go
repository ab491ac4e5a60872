package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// A library finds the scope that it is called under, through contexts of other kinds.
func ExampleFrom() {
	type key struct{}
	log := func(ctx context.Context, text string) {
		if s := bide.From(ctx); s != nil {
			text = s.Name() + ": " + text
		}
		fmt.Println(text)
	}
	_ = bide.Run(context.Background(), func(s *bide.Scope) error {
		log(context.WithValue(s, key{}, 1), "hello")
		return nil
	}, bide.Name("request"))
	log(context.Background(), "hello")
	// Output:
	// request: hello
	// hello
}

// A cancel point in a loop that only computes.
func ExampleCheck() {
	vc := clock.NewVirtual()
	n := 0
	err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
		for ; ; n++ {
			if err := bide.Check(ctx); err != nil {
				return err
			}
			vc.Advance(300 * time.Millisecond) // a piece of the computation
		}
	}, bide.Clock(vc), bide.Name("compute"))
	fmt.Println(n, err)
	// Output: 4 bide: compute: timeout after 1s; ended after 1.2s
}

// How much is left is asked on the clock that the bound is on, and is the least of all bounds around.
func ExampleRemaining() {
	vc := clock.NewVirtual()
	ctx := context.Background()
	fmt.Println(bide.Remaining(ctx) == time.Duration(clock.Forever))
	_ = bide.FailAfter(ctx, 10*time.Second, func(ctx context.Context) error {
		vc.Advance(4 * time.Second)
		fmt.Println(bide.Remaining(ctx))
		return bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
			fmt.Println(bide.Remaining(ctx))
			vc.Advance(time.Minute)
			fmt.Println(bide.Remaining(ctx))
			return nil
		})
	}, bide.Clock(vc))
	// Output:
	// true
	// 6s
	// 6s
	// 0s
}
