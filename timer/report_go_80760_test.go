package timer_test

import (
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#80760 (Go 1.26). Stop said that the timer was not active, and the Reset that followed that it was: two
// looks at one state that the runtime kept in two places.
//
// Here both look under one lock: what Stop has left is inactive, whether it or the expiry was first, until somebody arms
// it.
func TestReportGo80760Bubble(t *testing.T) {
	makers := map[string]func(opts ...timer.Option) *timer.Timer{
		"AfterFunc": func(opts ...timer.Option) *timer.Timer { return timer.AfterFunc(span, func() {}, opts...) },
		"Every": func(opts ...timer.Option) *timer.Timer {
			return timer.Every(span, func(clock.Instant, int) {}, opts...)
		},
	}
	meetings(t, func(t *testing.T, m *meeting) {
		for name, maker := range makers {
			tm, stopped := maker(m.opts...), 0
			for i := range 200 {
				m.meet(func() {
					if tm.Stop() {
						stopped++
					}
					switch again := tm.Stop(); {
					case again:
						t.Fatalf("%s, round %d: the second Stop found it active", name, i)
					case tm.Reset(2 * span):
						t.Fatalf("%s, round %d: Reset after Stop found it active", name, i)
					case !tm.Reset(span):
						t.Fatalf("%s, round %d: Reset after Reset found it inactive", name, i)
					}
				})
			}
			t.Logf("%s: %d times Stop was first", name, stopped)
			tm.StopWait()
		}
	})
}
