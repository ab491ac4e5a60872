package timer_test

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#24595 (#25248). The clock behind timers stands still while the machine is suspended. A laptop slept for eight
// hours; what was to happen within the hour happened up to an hour after it woke.
//
// Here a timer names its clock. On one that counts suspend it comes when the machine wakes; on the other it waits for an
// hour of being awake, which is right for other things.
func TestReportGo24595(t *testing.T) {
	awake, boot := new(leaper), new(leaper)
	run := func(d time.Duration) {
		awake.leap(d)
		boot.leap(d)
	}
	suspend := func(d time.Duration) { boot.leap(d) }

	var onAwake, onBoot []clock.Instant
	timer.AfterFunc(time.Hour, func() { onAwake = append(onAwake, awake.Now()) }, timer.On(awake), timer.Inline())
	timer.AfterFunc(time.Hour, func() { onBoot = append(onBoot, boot.Now()) }, timer.On(boot), timer.Inline())
	type tick struct {
		scheduled clock.Instant
		missed    int
	}
	var ticks []tick
	every := timer.Every(time.Minute, func(scheduled clock.Instant, missed int) {
		ticks = append(ticks, tick{scheduled, missed})
	}, timer.On(boot), timer.Inline())

	for range 10 {
		run(time.Minute)
	}
	if len(onAwake)+len(onBoot) != 0 || len(ticks) != 10 {
		t.Errorf("after ten minutes %d and %d calls, %d ticks", len(onAwake), len(onBoot), len(ticks))
	}
	suspend(8 * time.Hour)
	woke := clock.Instant(8*time.Hour + 10*time.Minute)
	expectTimes(t, "the machine wakes: on the clock that counts suspend it came", onBoot, woke)
	expectTimes(t, "on the one that does not it came", onAwake)
	// One call for all of the night, which says how many it stands for; then the schedule goes on.
	run(time.Minute)
	if want := (tick{clock.Instant(490 * time.Minute), 479}); len(ticks) != 12 || ticks[10] != want {
		t.Errorf("ticks %v, want the eleventh to be %v", ticks[10:], want)
	}
	if want := (tick{clock.Instant(491 * time.Minute), 0}); ticks[11] != want {
		t.Errorf("the tick after it is %v, want %v", ticks[11], want)
	}
	run(48 * time.Minute)
	expectTimes(t, "after 59 minutes of being awake it came", onAwake)
	run(time.Minute)
	expectTimes(t, "after an hour of being awake it came", onAwake, clock.Instant(time.Hour))
	every.Stop()
	run(24 * time.Hour)
	if len(onBoot) != 1 || len(onAwake) != 1 {
		t.Errorf("%d and %d calls", len(onBoot), len(onAwake))
	}
}
