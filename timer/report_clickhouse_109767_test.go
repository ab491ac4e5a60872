package timer_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// ClickHouse 109767: a thread that kept deadlines computed its wait once, and slept past a deadline that was added
// while it slept and was earlier. So Schedule has to say "this is the next one now", and the sleeper has to look anew.
func TestReportClickHouse109767(t *testing.T) {
	v := clock.NewVirtual()
	var fired []time.Duration
	start := func(d time.Duration) {
		timer.AfterFunc(d, func() { fired = append(fired, v.Now().Sub(0)) }, timer.On(v), timer.Inline())
	}
	ds := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond, 1, 30 * time.Second}
	for _, d := range ds {
		start(d)
		if next, ok := timer.For(v).Next(); !ok || next.Sub(0) > d {
			t.Fatalf("with a timer for %v the next look is at %v, %v", d, next, ok)
		}
	}
	// While the driver is at work, and has set its alarm for the hour.
	timer.AfterFunc(time.Minute+1, func() { start(time.Second) }, timer.On(v), timer.Inline())
	v.Advance(48 * time.Hour)
	want := []time.Duration{1, time.Millisecond, time.Second, 30 * time.Second, time.Minute, time.Minute + 1 + time.Second, time.Hour, 24 * time.Hour}
	if len(fired) != len(want) {
		t.Fatalf("fired at %v, want %v", fired, want)
	}
	for i := range want {
		if fired[i] != want[i] {
			t.Fatalf("fired at %v, want %v", fired, want)
		}
	}
}

func TestReportClickHouse109767Bubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var fired []time.Duration
		for _, d := range []time.Duration{time.Hour, time.Minute, time.Second} {
			timer.AfterFunc(d, func() {
				mu.Lock()
				defer mu.Unlock()
				fired = append(fired, time.Since(start))
			})
			time.Sleep(1)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if len(fired) != 3 || fired[0] != time.Second+2 || fired[1] != time.Minute+1 || fired[2] != time.Hour {
			t.Errorf("fired after %v", fired)
		}
	})
}

// TestReportClickHouse109767RealTime: if it sleeps past the earlier deadline this test takes an hour.
func TestReportClickHouse109767RealTime(t *testing.T) {
	for range 20 {
		late := timer.AfterFunc(time.Hour, func() { t.Error("an hour has passed") })
		came := make(chan struct{})
		go timer.AfterFunc(2*time.Millisecond, func() { close(came) }) // from another processor, perhaps
		<-came
		late.Stop()
	}
}
