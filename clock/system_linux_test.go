package clock_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

func boottime(t testing.TB) clock.Clock {
	c, err := clock.Boottime()
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	return c
}

func realtime(t testing.TB) clock.Clock {
	c, err := clock.Realtime()
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	return c
}

// TestSystemClocksAreComparable: scopes on what two calls return are on one clock.
func TestSystemClocksAreComparable(t *testing.T) {
	all := []clock.Clock{clock.Monotonic(), boottime(t), realtime(t), clock.NewVirtual()}
	names := []string{"monotonic", "boottime", "realtime", "virtual"}
	for i, c := range all {
		if c.String() != names[i] {
			t.Errorf("clock %d is %q, want %q", i, c, names[i])
		}
		for j, d := range all {
			if (c == d) != (i == j) {
				t.Errorf("%v == %v: %v", c, d, c == d)
			}
		}
	}
	if boottime(t) != all[1] || realtime(t) != all[2] {
		t.Error("a second call returns another clock")
	}
	keyed := map[clock.Clock]int{boottime(t): 1, realtime(t): 2}
	if keyed[boottime(t)] != 1 || keyed[realtime(t)] != 2 {
		t.Error("the clocks are no keys")
	}
}

func TestBoottimeNowRealTime(t *testing.T) {
	c := boottime(t)
	last := c.Now()
	if last < 0 {
		t.Fatalf("the clock shows %v", last)
	}
	for range 1000 {
		// It is ahead of the monotonic clock by what the machine was suspended for. The two zeros are read one after
		// the other when the package is initialized.
		mono := clock.Now()
		now := c.Now()
		if now < last || now.Add(time.Second) < mono {
			t.Fatalf("%v after %v; monotonic: %v", now, last, mono)
		}
		last = now
	}
}

// TestBoottimeIsNotEarlyRealTime: a time becomes an instant, and back, by way of the present: late by a moment, and
// never early.
func TestBoottimeIsNotEarlyRealTime(t *testing.T) {
	c := boottime(t)
	for _, d := range []time.Duration{time.Millisecond, time.Second, time.Hour, 100 * year} {
		for range 100 {
			before := c.Now()
			at := c.FromTime(time.Now().Add(d))
			if at < before.Add(d) {
				t.Fatalf("a time in %v is %v early", d, before.Add(d).Sub(at))
			}
			before = c.Now()
			tm, ok := c.Time(before.Add(d))
			if !ok {
				t.Fatal("the boottime clock has times that the standard library may see")
			}
			if got := c.FromTime(tm); got < before.Add(d) {
				t.Fatalf("there and back: %v early", before.Add(d).Sub(got))
			}
		}
	}
	for name, past := range map[string]time.Time{
		"the zero time":      {},
		"1970":               time.Unix(0, 0),
		"before the process": time.Now().Add(-time.Hour - c.Now().Sub(0)),
	} {
		if got := c.FromTime(past); got != 0 {
			t.Errorf("%s is %v, want 0, the process's start", name, got)
		}
	}
	if got := c.FromTime(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)); got != clock.Forever {
		t.Errorf("the year 9999 is %v", got)
	}
	if tm, ok := c.Time(clock.Forever); !ok || time.Until(tm) < 290*year {
		t.Errorf("Forever is %v, %v", tm, ok)
	}
}

// zero is the time at which the realtime clock shows 0.
var zero = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func TestRealtimeNowRealTime(t *testing.T) {
	c := realtime(t)
	between := func() bool {
		before := time.Now().Round(0)
		now := c.Now()
		after := time.Now().Round(0)
		tm, ok := c.Time(now)
		if !ok || tm.Sub(zero) != now.Sub(0) {
			t.Errorf("Time(%d) = %v, %v", now, tm, ok)
		}
		return !tm.Before(before) && !tm.After(after)
	}
	if !between() && !between() { // once, because the clock was stepped
		t.Error("Now is not between two readings of time.Now")
	}
}

// TestRealtimeExactly: times convert by their wall reading, there and back, wherever the clock stands.
func TestRealtimeExactly(t *testing.T) {
	c := realtime(t)
	now := time.Now()
	for name, tm := range map[string]time.Time{
		"zero":      zero,
		"now":       now,
		"rounded":   now.Round(0),
		"elsewhere": now.In(time.FixedZone("elsewhere", -7200)),
		"1970":      time.Unix(0, 0),
		"1728":      zero.Add(math.MinInt64),
		"2312":      zero.Add(math.MaxInt64),
	} {
		at := c.FromTime(tm)
		if want := clock.Instant(tm.Round(0).Sub(zero)); at != want {
			t.Errorf("%s is %d, want %d", name, at, want)
		}
		back, ok := c.Time(at)
		if !ok || !back.Equal(tm.Round(0)) {
			t.Errorf("%s comes back as %v, %v, want %v", name, back, ok, tm)
		}
	}
	// The monotonic reading would say that this is in an hour, if the clock were stepped after now was read.
	if got, want := c.FromTime(now.Add(time.Hour)), c.FromTime(now).Add(time.Hour); got != want {
		t.Errorf("in an hour: %d, want %d", got, want)
	}
	for name, c := range map[string]struct{ got, want clock.Instant }{
		"the zero time": {c.FromTime(time.Time{}), math.MinInt64},
		"1700":          {c.FromTime(time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)), math.MinInt64},
		"2313":          {c.FromTime(time.Date(2313, 1, 1, 0, 0, 0, 0, time.UTC)), clock.Forever},
		"9999":          {c.FromTime(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), clock.Forever},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", name, c.got, c.want)
		}
	}
}

