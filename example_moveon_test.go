package bide_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// Work that may be given up: lateness is a result, not an error.
func ExampleMoveOnAfter() {
	warmCache := func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) }

	moved, err := bide.MoveOnAfter(context.Background(), time.Millisecond, warmCache)
	fmt.Println(moved, err)
	// Output: true <nil>
}

// What goes wrong besides is still an error, also in work that was late.
func ExampleMoveOnAfter_error() {
	vc := clock.NewVirtual()
	moved, err := bide.MoveOnAfter(context.Background(), time.Second, func(ctx context.Context) error {
		vc.Advance(2 * time.Second)
		return errors.Join(bide.Check(ctx), errors.New("cleanup failed"))
	}, bide.Clock(vc))
	fmt.Println(moved, err)
	// Output: true cleanup failed
}

// As many mirrors as can be asked until a point in time.
func ExampleMoveOnAt() {
	vc := clock.NewVirtual()
	var answers []string
	moved, err := bide.MoveOnAt(context.Background(), time.Date(2000, 1, 1, 0, 0, 5, 0, time.UTC), func(ctx context.Context) error {
		for _, mirror := range []string{"north", "south", "east", "west"} {
			vc.Advance(2 * time.Second) // asking takes its time
			if err := bide.Check(ctx); err != nil {
				return err
			}
			answers = append(answers, mirror)
		}
		return nil
	}, bide.Clock(vc))
	fmt.Println(answers, moved, err)
	// Output: [north south] true <nil>
}

// With the option a scope's own bound is absorbed where the scope ends; Caught tells.
func ExampleMoveOn() {
	vc := clock.NewVirtual()
	var scope *bide.Scope
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		scope = s
		vc.Advance(2 * time.Second)
		return s.Check()
	}, bide.Timeout(time.Second), bide.MoveOn(), bide.Clock(vc))
	fmt.Println(err, scope.Caught())
	// Output: <nil> true
}
