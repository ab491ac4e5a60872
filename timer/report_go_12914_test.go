package timer_test

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#12914 (the leap second of 2017 at Cloudflare, scion#961). The wall clock was stepped back, elapsed time was
// negative, and what was computed from it broke.
//
// Timeouts here are on the monotonic clock (see package clock's test of the same name). Who wants the wall's time gets it
// on a clock of its own, like this one: a step back makes a timer wait for its time once more; nothing is early, or
// negative, or comes twice.
func TestReportGo12914(t *testing.T) {
	wall := new(leaper)
	wall.leap(10 * time.Hour)
	const start = clock.Instant(10 * time.Hour)
	s := timer.For(wall)
	var once []clock.Instant
	timer.AfterFunc(time.Hour, func() { once = append(once, wall.Now()) }, timer.On(wall), timer.Inline())
	type series struct {
		late      timer.Option
		scheduled []clock.Instant
		tm        *timer.Timer
	}
	all := map[string]*series{"Skip": {late: timer.Skip()}, "Burst": {late: timer.Burst()}, "Delay": {late: timer.Delay()}}
	for name, r := range all {
		r.tm = timer.Every(10*time.Minute, func(scheduled clock.Instant, missed int) {
			if missed < 0 || wall.Now() < scheduled {
				t.Errorf("%s: the tick of %v at %v, %d were missed", name, scheduled, wall.Now(), missed)
			}
			if n := len(r.scheduled); n > 0 && scheduled <= r.scheduled[n-1] {
				t.Errorf("%s: the tick of %v after that of %v", name, scheduled, r.scheduled[n-1])
			}
			r.scheduled = append(r.scheduled, scheduled)
		}, r.late, timer.On(wall), timer.Inline())
	}

	for range 6 * 59 {
		wall.leap(10 * time.Second) // 59 minutes
	}
	wall.leap(-time.Hour)
	var between []clock.Instant // for which the driver wakes, when its latest reading is still to come again
	for _, d := range []time.Duration{time.Minute, 30 * time.Minute} {
		timer.AfterFunc(d, func() { between = append(between, wall.Now()) }, timer.On(wall), timer.Inline())
	}
	for range 60 {
		wall.leap(time.Minute)
	}
	expectTimes(t, "armed after the step: they came", between, start, start.Add(29*time.Minute))
	expectTimes(t, "a minute too early by the wall's new time: it came", once)
	wall.leap(time.Minute)
	expectTimes(t, "it came", once, start.Add(time.Hour))

	// A step back while the driver is at work: what it has taken was due, and is called; what follows is not.
	var after []clock.Instant
	timer.AfterFunc(time.Minute, func() {
		wall.mu.Lock()
		wall.now -= clock.Instant(30 * time.Minute)
		wall.mu.Unlock()
		timer.AfterFunc(time.Second, func() { after = append(after, wall.Now()) }, timer.On(wall), timer.Inline())
	}, timer.On(wall), timer.Inline())
	wall.leap(time.Minute)
	expectTimes(t, "within a second: it came", after)
	wall.leap(time.Second)
	expectTimes(t, "after a second: it came", after, start.Add(time.Hour+time.Minute-30*time.Minute+time.Second))

	wall.leap(2 * time.Hour)
	for name, r := range all {
		r.tm.Stop()
		if n := len(r.scheduled); n < 6 || r.scheduled[0] != start.Add(10*time.Minute) {
			t.Errorf("%s: ticks %v", name, r.scheduled)
		}
	}
	st := s.Stats()
	counted := int64(0)
	for _, n := range st.Late {
		counted += n
	}
	if st.Worst < 0 || st.Worst > 2*time.Hour || counted != st.Fired || st.Pending != 0 {
		t.Errorf("%+v", st)
	}
}
