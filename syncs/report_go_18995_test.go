package syncs_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// golang/go#18995. A pool handed a connection to a waiting request in the moment in which the request's deadline came.
// The request looked at its context first and went away; nobody took the connection, which still counted as in use. A
// pool whose connections all went that way made every later request hang. (ClickHouse/clickhouse-go#1759 lost its slots
// the same way, between taking the slot and looking at the context.)
//
// Here the lock is the only connection. It is released at the deadline, give or take a little; whoever got nil gives it
// back, whoever got an error has nothing, and it is never gone.
func TestReportGo18995(t *testing.T) {
	var connection syncs.Mutex
	got, late := 0, 0
	for i := range some(300) {
		connection.TryLock()
		bound := time.Duration(500+i%100) * time.Microsecond
		var group sync.WaitGroup
		var gots [4]bool
		for w := range gots {
			group.Go(func() {
				take := func(ctx context.Context) error {
					err := connection.Lock(ctx)
					gots[w] = err == nil
					return err
				}
				if w%2 == 0 {
					_ = bide.FailAfter(context.Background(), bound, take)
				} else {
					gots[w] = connection.LockUntil(clock.After(bound)) == nil
				}
				if gots[w] {
					connection.Unlock()
				}
			})
		}
		group.Go(func() { // released by a timer with the same lateness as the bounds'
			at := clock.After(bound)
			var nobody syncs.Mutex
			nobody.TryLock()
			_ = nobody.LockUntil(at)
			connection.Unlock()
		})
		group.Wait()
		for _, g := range gots {
			if g {
				got++
			} else {
				late++
			}
		}
		if !connection.Idle() {
			t.Fatal("the connection is gone")
		}
	}
	t.Logf("got it %d times, too late %d times", got, late)
}
