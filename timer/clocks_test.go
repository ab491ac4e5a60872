package timer_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// system are the clocks that not every system has.
var system = map[string]func() (clock.Clock, error){"boottime": clock.Boottime, "realtime": clock.Realtime}

func systemClock(t *testing.T, name string) (clock.Clock, bool) {
	c, err := system[name]()
	if err != nil && runtime.GOOS == "linux" || err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%s: %v", name, err)
	}
	return c, err == nil
}

// TestClocksRealTime: timers name their clock, and are on its service; they are never early by it.
func TestClocksRealTime(t *testing.T) {
	for name := range system {
		c, ok := systemClock(t, name)
		if !ok {
			continue
		}
		if timer.For(c) != timer.For(c) || timer.For(c) == timer.Default() {
			t.Errorf("%s: one service for the clock", name)
		}
		due := c.Now().Add(5 * time.Millisecond)
		came := make(chan clock.Instant)
		tm := timer.AfterFunc(5*time.Millisecond, func() { came <- c.Now() }, timer.On(c))
		if now := <-came; now < due {
			t.Errorf("%s: %v early", name, due.Sub(now))
		}
		tm.ResetAt(c.Now() - 1)
		<-came
		tm.Reset(time.Hour)
		if !tm.Stop() {
			t.Errorf("%s: Stop of a timer that is pending", name)
		}
		n := 0
		done := make(chan struct{})
		every := timer.Every(time.Millisecond, func(clock.Instant, int) {
			if n++; n == 3 {
				close(done)
			}
		}, timer.On(c))
		<-done
		every.StopWait()
		runtime.KeepAlive(timer.For(c))
	}
}

// TestClocksBubble: in a bubble the clocks of the system show its time, and their timers are its own.
func TestClocksBubble(t *testing.T) {
	for name := range system {
		c, ok := systemClock(t, name)
		if !ok {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			start, at := time.Now(), time.Time{}
			timer.AfterFunc(time.Hour, func() { at = time.Now() }, timer.On(c), timer.Inline())
			gone := timer.AfterFunc(time.Minute, func() { t.Error("stopped") }, timer.On(c))
			ticks := 0
			every := timer.Every(10*time.Minute, func(clock.Instant, int) { ticks++ }, timer.On(c))
			gone.Stop()
			time.Sleep(2*time.Hour + time.Minute)
			every.StopWait()
			synctest.Wait()
			if at.Sub(start) != time.Hour || ticks != 12 {
				t.Errorf("%s: called after %v; %d ticks", name, at.Sub(start), ticks)
			}
		})
		if n := timer.For(c).Stats().Pending; n != 0 {
			t.Errorf("%s: %d pending outside", name, n)
		}
	}
}

// TestPreciseIdleRealTime: a goroutine waits for the alarm of a clock of the system only while something is pending,
// however far away it is. For the precise alarm none does.
func TestPreciseIdleRealTime(t *testing.T) {
	waiting := func() bool {
		buf := make([]byte, 1<<20)
		return strings.Contains(string(buf[:runtime.Stack(buf, true)]), "/clock.(")
	}
	gone := func() {
		for waiting() { // it is on its way out
			runtime.Gosched()
		}
	}
	try := func(wait bool, opt timer.Option) {
		gone()
		far := timer.AfterFunc(time.Hour, func() {}, opt)
		if waiting() != wait {
			t.Errorf("a goroutine waits for what is pending: %v", !wait)
		}
		far.Stop()
		came := make(chan struct{})
		timer.AfterFunc(time.Millisecond, func() { close(came) }, opt)
		<-came
		gone()
	}
	try(false, timer.Tolerance(0))
	for name := range system {
		if c, ok := systemClock(t, name); ok {
			try(true, timer.On(c))
		}
	}
}
