package bide_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// A cleanup that takes longer than its grace is cut, and that is never silent: the error names the shield.
func ExampleShield_cut() {
	vc := clock.NewVirtual()
	flush := func(ctx context.Context) error {
		vc.Advance(3 * time.Second) // a slow disk
		return bide.Check(ctx)
	}

	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		s.Cancel(nil)
		err := s.Check()
		return errors.Join(err, bide.Shield(s, 2*time.Second, flush, bide.Name("flush")))
	}, bide.Clock(vc))
	fmt.Println(err) // the cancellation was dropped, the failed cleanup was not
	// Output: bide: flush: timeout after 2s; ended after 3s
}
