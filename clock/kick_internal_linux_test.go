package clock

import (
	"errors"
	"testing"
	"time"
)

// TestKick: what fails is opened again, and the alarm comes all the same.
func TestKick(t *testing.T) {
	var refuse error
	var timers []*fakeTimer
	k := &kick{open: func() (kernelTimer, error) {
		if refuse != nil {
			return nil, refuse
		}
		timers = append(timers, &fakeTimer{answers: make(chan error, 1)})
		return timers[len(timers)-1], nil
	}}
	check := func(what string, opened, sets int, open bool) {
		t.Helper()
		if len(timers) != opened || opened > 0 && len(timers[opened-1].sets) != sets || (k.timer != nil) != open {
			t.Fatalf("%s: opened %d, want %d; or not set %d times; open: %v", what, len(timers), opened, sets, k.timer != nil)
		}
	}
	k.set(Forever)
	check("stopped, never set", 0, 0, false)
	refuse = errRefused
	k.set(1)
	check("refused", 0, 0, false)
	refuse = nil
	k.set(2)
	check("set", 1, 1, true)
	k.set(3)
	check("set again", 1, 2, true)
	k.set(Forever)
	check("stopped", 1, 2, true)
	k.set(4)
	timers[0].fail = errRefused
	k.set(5)
	check("failed", 1, 3, false)
	k.set(6)
	check("set after a failure", 2, 1, true)
	timers[1].fail = errRefused
	k.set(Forever)
	check("stop has failed", 2, 1, false)
}

// TestNoKickRealTime: an alarm whose timer cannot be had, or fails, comes.
func TestNoKickRealTime(t *testing.T) {
	for _, fail := range []bool{false, true} {
		came := make(chan Instant, 1)
		a := newPreciseAlarm(func(now Instant) { came <- now }).(*runtimeAlarm)
		k := &kick{open: func() (kernelTimer, error) {
			if fail {
				return &fakeTimer{answers: make(chan error, 1), fail: errRefused}, nil
			}
			return nil, errors.New("too many open files")
		}}
		a.poke.poke = k.set
		for range 3 {
			at := Now().Add(time.Millisecond)
			a.Set(at)
			if now := <-came; now < at {
				t.Errorf("%v early", at.Sub(now))
			}
		}
	}
}
