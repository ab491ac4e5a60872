package timer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#11513. A timer had expired, and its tick lay in the channel. Reset left it there, so whoever waited for the
// new deadline was woken at once, by the old one.
//
// Here nothing lies anywhere: the driver may have taken the timer already, and Reset still moves it.
func TestReportGo11513(t *testing.T) {
	for name, reset := range map[string]func(v *clock.Virtual, tm *timer.Timer){
		"Reset":          func(_ *clock.Virtual, tm *timer.Timer) { tm.Reset(time.Hour) },
		"ResetAt":        func(v *clock.Virtual, tm *timer.Timer) { tm.ResetAt(v.Now().Add(time.Hour)) },
		"Stop and Reset": func(_ *clock.Virtual, tm *timer.Timer) { tm.Stop(); tm.Reset(time.Hour) },
		"Reset twice":    func(_ *clock.Virtual, tm *timer.Timer) { tm.Reset(0); tm.Reset(time.Hour) },
	} {
		v := clock.NewVirtual()
		on, inline := timer.On(v), timer.Inline()
		var once, every *timer.Timer
		timer.AfterFunc(time.Second, func() { // the driver has the other two behind this one
			reset(v, once)
			reset(v, every)
		}, on, inline)
		var came, ticks []clock.Instant
		once = timer.AfterFunc(time.Second, func() { came = append(came, v.Now()) }, on, inline)
		every = timer.Every(time.Second, func(scheduled clock.Instant, missed int) {
			ticks = append(ticks, scheduled)
			if v.Now() != scheduled || missed != 0 {
				t.Errorf("%s: the tick for %v came at %v, and %d were missed", name, scheduled, v.Now(), missed)
			}
		}, on, inline)
		v.Advance(time.Hour + 3*time.Second)
		first := clock.Instant(time.Hour + time.Second)
		expectTimes(t, name+": once came", came, first)
		expectTimes(t, name+": ticks came", ticks, first, first.Add(time.Second), first.Add(2*time.Second))
		every.Stop()
	}
}

// TestReportGo11513Bubble: the report's own order. It expired, nobody looked, and it is used again.
func TestReportGo11513Bubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		came := make(chan time.Duration, 10)
		start := time.Now()
		tm := timer.AfterFunc(time.Second, func() { came <- time.Since(start) })
		time.Sleep(time.Minute)
		if first := <-came; first != time.Second {
			t.Errorf("came after %v", first)
		}
		tm.Reset(time.Hour)
		if second := <-came; second != time.Hour+time.Minute {
			t.Errorf("reset to an hour after a minute: came after %v", second)
		}
	})
}
