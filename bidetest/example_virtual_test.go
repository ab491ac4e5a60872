package bidetest_test

import (
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// A deadline to the nanosecond, without a goroutine and without a bubble. The test fails: it has forgotten a Close.
func ExampleVirtual() {
	run(func(t bidetest.TB) {
		ctx, clock := bidetest.Virtual(t)
		s := bide.Open(ctx, bide.Timeout(time.Hour), bide.Name("report"))
		clock.Advance(time.Hour - 1)
		fmt.Println(s.Err())
		clock.Advance(1)
		fmt.Println(s.Err())
	})
	// Output:
	// <nil>
	// context deadline exceeded
	// bidetest: at the end of the test something is left of what was begun under the context of Virtual:
	// 	bide.Scope report (canceled by deadline, deadline 0s ago), opened by bidetest_test.ExampleVirtual.func1 at example_virtual_test.go:15
}
