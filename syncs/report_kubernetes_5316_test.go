package syncs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// kubernetes/kubernetes#5316 (and #83333). A handler gave its work to a goroutine and waited for the result on an
// unbuffered channel, or for its timeout. After the timeout nobody received any more, and the worker hung in the send
// for good.
//
// Here the result is a Future: completing it does not block, whoever is still there, and who comes late can have it.
func TestReportKubernetes5316(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var workers sync.WaitGroup
		results := make([]syncs.Future[int], 100)
		for i := range results {
			f := &results[i]
			workers.Go(func() {
				time.Sleep(time.Minute)
				f.Set(i)
			})
			err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
				_, err := f.Wait(ctx)
				return err
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		workers.Wait() // hangs if one of them does
		for i := range results {
			if v, ok, err := results[i].Poll(); v != i || !ok || err != nil {
				t.Errorf("result %d: %d, %v, %v", i, v, ok, err)
			}
			if results[i].Queued() {
				t.Errorf("somebody is left with result %d", i)
			}
		}
	})
}
