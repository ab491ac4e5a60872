package timer_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Crystal 16580: swapped operands made "the rest" of every timer 0: all of them came at once, and the loop that
// waited for the next one ran all the time. So: a lower bound on every clock, and few wakes of the driver.
func TestReportCrystal16580(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.For(v)
	fired := 0
	for d := time.Duration(1); d < 100*365*24*time.Hour; d *= 3 {
		timer.AfterFunc(d, func() {
			fired++
			if now := v.Now().Sub(0); now != d {
				t.Errorf("%v: came at %v", d, now)
			}
		}, timer.On(v), timer.Inline())
	}
	n := s.Stats().Pending
	v.Advance(100 * 365 * 24 * time.Hour)
	if st := s.Stats(); fired != n || st.Wakes > int64(11*n) {
		t.Errorf("%d of %d fired, with %d wakes", fired, n, st.Wakes)
	}
}

func TestReportCrystal16580Bubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var wg sync.WaitGroup
		for d := time.Duration(1); d < 20*365*24*time.Hour; d *= 3 {
			wg.Add(1)
			timer.AfterFunc(d, func() {
				defer wg.Done()
				if took := time.Since(start); took != d {
					t.Errorf("%v: came after %v", d, took)
				}
			})
		}
		wg.Wait()
	})
}

// TestReportCrystal16580RealTime: the near ones come, the far ones do not, and the driver sleeps between.
func TestReportCrystal16580RealTime(t *testing.T) {
	var far []*timer.Timer
	for d := time.Minute; d < time.Hour; d += time.Minute {
		far = append(far, timer.AfterFunc(d, func() { t.Errorf("%v have passed", d) }))
	}
	before := timer.Default().Stats()
	start := clock.Now()
	came := make(chan struct{})
	near := timer.AfterFunc(20*time.Millisecond, func() { close(came) })
	<-came
	took := clock.Now().Sub(start)
	for _, f := range append(far, near) {
		f.Stop()
	}
	if took < 20*time.Millisecond {
		t.Errorf("20ms took %v", took)
	}
	// Each shard looks at what is there once a level, and wakes for this test's timer; a busy loop wakes all the time.
	if wakes := timer.Default().Stats().Wakes - before.Wakes; wakes > 100+int64(took/time.Millisecond) {
		t.Errorf("the drivers woke %d times in %v", wakes, took)
	}
}
