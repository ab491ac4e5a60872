package bidetest_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/syncs"
)

// A transfer takes two locks, one after the other. When the second wait is canceled the first lock stays taken. Had check
// not given it back, the next transfer would wait for it, and the test fail.
func ExampleExplore() {
	var from, to syncs.Mutex
	transfer := func(ctx context.Context) error {
		if err := from.Lock(ctx); err != nil {
			return err
		}
		if err := to.Lock(ctx); err != nil {
			return err // the fault
		}
		defer from.Unlock()
		defer to.Unlock()
		return bide.Sleep(ctx, time.Second)
	}
	run(func(t bidetest.TB) {
		bidetest.Explore(t, transfer, func(point int, err error) {
			if from.Stats().Held > 0 {
				fmt.Printf("point %d: the first lock is held, after %v\n", point, err)
				from.Unlock()
			}
		})
	})
	// Output:
	// point 2: the first lock is held, after bide: canceled by cancel of scope "explored": bidetest: Explore
	// point 2: the first lock is held, after bide: canceled by deadline of scope "explored"
}
