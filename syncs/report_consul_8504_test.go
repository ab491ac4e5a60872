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

// hashicorp/consul#8504. An agent held the lock on its state across a call to a server, and the call was stuck in a
// read that nothing bounded. For seven hours whoever wanted the state queued up on the lock, four hundred goroutines in
// the end, health checks and shutdown among them. (#2107 is the same shape.)
//
// Here the holder is stuck as well, but every other call has its own bound. Each ends at its bound, nobody piles up,
// and when the holder comes back the lock is as good as new.
func TestReportConsul8504(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var state syncs.Mutex
		stuck := make(chan struct{})
		holder := make(chan error, 1)
		go func() {
			if err := state.Lock(context.Background()); err != nil {
				holder <- err
				return
			}
			<-stuck // the read
			state.Unlock()
			holder <- nil
		}()
		synctest.Wait()

		// A request a minute, each bounded by ten seconds.
		const requests = 400
		start, failed := time.Now(), make(chan error, requests)
		for range requests {
			go func() { failed <- bide.FailAfter(context.Background(), 10*time.Second, state.Lock) }()
			time.Sleep(time.Minute)
			synctest.Wait()
			if state.Queued() {
				t.Fatalf("after %v somebody still waits", time.Since(start))
			}
		}
		for range requests {
			var timeout *bide.TimeoutError
			if err := <-failed; !errors.As(err, &timeout) || timeout.Elapsed != 10*time.Second {
				t.Fatalf("a request ended with %v", err)
			}
		}
		close(stuck)
		if err := <-holder; err != nil {
			t.Error(err)
		}
		if err := bide.FailAfter(context.Background(), time.Second, state.Lock); err != nil {
			t.Error(err)
		}
		state.Unlock()
		if !state.Idle() {
			t.Error("something is left")
		}
	})
}
