package park_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// golang/go#19289. A dial was canceled while the poller was about to say that its socket is ready. The word reached
// the socket's descriptor only after the next dial had begun to wait on it, and that one took it for its own: it
// reported a connection that was not there yet. A wake-up carried no mark of the wait that it was meant for.
//
// Here a kept waiter is a descriptor; each wait has a poller that comes at any time, often too late.
func TestReportGo19289(t *testing.T) {
	w := park.New(nil)
	var pollers sync.WaitGroup
	count := map[park.Outcome]int{}
	var before []park.Token
	for i := range some(20_000) {
		s := bide.Open(context.Background())
		tok := w.Arm(clock.Forever)
		ready := park.User + park.Outcome(i%64) // this dial's own
		pollers.Go(func() {
			if i%3 == 0 {
				runtime.Gosched()
			}
			w.Wake(tok, ready)
		})
		pollers.Go(func() {
			if i%5 == 0 {
				runtime.Gosched()
			}
			s.Cancel(nil)
		})
		o := w.Wait(s, tok, park.KindOther)
		if o != ready && o != park.Canceled {
			t.Fatalf("dial %d ended with %v, which was meant for another", i, o)
		}
		if o == ready {
			o = park.User
		}
		count[o]++
		s.Close(nil)
		if before = append(before, tok); len(before) == 16 {
			before = before[1:]
			next := w.Arm(clock.Forever)
			for _, stale := range before {
				if w.Wake(stale, park.Woken) {
					t.Fatal("a poller of an earlier dial ended this one")
				}
			}
			w.Withdraw(next)
		}
	}
	pollers.Wait()
	reusable(t, w)
	t.Logf("ready %d, canceled %d", count[park.User], count[park.Canceled])
}
