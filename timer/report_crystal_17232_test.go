package timer_test

import (
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Crystal 17232: timeouts came up to 0.8 ms early, since a clock that lags and one that does not were mixed. Never
// early, by both clocks that a function may read.
func TestReportCrystal17232RealTime(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 400 {
		d := time.Duration(i) * 13 * time.Microsecond
		wg.Add(1)
		start, at := time.Now(), clock.After(d)
		timer.AfterFunc(d, func() {
			defer wg.Done()
			if now := clock.Now(); now < at {
				t.Errorf("%v: %v early by the monotonic clock", d, at.Sub(now))
			}
			if took := time.Since(start); took < d {
				t.Errorf("%v: %v early by time.Now", d, d-took)
			}
		}, [][]timer.Option{nil, {timer.Inline()}}[i%2]...)
	}
	wg.Wait()
}

// The same for a periodic timer, and for what Reset and ResetAt arm.
func TestReportCrystal17232PeriodicRealTime(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(20)
	n := 0
	every := timer.Every(700*time.Microsecond, func(scheduled clock.Instant, missed int) {
		if now := clock.Now(); now < scheduled {
			t.Errorf("tick of %v at %v", scheduled, now)
		}
		if n++; n <= 20 {
			wg.Done()
		}
	})
	var mu sync.Mutex
	var at clock.Instant
	came := make(chan struct{})
	once := timer.AfterFunc(time.Hour, func() {
		mu.Lock()
		defer mu.Unlock()
		if now := clock.Now(); now < at {
			t.Errorf("reset for %v, came at %v", at, now)
		}
		came <- struct{}{}
	})
	for i := range 20 {
		mu.Lock()
		if d := time.Duration(i) * 100 * time.Microsecond; i%2 == 0 {
			at = clock.After(d)
			once.ResetAt(at)
		} else {
			at = clock.After(d)
			once.Reset(d)
		}
		mu.Unlock()
		<-came
	}
	wg.Wait()
	every.StopWait()
}
