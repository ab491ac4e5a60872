package bidetest_test

import (
	"context"
	"fmt"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// mustBeQuick is a helper of somebody's tests: f must be possible to cancel.
func mustBeQuick(t bidetest.TB, f func(ctx context.Context) error) {
	t.Helper()
	if n, _ := bidetest.CancelPoints(context.Background(), f); n == 0 {
		t.Errorf("nothing in it can be canceled")
	}
}

// A helper that is to fail is tested with a TB that is no test.
func ExampleTB() {
	run(func(t bidetest.TB) { mustBeQuick(t, func(context.Context) error { return nil }) })
	run(func(t bidetest.TB) { mustBeQuick(t, bide.Check) })
	fmt.Println("that was all")
	// Output:
	// nothing in it can be canceled
	// that was all
}
