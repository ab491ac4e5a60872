package timer_test

import (
	"sync/atomic"
	"testing"

	"bide.invalid/bide/timer"
)

// golang/go#14038. What Reset reported could not be acted upon: between the report and the channel the expiry could
// still happen, so a program drained a channel that stayed empty, or met a tick that it had moved away.
//
// Here the report is the whole truth: each time a timer was armed there is one call, or one Stop or Reset that said it
// prevented it.
func TestReportGo14038Bubble(t *testing.T) {
	meetings(t, func(t *testing.T, m *meeting) {
		const rounds = 1000
		var calls atomic.Int64
		tm := timer.AfterFunc(span, func() { calls.Add(1) }, m.opts...)
		armed, prevented := int64(1), int64(0)
		count := func(was bool) {
			if was {
				prevented++
			}
		}
		for i := range rounds {
			m.meet(func() {
				if i%4 == 3 {
					count(tm.Stop())
				}
				count(tm.Reset(span))
				armed++
			})
		}
		count(tm.Stop())
		if !tm.StopWait() { // those that were not prevented have run
			t.Error("StopWait: false")
		}
		if n := calls.Load(); n+prevented != armed {
			t.Errorf("armed %d times: %d calls, %d prevented", armed, n, prevented)
		}
		t.Logf("%d calls, %d prevented", calls.Load(), prevented)
	})
}
