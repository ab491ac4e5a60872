package timer_test

import (
	"runtime"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#17757 (cockroach#1201, cloudflared 951d13d7). Loops that made a ticker and left without stopping it cost more
// CPU with every turn, for ever.
//
// Here, too, a ticker has to be stopped; bide's Scope.AfterFunc does it for those who forget (see the test of the same
// name there). Once it is, nobody looks at it again, not even at the tick that was pending.
func TestReportGo17757(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.For(v)
	const loops, ticks = 1000, 3
	came := 0
	for range loops {
		func() {
			n := 0
			tick := timer.Every(time.Millisecond, func(clock.Instant, int) { n++ }, timer.On(v), timer.Inline())
			defer tick.Stop()
			for n < ticks {
				v.Advance(time.Millisecond)
			}
			came += n
		}()
	}
	after := s.Stats()
	v.Advance(24 * time.Hour)
	if st := s.Stats(); st != after || v.Jump() {
		t.Errorf("a day later %+v, after the last loop %+v", st, after)
	}
	if after.Pending != 0 || came != loops*ticks || after.Fired != loops*ticks || after.Wakes > loops*ticks {
		t.Errorf("%d ticks came, %+v", came, after)
	}
}

// TestReportGo17757Dropped: one that is not stopped goes with its clock.
func TestReportGo17757Dropped(t *testing.T) {
	gone := make(chan struct{})
	func() {
		v := clock.NewVirtual()
		timer.Every(time.Millisecond, func(clock.Instant, int) {}, timer.On(v), timer.Inline())
		v.Advance(time.Second)
		runtime.AddCleanup(v, func(gone chan struct{}) { close(gone) }, gone)
	}()
	if !collected(gone) {
		t.Error("a ticker that nobody has keeps the clock that nobody moves")
	}
}
