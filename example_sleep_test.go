package bide_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
)

// virtually calls f under a clock that moves on to the next deadline whenever everybody waits.
func virtually(f func(ctx context.Context, vc *clock.Virtual)) {
	bidetest.Bubble(new(testing.T), func(t *testing.T, _ context.Context) {
		ctx, vc := bidetest.Virtual(t)
		done := false
		go func() {
			f(ctx, vc)
			done = true
		}()
		bidetest.JumpUntil(t, vc, func() bool { return done })
	})
}

// Sleep is on the clock of its scope: hours take no time on a virtual one. It ends early only with its context.
func ExampleSleep() {
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.Run(ctx, func(s *bide.Scope) error {
			for range 3 {
				if err := bide.Sleep(s, time.Hour); err != nil {
					return err
				}
			}
			fmt.Println("slept until", vc.Now())
			s.Cancel(nil)
			err := bide.Sleep(s, time.Hour)
			fmt.Println(err)
			return err
		})
		fmt.Println(err, vc.Now())
	})
	// Output:
	// slept until 3h0m0s
	// bide: canceled by cancel
	// <nil> 3h0m0s
}
