package syncs_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// moby/moby#30605 (and #27827). Listing containers took the lock of each in turn. One container's lock was held by a
// goroutine that waited for something that never came, for 21 hours; every listing hung at that container, and 2636
// requests piled up although their clients had long gone.
//
// Here a listing passes its request's context to each lock. The client goes, or its patience ends, and the request
// ends, and has given back the locks that it had.
func TestReportMoby30605(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests = 2636
		var containers [5]syncs.Mutex
		containers[3].TryLock() // and it never lets go
		list := func(ctx context.Context) (listed int, err error) {
			for i := range containers {
				if err := containers[i].Lock(ctx); err != nil {
					return listed, err
				}
				listed++
				containers[i].Unlock()
			}
			return listed, nil
		}
		ended := make(chan int, requests)
		clients := open(t, context.Background())
		for i := range requests {
			go func() {
				listed := 0
				ask := func(ctx context.Context) (err error) {
					listed, err = list(ctx)
					return err
				}
				var err error
				if i%2 == 0 { // a client that hangs up
					err = ask(clients)
				} else { // one that is patient, to a degree
					err = bide.FailAfter(context.Background(), 30*time.Second, ask)
				}
				if err == nil {
					t.Error("listed all")
				}
				ended <- listed
			}()
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if n := len(ended); n != requests/2 {
			t.Errorf("%d requests have ended at their bound, want %d", n, requests/2)
		}
		clients.Cancel(nil)
		for range requests {
			if n := <-ended; n != 3 {
				t.Fatalf("a request had listed %d", n)
			}
		}
		for i := range containers {
			if i != 3 && !containers[i].Idle() || containers[i].Queued() {
				t.Errorf("container %d: something is left", i)
			}
		}
	})
}
