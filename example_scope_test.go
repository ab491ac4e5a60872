package bide_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// A scope that its body can cancel. What it canceled itself it absorbs.
func ExampleRun() {
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		for i := 1; ; i++ {
			if err := s.Check(); err != nil {
				return err
			}
			fmt.Println("round", i)
			if i == 3 {
				s.Cancel(errors.New("seen enough"))
			}
		}
	})
	fmt.Println(err)
	// Output:
	// round 1
	// round 2
	// round 3
	// <nil>
}

// Everything below the scope is canceled when Cancel returns, contexts of the standard library too.
func ExampleScope_Cancel() {
	var scope *bide.Scope
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		scope = s
		ctx, cancel := context.WithTimeout(s, time.Hour)
		defer cancel()

		s.Cancel(errors.New("the user has left"))
		s.Cancel(errors.New("too late: the first one stays"))
		fmt.Println(ctx.Err())
		fmt.Println(context.Cause(ctx))
		return bide.Check(ctx)
	}, bide.Name("request"))
	fmt.Println(err, scope.CancelCalled(), scope.Caught())
	// Output:
	// context canceled
	// bide: canceled by cancel of scope "request": the user has left
	// <nil> true true
}

// The deadline of a scope can be moved, either way, while something waits under it; the zero time removes it.
func ExampleScope_SetDeadline() {
	vc := clock.NewVirtual()
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		fmt.Println("remaining", s.Remaining())
		fmt.Println(s.SetDeadline(time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)), s.Remaining())
		vc.Advance(time.Hour)
		fmt.Println(s.SetDeadline(time.Time{})) // it has passed: false, nothing is revived
		return s.Check()
	}, bide.Timeout(time.Second), bide.Clock(vc), bide.Name("import"))
	fmt.Println(err)
	// Output:
	// remaining 1s
	// true 1m0s
	// false
	// bide: import: timeout after 1m0s; ended after 1h0m0s
}

// An idle limit: every piece of progress gives the rest another ten seconds.
func ExampleScope_SetTimeout() {
	vc := clock.NewVirtual()
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		for i, pause := range []time.Duration{2, 9, 9, 11, 2} {
			vc.Advance(pause * time.Second)
			if err := s.Check(); err != nil {
				return err
			}
			fmt.Println("block", i)
			s.SetTimeout(10 * time.Second)
		}
		return nil
	}, bide.Timeout(10*time.Second), bide.Clock(vc), bide.Name("download"))
	fmt.Println(err)
	// Output:
	// block 0
	// block 1
	// block 2
	// bide: download: timeout after 30s
}

// For what knows no context: a function that is called, on its own goroutine, when the scope ends.
func ExampleScope_AfterFunc() {
	closed := make(chan struct{})
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		stop := s.AfterFunc(func() { close(closed) })
		defer stop()

		s.Cancel(nil)
		<-closed // a read that is ended by closing what it reads from
		fmt.Println("closed")
		return s.Check()
	})
	fmt.Println(err)
	// Output:
	// closed
	// <nil>
}
