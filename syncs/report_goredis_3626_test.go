package syncs_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/syncs"
)

// redis/go-redis#3626. A request had to get a turn before it got a connection. Timeout and success could both believe
// that they had won: then the turn was given back twice, and more ran at a time than should; or each left it to the
// other, and it was gone.
//
// Here the lock is the turn. The race of grant and cancellation is run with two who want it, and a third that counts
// how many hold it. A turn given back twice would also panic.
func TestReportGoRedis3626(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			var turn syncs.Mutex
			var holders atomic.Int64
			hold := func() {
				if holders.Add(1) != 1 {
					t.Error("two have the turn")
				}
				yield()
				holders.Add(-1)
				turn.Unlock()
			}
			var got, gone atomic.Int64
			for i := range some(1000) {
				turn.TryLock()
				ctx, cancel := c.make(t)
				release := func() { turn.Unlock() }
				var group sync.WaitGroup
				for range 2 {
					group.Go(func() {
						if turn.Lock(ctx) == nil {
							got.Add(1)
							hold()
						} else {
							gone.Add(1)
						}
					})
				}
				race(turn.Queued, inTurn(i, release, cancel, func() {
					if turn.TryLock() {
						hold()
					}
				})...).Wait()
				group.Wait()
				if !turn.Idle() {
					t.Fatal("the turn is gone")
				}
			}
			t.Logf("got it %d times, gone without %d times", got.Load(), gone.Load())
		})
	}
}
