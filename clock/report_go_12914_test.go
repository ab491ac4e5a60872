package clock

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// golang/go#12914. Elapsed time was the difference of two readings of the wall clock, and negative when that had been
// stepped back between them.
//
// Here instants count from a reading that has the monotonic clock in it, so a step does not reach them. Nobody sees
// a reading that is before one that anybody has seen.
func TestReportGo12914RealTime(t *testing.T) {
	if !monotonic(base) {
		t.Error("the base is a reading of the wall clock")
	}
	var latest atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20_000 {
				seen := Instant(latest.Load())
				now := Now()
				if now < seen || now.Sub(seen) < 0 {
					t.Errorf("%v after %v", now, seen)
					return
				}
				for old := int64(seen); old < int64(now) && !latest.CompareAndSwap(old, int64(now)); old = latest.Load() {
				}
			}
		})
	}
	group.Wait()
}

// A time that was read before a step still names the instant at which it was read, and the instants before and after it:
// the difference to the base counts, and what the wall clock shows meanwhile does not.
func TestReportGo12914Times(t *testing.T) {
	start := time.Now()
	at := FromTime(start)
	if got := at; got > Now() {
		t.Errorf("a time that was read before is at %v, now is %v", got, Now())
	}
	for _, d := range []time.Duration{0, 1, time.Minute, 24 * time.Hour, 366 * 24 * time.Hour} {
		later := start.Add(d)
		if got := FromTime(later).Sub(at); got != d {
			t.Errorf("%v later is %v later", d, got)
		}
		if got := FromTime(later).Sub(Instant(start.Sub(base))); got != d {
			t.Errorf("%v later is %v by the standard library", d, got)
		}
	}
}
