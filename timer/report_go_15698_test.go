package timer_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#15698 (go-mysql-org/go-mysql#423, robfig/cron#60). A loop selected between its work and time.After: each turn
// left a timer, and all that it kept alive, until an hour later.
//
// Here a timer that was stopped is gone at once: it does not count, and neither it nor the handle's node keeps the
// function or what that has caught.
func TestReportGo15698RealTime(t *testing.T) {
	v := clock.NewVirtual()
	for name, c := range map[string]struct {
		s    *timer.Service
		opts []timer.Option
	}{
		"wheel":   {timer.Default(), nil},
		"heap":    {timer.For(v), []timer.Option{timer.On(v)}},
		"precise": {timer.Precise(), []timer.Option{timer.Tolerance(0)}},
	} {
		before := c.s.Stats().Pending
		const turns = 100
		var kept atomic.Int32
		kept.Store(turns)
		gone := make(chan struct{})
		for range turns {
			caught := new([1 << 16]byte)
			runtime.AddCleanup(caught, func(gone chan struct{}) {
				if kept.Add(-1) == 0 {
					close(gone)
				}
			}, gone)
			tm := timer.AfterFunc(time.Hour, func() { t.Error("an hour has passed", caught[0]) }, c.opts...)
			if !tm.Stop() { // the work was there first
				t.Fatalf("%s: not stopped", name)
			}
			if n := c.s.Stats().Pending - before; n > 0 {
				t.Fatalf("%s: %d pending", name, n)
			}
		}
		if !collected(gone) {
			t.Errorf("%s: of %d functions that will not be called %d are kept", name, turns, kept.Load())
		}
		runtime.KeepAlive(c.s)
	}
}
