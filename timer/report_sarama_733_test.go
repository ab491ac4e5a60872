package timer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// IBM/sarama#733. A race around Reset was fixed by receiving the old tick after Stop. Where there was none, because the
// timer had been stopped before or its tick taken, a goroutine of a running system stood there for ten minutes.
//
// Here nothing is to be received: whatever was done with a timer before, each call of it returns at once. All orders of
// four; waiting for anything would move the bubble's clock, or be a deadlock.
func TestReportSarama733Bubble(t *testing.T) {
	const long = time.Hour
	calls := []struct {
		name string
		do   func(tm *timer.Timer)
	}{
		{"expiry", func(*timer.Timer) { time.Sleep(2 * long); synctest.Wait() }},
		{"Stop", func(tm *timer.Timer) { tm.Stop() }},
		{"StopWait", func(tm *timer.Timer) { tm.StopWait() }},
		{"Reset", func(tm *timer.Timer) { tm.Reset(long) }},
		{"ResetAt(Forever)", func(tm *timer.Timer) { tm.ResetAt(clock.Forever) }},
	}
	makers := map[string]func() *timer.Timer{
		"AfterFunc":         func() *timer.Timer { return timer.AfterFunc(long, func() {}) },
		"AfterFunc, inline": func() *timer.Timer { return timer.AfterFunc(long, func() {}, timer.Inline()) },
		"AfterFunc, exact":  func() *timer.Timer { return timer.AfterFunc(long, func() {}, timer.Tolerance(0)) },
		"Every":             func() *timer.Timer { return timer.Every(long, func(clock.Instant, int) {}) },
	}
	n := len(calls)
	synctest.Test(t, func(t *testing.T) {
		for name, maker := range makers {
			for order := range n * n * n * n {
				tm := maker()
				var done []string
				for rest := order; len(done) < 4; rest /= n {
					call := calls[rest%n]
					done = append(done, call.name)
					before := time.Now()
					call.do(tm)
					if took := time.Since(before); call.name != "expiry" && took != 0 {
						t.Fatalf("%s: the last of %v took %v", name, done, took)
					}
				}
				tm.Stop()
			}
		}
	})
}
