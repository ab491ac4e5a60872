package clock

import (
	"errors"
	"math"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{unix.EMFILE, ""}, // it may pass
		{unix.ENFILE, ""},
		{unix.ENOMEM, ""},
		{unix.EINVAL, "bide/clock: no Boottime on linux (timerfd_create: invalid argument): unsupported operation"},
		{unix.ENOSYS, "bide/clock: no Boottime on linux (timerfd_create: function not implemented): unsupported operation"},
		{unix.EPERM, "bide/clock: no Boottime on linux (timerfd_create: operation not permitted): unsupported operation"},
	} {
		err := probe("Boottime", func() (int, error) {
			if c.err != nil {
				return -1, c.err
			}
			return unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
		})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v: %v", c.err, err)
		case c.want != "" && (err == nil || err.Error() != c.want || !errors.Is(err, errors.ErrUnsupported)):
			t.Errorf("%v: %q, want %q", c.err, err, c.want)
		}
	}
	k := kernelClock{id: 12345}
	if err := k.probe("Nosuchtime"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a clock that there is not: %v", err)
	}
}

var kernelClocks = map[string]*kernelClock{
	"precise":  &preciseKernel,
	"boottime": &bootKernel,
	"realtime": &wallKernel,
}

// TestZerosRealTime: what the kernel's clock shows at instant 0 is right, or a little late.
func TestZerosRealTime(t *testing.T) {
	for name, k := range kernelClocks {
		late := Forever.Sub(0)
		for range 1000 {
			before := kernelNow(int32(k.id))
			now := k.now()
			after := kernelNow(int32(k.id))
			shown := k.zero() + int64(now)
			if shown < before && name != "realtime" {
				t.Errorf("%s: alarms come %d ns early", name, before-shown)
				break
			}
			late = min(late, time.Duration(shown-after))
		}
		if late > time.Second {
			t.Errorf("%s: alarms come %v late", name, late)
		}
	}
}

// TestLastTimeRealTime: an instant beyond what a Timespec holds is waited for in two steps. Where that has 64 bits of
// seconds a smaller limit stands in for it.
func TestLastTimeRealTime(t *testing.T) {
	if want := int64(math.MaxInt32) * second; math.MaxInt == math.MaxInt32 && lastTime != want {
		t.Errorf("the last time is %d, want %d", lastTime, want)
	}
	if ts := unix.NsecToTimespec(lastTime); ts.Nano() != lastTime {
		t.Errorf("the last time comes back as %d", ts.Nano())
	}
	came := make(chan Instant, 2)
	a := newTimerfdAlarm(&preciseKernel, func(now Instant) { came <- now })
	a.open = func() (kernelTimer, error) {
		timer, err := preciseKernel.open()
		if err != nil {
			return nil, err
		}
		t := timer.(*timerfd)
		t.last = t.kernel(Now().Add(time.Millisecond))
		return timer, nil
	}
	a.Set(Now().Add(time.Hour))
	elsewhere := func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.elsewhere
	}
	for start := time.Now(); !elsewhere(); runtime.Gosched() {
		if time.Since(start) > time.Minute {
			t.Fatal("the timer is set to what has passed, over and over")
		}
	}
	if len(came) != 0 {
		t.Fatalf("called at %v", <-came)
	}
	at := Now()
	a.Set(at)
	if now := <-came; now < at {
		t.Errorf("%v early", at.Sub(now))
	}
}

// TestFarRealTime: what lies centuries ahead can be set.
func TestFarRealTime(t *testing.T) {
	for name, k := range kernelClocks {
		timer, err := k.open()
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []Instant{Forever - 1, Instant(100 * 365 * 24 * time.Hour), -1, -Forever, math.MinInt64} {
			if err := timer.settime(at); err != nil {
				t.Errorf("%s: set to %v: %v", name, at, err)
			}
			if at < 0 {
				if err := timer.read(); err != nil {
					t.Errorf("%s: read, set to %v: %v", name, at, err)
				}
			}
		}
		timer.close()
	}
}

