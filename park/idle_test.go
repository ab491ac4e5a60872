package park_test

import (
	"context"
	"path"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// strangers are the goroutines, other than the caller's, that run code of this module.
func strangers() (found []string) {
	module := path.Dir(reflect.TypeFor[park.Waiter]().PkgPath())
	buf := make([]byte, 1<<20)
	for n := runtime.Stack(buf, true); n == len(buf); n = runtime.Stack(buf, true) {
		buf = make([]byte, 2*len(buf))
	}
	buf = buf[:runtime.Stack(buf, true)]
	for i, g := range strings.Split(string(buf), "\n\n") {
		if i > 0 && strings.Contains(g, module) {
			found = append(found, g)
		}
	}
	return found
}

// alone lets goroutines that are on their last steps end, and returns who stays.
func alone() (found []string) {
	for range 10_000 {
		if found = strangers(); len(found) == 0 {
			return nil
		}
		runtime.Gosched()
	}
	return found
}

// Bounded waits leave nothing: no goroutine while they last, but the waiting one, nor afterwards, and no entry in the
// timer service.
func TestIdleAfterManyBoundedWaits(t *testing.T) {
	const goroutines = 4
	waits := some(100_000)
	if g := alone(); g != nil {
		t.Fatalf("before the test:\n%s", strings.Join(g, "\n\n"))
	}
	pending := timer.Default().Stats().Pending
	most := 0
	s := bide.Open(context.Background(), bide.Timeout(time.Hour))
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for i := range waits / goroutines {
				var o, want park.Outcome
				due := clock.Now()
				switch i % 50 {
				case 0: // expires
					want = park.Expired
				default:
					due, want = due.Add(time.Minute), park.Woken
				}
				w := park.GetUntil(due)
				tok := w.Arm(due)
				if want == park.Woken {
					w.Wake(tok, want)
				}
				if o = w.Wait(s, tok, park.KindOther); o != want {
					t.Errorf("outcome %v, want %v", o, want)
				}
				park.Put(w)
			}
			if g == 0 {
				most = len(strangers())
			}
		})
	}
	group.Wait()
	s.Close(nil)
	// Beside the others of the four, a few drivers are under way, and no goroutine for each of thousands of waits.
	if limit := goroutines + 16; most > limit {
		t.Errorf("%d goroutines while the waits went on, want at most %d", most, limit)
	}
	if g := alone(); g != nil {
		t.Errorf("%d goroutines are left:\n%s", len(g), strings.Join(g, "\n\n"))
	}
	if n := timer.Default().Stats().Pending; n != pending {
		t.Errorf("%d entries are linked, there were %d", n, pending)
	}
}

// The search finds a goroutine that runs code of the module, so it would find one that is left.
func TestIdleSearchFinds(t *testing.T) {
	w := park.New(nil)
	tok := w.Arm(clock.Forever)
	var group sync.WaitGroup
	group.Go(func() { w.Wait(context.Background(), tok, park.KindOther) })
	found := false
	for range 10_000 { // until it has begun
		if found = len(strangers()) > 0; found {
			break
		}
		runtime.Gosched()
	}
	if !found {
		t.Error("a goroutine in Wait was not found")
	}
	w.Wake(tok, park.Woken)
	group.Wait()
}
