package syncs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// golang/go#40916 (and #75518). sync.WaitGroup cannot be waited for under a context. What is written instead, a
// goroutine that waits and closes a channel, beside a select, leaves that goroutine behind whenever the context is
// faster; panurus#2124 had thousands of them.
//
// Here a wait that is given up leaves nothing: no goroutine, and nobody in the group's queue.
func TestReportGo40916(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g syncs.WaitGroup
		g.Add(1)
		before := goroutines()
		for range 1000 {
			err := bide.FailAfter(context.Background(), time.Second, g.Wait)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error %v", err)
			}
		}
		synctest.Wait()
		if n := goroutines(); n > before || g.Queued() {
			t.Errorf("%d goroutines were left behind", n-before)
		}
		g.Done()
		if err := g.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
