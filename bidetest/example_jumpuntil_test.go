package bidetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// The clock goes from one pause to the next, and never further than somebody waits for.
func ExampleJumpUntil() {
	bidetest.Bubble(new(testing.T), func(t *testing.T, _ context.Context) {
		ctx, clock := bidetest.Virtual(t)
		tries, done := 0, false
		ask := func() error {
			fmt.Println("asked at", clock.Now())
			if tries++; tries < 4 {
				return errors.New("busy")
			}
			return nil
		}
		go func() {
			for pause := time.Second; ask() != nil; pause *= 2 {
				bide.Sleep(ctx, pause)
			}
			done = true
		}()
		bidetest.JumpUntil(t, clock, func() bool { return done })
	})
	// Output:
	// asked at 0s
	// asked at 1s
	// asked at 3s
	// asked at 7s
}
