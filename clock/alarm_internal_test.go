package clock

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestRuntimeAlarmLooksRealTime: on a clock that is stepped it comes by the next look, and not before its time.
func TestRuntimeAlarmLooksRealTime(t *testing.T) {
	var shows atomic.Int64
	came := make(chan Instant, 1)
	a := &runtimeAlarm{
		f:    func(now Instant) { came <- now },
		now:  func() Instant { return Instant(shows.Add(1)) }, // it hardly moves
		look: time.Microsecond,
	}
	const at = Instant(time.Hour)
	a.Set(at)
	for shows.Load() < 50 { // it looks, again and again
		select {
		case now := <-came:
			t.Fatalf("called at %v", now)
		default:
			runtime.Gosched()
		}
	}
	shows.Store(int64(at))
	if now := <-came; now <= at {
		t.Errorf("called at %v, set for %v", now, at)
	}

	a.Set(at.Add(time.Hour))
	a.Clear()
	a.Set(at.Add(time.Second)) // moved by a step back: not early
	shows.Store(0)
	for shows.Load() < 50 {
		select {
		case now := <-came:
			t.Fatalf("called at %v after a step back", now)
		default:
			runtime.Gosched()
		}
	}
	a.Clear()
	if len(came) != 0 {
		t.Error("called once more")
	}
}

// TestRuntimeAlarmStaleTimer: a timer that went off before the alarm was moved, cleared or moved back, and takes the
// lock afterwards.
func TestRuntimeAlarmStaleTimer(t *testing.T) {
	var shows Instant
	var came []Instant
	a := &runtimeAlarm{f: func(now Instant) { came = append(came, now) }, now: func() Instant { return shows }}
	far := Instant(365 * 24 * time.Hour)
	a.Set(far)
	a.come(&a.outside)
	a.Clear()
	a.come(&a.outside)
	shows = far
	a.come(&a.outside)
	a.come(&setting{at: 1}) // of a bubble, and not the last one
	if len(came) != 0 || a.outside.t.Stop() {
		t.Errorf("called: %v; or set again", came)
	}
	a.Set(far.Add(time.Hour))
	shows = far.Add(time.Hour)
	a.come(&a.outside)
	a.come(&a.outside)
	if len(came) != 1 || came[0] != shows {
		t.Errorf("called %v, want once, at %v", came, shows)
	}
	a.Clear()
}

// TestRuntimeAlarmInBubble: there it needs no looks on the way, and leaves no timer behind.
func TestRuntimeAlarmInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int32
		read := func() Instant {
			reads.Add(1)
			return Now()
		}
		came := make(chan Instant, 1)
		a := &runtimeAlarm{f: func(now Instant) { came <- now }, now: read, look: time.Second}
		at := Now().Add(time.Hour)
		a.Set(at.Add(-1))
		first := a.inside.t
		a.Set(at)
		if first.Stop() {
			t.Error("Set has left the timer of the Set before it")
		}
		if now := <-came; now != at || reads.Load() > 3 {
			t.Errorf("called at %v, set for %v; %d readings of the clock", now, at, reads.Load())
		}
		a.Set(at.Add(time.Hour))
		last := a.inside.t
		a.Clear()
		if last.Stop() {
			t.Error("Clear has left a timer")
		}
	})
}
