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

// prometheus/alertmanager#3260. A WaitGroup was told of three goroutines, and two said that they were done. Everything
// worked, until the program was to exit: it waited for the third for ever, and was killed.
//
// Here the wait at the exit has a bound: it ends, with an error that says so, and the rest of the shutdown follows.
func TestReportAlertmanager3260(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running syncs.WaitGroup
		stop := open(t, context.Background())
		running.Add(3)
		for range 2 {
			go func() {
				defer running.Done()
				_ = bide.Sleep(stop, time.Hour)
			}()
		}
		start := time.Now()
		stop.Cancel(nil)
		err := bide.FailAfter(context.Background(), 10*time.Second, running.Wait, bide.Name("exit"))
		var timeout *bide.TimeoutError
		if !errors.As(err, &timeout) || timeout.Scope != "exit" || time.Since(start) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if running.Counter() != 1 || running.Queued() {
			t.Errorf("the counter is %d", running.Counter())
		}
	})
}
