package timer_test

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Crystal 6586: a sleep of less than a millisecond was truncated to none at all. A fraction of a tick is rounded up.
func TestReportCrystal6586RealTime(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 999, time.Microsecond, 100 * time.Microsecond, 999999, time.Millisecond, 1048575, 1048577} {
		at := clock.After(d)
		came := make(chan clock.Instant)
		timer.AfterFunc(d, func() { came <- clock.Now() })
		if now := <-came; now < at {
			t.Errorf("%v: %v early", d, at.Sub(now))
		}
	}
}

func TestReportCrystal6586(t *testing.T) {
	v := clock.NewVirtual()
	for _, d := range []time.Duration{1, 2, 999, 1000, 999999} {
		start, came := v.Now(), false
		timer.AfterFunc(d, func() { came = true }, timer.On(v), timer.Inline())
		v.Advance(d - 1)
		if came {
			t.Errorf("%v: came before %v", d, v.Now().Sub(start))
		}
		v.Advance(1)
		if !came {
			t.Errorf("%v: did not come by %v", d, v.Now().Sub(start))
		}
	}
}
