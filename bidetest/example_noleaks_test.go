package bidetest_test

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// The test passes what it tests, but leaves a scope and a timer behind, and fails.
func ExampleNoLeaks() {
	wall := clock.NewVirtual()
	run(func(t bidetest.TB) {
		bidetest.NoLeaks(t, wall)
		bide.Open(context.Background(), bide.Name("session"))
		timer.AfterFunc(time.Hour, func() {}, timer.On(wall))
	})
	// Output:
	// bidetest: left at the end of the test:
	// 	bide.Scope session (active), opened by bidetest_test.ExampleNoLeaks.func1 at example_noleaks_test.go:18
	// 	1 pending on the virtual clock, deadlines and timers; before: 0
}