// TestSystemClocksInBubble: both show the bubble's time, and their instants are negative there.
func TestSystemClocksInBubble(t *testing.T) {
	boot, real := boottime(t), realtime(t)
	synctest.Test(t, func(t *testing.T) {
		b, r := boot.Now(), real.Now()
		fake := time.Now()
		if b != clock.Now() {
			t.Errorf("boottime shows %v, monotonic %v", b, clock.Now())
		}
		if b >= 0 || r >= 0 {
			t.Errorf("boottime shows %v, realtime %v: negative in a bubble", b, r)
		}
		if tm, ok := real.Time(r); !ok || !tm.Equal(fake) {
			t.Errorf("realtime shows %v, time.Now %v", tm, fake)
		}
		time.Sleep(time.Hour)
		if boot.Now() != b.Add(time.Hour) || real.Now() != r.Add(time.Hour) {
			t.Errorf("in an hour: %v after %v, %v after %v", boot.Now(), b, real.Now(), r)
		}
		if got := boot.FromTime(time.Now().Add(time.Minute)); got != boot.Now().Add(time.Minute) {
			t.Errorf("boottime, in a minute: %v at %v", got, boot.Now())
		}
		if tm, ok := boot.Time(boot.Now().Add(time.Minute)); !ok || !tm.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("boottime, time in a minute: %v, %v", tm, ok)
		}
		if got := boot.FromTime(zero.Add(100 * year)); got != clock.Forever {
			t.Errorf("boottime, beyond the process's start: %v: it would be taken for one from outside", got)
		}
		if got := real.FromTime(time.Now().Add(time.Minute)); got != real.Now().Add(time.Minute) {
			t.Errorf("realtime, in a minute: %v at %v", got, real.Now())
		}
	})
}

// timerfds counts the timers of the kernel that this process has open.
func timerfds() (n int) {
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(to, "[timerfd]") {
			n++
		}
	}
	return n
}

// inherited are those that the process was started with.
var inherited = timerfds()

// TestTimerfdIsClosedRealTime: an alarm that nobody refers to, and that is clear or has come, gives its file back.
func TestTimerfdIsClosedRealTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		if k.name == "runtime" {
			return // it has none
		}
		if _, err := os.Stat("/proc/self/fd"); err != nil {
			t.Skip("SKIPPED: it takes /proc to see open files: ", err)
		}
		collect := func(most int) {
			t.Helper()
			eventually(t, func() error {
				runtime.GC()
				if n := timerfds() - inherited; n > most {
					return fmt.Errorf("%d timers are open, want at most %d", n, most)
				}
				return nil
			})
		}
		collect(0) // of other tests
		const n = 20
		came := make(chan clock.Instant)
		func() {
			alarms := make([]clock.Alarm, n)
			for i := range alarms {
				alarms[i] = k.alarm(func(now clock.Instant) { came <- now })
				alarms[i].Clear()
			}
			if got := timerfds() - inherited; got != 0 {
				t.Errorf("%d timers are open before the first Set", got)
			}
			for i, a := range alarms {
				a.Set(k.in(time.Hour))
				if i%2 == 0 {
					a.Set(k.in(0))
					<-came
				} else {
					a.Clear()
				}
			}
			if got := timerfds() - inherited; got != n {
				t.Errorf("%d timers are open, want %d", got, n)
			}
			runtime.KeepAlive(alarms)
		}()
		collect(0)
		nobodyWaits(t)
	})
}

// TestAlarmAllocatesNothingRealTime: to move an alarm is one system call, and no garbage.
func TestAlarmAllocatesNothingRealTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := k.alarm(func(clock.Instant) { t.Error("called") })
		at := k.in(time.Hour)
		a.Set(at)
		if n := testing.AllocsPerRun(100, func() { at++; a.Set(at) }); n != 0 {
			t.Errorf("to move it allocates %v times", n)
		}
		if n := testing.AllocsPerRun(100, func() { k.clock.Now() }); n != 0 {
			t.Errorf("to read its clock allocates %v times", n)
		}
		a.Clear()
		nobodyWaits(t)
	})
}
