package timer_test

import (
	"sync/atomic"
	"testing"

	"bide.invalid/bide/timer"
)

// nats.go#1838. A watcher was stopped and its channel closed, while the timer that it had armed for "no more updates for
// now" still ran: it fired, and sent into the closed channel.
//
// Here StopWait is what a Close needs: when it returns true, no call runs and none will, so what the function uses may be
// taken away. Also of a watcher whose function arms the timer again.
func TestReportNatsgo1838Bubble(t *testing.T) {
	meetings(t, func(t *testing.T, m *meeting) {
		idle := 0
		for i := range 400 {
			w := &watcher{t: t, updates: make(chan int, 1)}
			w.idle = timer.AfterFunc(1000*span, func() { w.caughtUp(i%2 == 0) }, m.opts...)
			w.idle.Reset(span)
			m.meet(w.close)
			for range w.updates {
				idle++
			}
		}
		t.Logf("%d times the watcher had caught up before it was closed", idle)
	})
}

type watcher struct {
	t       *testing.T
	updates chan int
	idle    *timer.Timer
	closed  atomic.Bool
}

// caughtUp is called by the timer.
func (w *watcher) caughtUp(again bool) {
	if again {
		defer w.idle.Reset(0)
	}
	if w.closed.Load() {
		w.t.Error("called although the watcher is closed")
		return
	}
	select {
	case w.updates <- 0: // panics if updates is closed
	default:
	}
	if w.closed.Load() {
		w.t.Error("the watcher was closed while the function ran")
	}
}

func (w *watcher) close() {
	if !w.idle.StopWait() {
		w.t.Error("StopWait: false")
	}
	w.closed.Store(true)
	close(w.updates)
}
