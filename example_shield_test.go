package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
)

type peer struct{}

func (peer) Goodbye(ctx context.Context) error {
	if err := bide.Check(ctx); err != nil {
		return err
	}
	fmt.Println("goodbye")
	return nil
}

// Cleanup outlives the cancellation around it, but never without a bound.
func ExampleShield() {
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		ctx := context.Context(s)
		var p peer
		defer bide.Shield(ctx, 2*time.Second, p.Goodbye)

		s.Cancel(nil)
		fmt.Println(p.Goodbye(ctx)) // without a shield nothing is done any more
		return bide.Check(ctx)
	})
	fmt.Println(err)
	// Output:
	// bide: canceled by cancel
	// goodbye
	// <nil>
}