// TestStopRealTime: a timer that is stopped wakes nobody any more, not even the poller.
func TestStopRealTime(t *testing.T) {
	for name, k := range kernelClocks {
		timer, err := k.open()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := timer.settime(k.now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			var left unix.ItimerSpec
			if err := unix.TimerfdGettime(timer.(*timerfd).fd, &left); err != nil || left.Value.Nano() == 0 {
				t.Errorf("%s, set: %d ns are left, %v", name, left.Value.Nano(), err)
			}
			if err := timer.stop(); err != nil {
				t.Fatal(err)
			}
			if err := unix.TimerfdGettime(timer.(*timerfd).fd, &left); err != nil || left.Value.Nano() != 0 {
				t.Errorf("%s, stopped: %d ns are left, %v", name, left.Value.Nano(), err)
			}
			if err := timer.read(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s, stopped: read returns %v", name, err)
			}
		}
		timer.close()
		if err := timer.settime(0); passing(err) {
			t.Errorf("%s, closed: settime returns %v", name, err)
		}
	}
}

// A watched is a timerfd that counts.
type watched struct {
	*timerfd

	mu                 sync.Mutex
	settimes, canceled int
}

func (w *watched) settime(at Instant) error {
	w.mu.Lock()
	w.settimes++
	w.mu.Unlock()
	return w.timerfd.settime(at)
}

func (w *watched) read() error {
	err := w.timerfd.read()
	if errors.Is(err, unix.ECANCELED) {
		w.mu.Lock()
		w.canceled++
		w.mu.Unlock()
	}
	return err
}

func (w *watched) counts() (settimes, canceled int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settimes, w.canceled
}

// nudge steps the machine's clock by a nanosecond, forward and back, which cancels timers as any step does.
func nudge(t *testing.T) {
	t.Helper()
	for _, by := range []unix.Timeval{{Sec: 0, Usec: 1}, {Sec: -1, Usec: 999999999}} {
		_, err := unix.ClockAdjtime(unix.CLOCK_REALTIME, &unix.Timex{Modes: unix.ADJ_SETOFFSET | unix.ADJ_NANO, Time: by})
		if err != nil {
			t.Skip("SKIPPED: the clock of this machine may not be stepped, not by a nanosecond: ", err)
		}
	}
}

// TestStepRealTime: the kernel reports a step to the goroutine that waits. The alarm is set anew, and does not come.
func TestStepRealTime(t *testing.T) {
	nudge(t)
	came := make(chan Instant, 10)
	a := newTimerfdAlarm(&wallKernel, func(now Instant) { came <- now })
	w := &watched{}
	a.open = func() (kernelTimer, error) {
		timer, err := wallKernel.open()
		if err != nil {
			return nil, err
		}
		w.timerfd = timer.(*timerfd)
		return w, nil
	}
	a.Set(a.now().Add(time.Hour))
	if settimes, _ := w.counts(); settimes != 1 {
		t.Fatalf("Set has set the timer %d times", settimes)
	}
	nudge(t)
	for start := time.Now(); ; runtime.Gosched() {
		settimes, canceled := w.counts()
		if canceled > 0 && settimes == 1+canceled {
			t.Logf("read was canceled %d times", canceled)
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("read was canceled %d times, and the timer set %d times", canceled, settimes)
		}
	}
	if len(came) != 0 {
		t.Fatalf("called at %v by a step", <-came)
	}
	at := a.now().Add(time.Millisecond)
	a.Set(at)
	if now := <-came; now < at {
		t.Errorf("%v early", at.Sub(now))
	}
}

// TestStepUnreadRealTime: a step that nobody has read of makes the next settime fail, though the timer is set.
func TestStepUnreadRealTime(t *testing.T) {
	nudge(t)
	timer, err := wallKernel.open()
	if err != nil {
		t.Fatal(err)
	}
	defer timer.close()
	set := func(when string, in time.Duration) {
		t.Helper()
		if err := timer.settime(wallKernel.now().Add(in)); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	set("first", time.Hour)
	nudge(t)
	if err := timer.(*timerfd).set(lastTime); !errors.Is(err, unix.ECANCELED) {
		t.Fatalf("after a step the kernel says %v", err)
	}
	nudge(t)
	set("after a step", time.Millisecond)
	if err := timer.read(); err != nil {
		t.Fatalf("read: %v", err)
	}
	set("after read", time.Hour)
	if err := timer.stop(); err != nil {
		t.Fatal(err)
	}
	if err := timer.read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read after stop: %v", err)
	}
	nudge(t)
	set("after stop, and a step", 0)
	if err := timer.read(); err != nil {
		t.Fatalf("read: %v", err)
	}
}
