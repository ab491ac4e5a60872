package bidetest

import (
	"context"
	"fmt"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Virtual returns a new clock, which stands until the test moves it, and a scope that is on it: deadlines below it,
// sleeps under it, and timers with timer.On are due when the clock says so.
//
// When the test and the cleanups that it has registered later have returned, it fails if a scope below is open still,
// somebody waits, or a timer of the clock is pending; then the scope is closed, and with it the waits end.
//
// It may be called in a bubble, where [Settle] and [JumpUntil] say when it is time to move the clock, or outside, for a
// test that needs no other goroutine: there the test's end gives goroutines on their last steps two seconds.
func Virtual(t TB) (context.Context, *clock.Virtual) {
	t.Helper()
	c := clock.NewVirtual()
	return root(t, "Virtual", c), c
}

// pending says how many timers wait for c.
func pending(c *clock.Virtual) []string {
	if c == nil {
		return nil
	}
	n := timer.For(c).Stats().Pending
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d pending on the virtual clock, deadlines and timers, which is at %v", n, c.Now())}
}
