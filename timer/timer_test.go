package timer_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// count returns a function that counts its calls, and the options that put it on v, called by the clock's mover.
func count(v *clock.Virtual) (n *int, f func(), on, inline timer.Option) {
	n = new(int)
	return n, func() { *n++ }, timer.On(v), timer.Inline()
}

func TestAfterFunc(t *testing.T) {
	for _, d := range []time.Duration{1, time.Millisecond, time.Hour, 100 * year} {
		v := clock.NewVirtual()
		n, f, on, inline := count(v)
		timer.AfterFunc(d, f, on, inline)
		if v.Advance(d - 1); *n != 0 {
			t.Errorf("%v: early", d)
		}
		if v.Advance(1); *n != 1 {
			t.Errorf("%v: %d calls at its time", d, *n)
		}
		if v.Advance(100 * year); *n != 1 {
			t.Errorf("%v: %d calls", d, *n)
		}
	}
}

// TestAfterFuncNowBubble: a duration that is not positive is 0: at once, by nobody's movement of the clock.
func TestAfterFuncNowBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		for _, d := range []time.Duration{0, -1, -time.Hour, -1 << 63} {
			n, f, on, _ := count(v)
			timer.AfterFunc(d, f, on)
			synctest.Wait()
			if *n != 1 {
				t.Errorf("%v: %d calls", d, *n)
			}
		}
		n, f, on, _ := count(v)
		tm := timer.AfterFunc(time.Hour, f, on)
		tm.ResetAt(v.Now())
		synctest.Wait()
		tm.ResetAt(-5)
		synctest.Wait()
		if *n != 2 {
			t.Errorf("ResetAt in the past: %d calls, want 2", *n)
		}
	})
}

// TestOwnGoroutine: without Inline a function that blocks holds up nobody.
func TestOwnGoroutine(t *testing.T) {
	v := clock.NewVirtual()
	block, came := make(chan struct{}), make(chan struct{}, 2)
	for range 2 {
		timer.AfterFunc(10, func() { came <- struct{}{}; <-block }, timer.On(v))
	}
	v.Advance(10)
	<-came
	<-came
	close(block)
}

func TestStop(t *testing.T) {
	v := clock.NewVirtual()
	n, f, on, inline := count(v)
	tm := timer.AfterFunc(10, f, on, inline)
	if !tm.Stop() || tm.Stop() {
		t.Error("Stop of an armed timer: true once")
	}
	v.Advance(100)
	if *n != 0 || tm.Stop() {
		t.Errorf("stopped: %d calls, or Stop reports one prevented", *n)
	}
	tm = timer.AfterFunc(10, f, on, inline)
	v.Advance(10)
	if *n != 1 || tm.Stop() {
		t.Errorf("fired: %d calls, or Stop reports it prevented", *n)
	}
	if st := timer.For(v).Stats(); st.Pending != 0 || st.Canceled != 1 {
		t.Errorf("%+v", st)
	}
}

func TestReset(t *testing.T) {
	v := clock.NewVirtual()
	n, f, on, inline := count(v)
	tm := timer.AfterFunc(10, f, on, inline)
	for i, c := range []struct {
		what    string
		advance time.Duration
		do      func() bool
		was     bool
		calls   int // after what follows
		until   time.Duration
	}{
		{"later", 5, func() bool { return tm.Reset(20) }, true, 0, 19},
		{"and again", 0, func() bool { return tm.Reset(5) }, true, 1, 5},
		{"after it fired", 0, func() bool { return tm.Reset(7) }, false, 2, 7},
		{"to an instant", 0, func() bool { return tm.ResetAt(v.Now() + 3) }, false, 3, 3},
		{"never", 0, func() bool { return tm.ResetAt(clock.Forever) }, false, 3, 90 * year},
		{"never, longest", 0, func() bool { return tm.Reset(1<<63 - 1) }, true, 3, 90 * year},
		{"stopped and reset", 0, func() bool { tm.Stop(); return tm.Reset(1) }, false, 4, 1},
	} {
		v.Advance(c.advance)
		if was := c.do(); was != c.was {
			t.Errorf("%d %s: reports %v", i, c.what, was)
		}
		v.Advance(c.until)
		if *n != c.calls {
			t.Errorf("%d %s: %d calls, want %d", i, c.what, *n, c.calls)
		}
	}
}

// TestForeverIsArmed: a timer that will never be due can be stopped and reset like any.
func TestForeverIsArmed(t *testing.T) {
	v := clock.NewVirtual()
	tm := timer.AfterFunc(1<<63-1, func() { t.Error("forever has passed") }, timer.On(v))
	if at, ok := timer.For(v).Next(); ok {
		t.Errorf("a look at %v", at)
	}
	v.Advance(280 * year)
	if !tm.Stop() {
		t.Error("it was not armed")
	}
}

// TestCallbackRearmsItself: Reset from within the function; and a Stop then stops that.
func TestCallbackRearmsItself(t *testing.T) {
	v := clock.NewVirtual()
	var at []clock.Instant
	var tm *timer.Timer
	tm = timer.AfterFunc(10, func() {
		at = append(at, v.Now())
		if tm.Reset(5) {
			t.Error("Reset from within reports that it was armed")
		}
	}, timer.On(v), timer.Inline())
	v.Advance(27)
	if want := []clock.Instant{10, 15, 20, 25}; !slices.Equal(at, want) {
		t.Errorf("called at %v, want %v", at, want)
	}
	if !tm.Stop() {
		t.Error("it was armed again")
	}
	v.Advance(100)
	if len(at) != 4 {
		t.Errorf("called at %v", at)
	}
}

// TestInlineStopsThoseBehind: what a function stops does not run, even if it was due at the same instant and the
// driver has it already.
func TestInlineStopsThoseBehind(t *testing.T) {
	v := clock.NewVirtual()
	const n = 100 // more than a batch
	var timers [n]*timer.Timer
	var ran []int
	for i := range timers {
		timers[i] = timer.AfterFunc(10, func() {
			ran = append(ran, i)
			for j := i + 1; j < n; j++ {
				if j%10 != 0 && !timers[j].Stop() && i == 0 {
					t.Errorf("timer %d was not prevented", j)
				}
			}
		}, timer.On(v), timer.Inline())
	}
	v.Advance(10)
	if want := []int{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}

// TestGoexitInCallbackBubble: the function's timer is as good as before, and others come; inline and not.
func TestGoexitInCallbackBubble(t *testing.T) {
	for _, opts := range [][]timer.Option{nil, {timer.Inline()}} {
		synctest.Test(t, func(t *testing.T) {
			v := clock.NewVirtual()
			opts := append(opts, timer.On(v))
			var mu sync.Mutex
			n := 0
			call := func() {
				mu.Lock()
				n++
				mu.Unlock()
				runtime.Goexit()
			}
			tm := timer.AfterFunc(10, call, opts...)
			every := timer.Every(10, func(clock.Instant, int) { call() }, opts...)
			for range 150 {
				timer.AfterFunc(10, call, opts...)
			}
			for range 200 {
				go v.Advance(1) // inline, it is this goroutine that ends
				synctest.Wait()
			}
			if want := 1 + 150 + int(v.Now()/10); n != want {
				t.Errorf("%d calls by %v, want %d", n, v.Now(), want)
			}
			if tm.Reset(10) || !tm.StopWait() || !every.StopWait() {
				t.Error("after Goexit they are not what they were")
			}
		})
	}
}

// TestHappensBeforeRealTime is for the race detector: what came before Reset is seen by the function, what the function did
// by who waited for it.
func TestHappensBeforeRealTime(t *testing.T) {
	var x int
	done := make(chan struct{})
	tm := timer.AfterFunc(time.Hour, func() { x++; close(done) })
	x = 1
	tm.Reset(0)
	<-done
	tm.StopWait()
	if x != 2 {
		t.Error("x is", x)
	}
}

// TestResetAtNegativeRealTime: an instant before the process's start is the past, also on the clock whose negative
// instants are a bubble's.
func TestResetAtNegativeRealTime(t *testing.T) {
	came := make(chan struct{})
	tm := timer.AfterFunc(time.Hour, func() { came <- struct{}{} })
	for _, at := range []clock.Instant{-1, -clock.Instant(year), -1 << 63, 0} {
		tm.ResetAt(at)
		<-came
	}
	o := newOwner()
	o.fire = func(clock.Instant) { came <- struct{}{} }
	o.schedule(timer.Default(), -1)
	<-came
}

func TestPanics(t *testing.T) {
	nothing := func() {}
	tick := func(clock.Instant, int) {}
	zero := new(timer.Timer)
	for want, f := range map[string]func(){
		"bide/timer: AfterFunc: nil function":                                  func() { timer.AfterFunc(1, nil) },
		"bide/timer: Every: nil function":                                      func() { timer.Every(1, nil) },
		"bide/timer: Every: the period must be positive, not 0s":               func() { timer.Every(0, tick) },
		"bide/timer: Every: the period must be positive, not -1s":              func() { timer.Every(-time.Second, tick) },
		"bide/timer: On: nil Clock":                                            func() { timer.On(nil) },
		"bide/timer: AfterFunc has no use for Skip":                            func() { timer.AfterFunc(1, nothing, timer.Skip()) },
		"bide/timer: AfterFunc has no use for Burst":                           func() { timer.AfterFunc(1, nothing, timer.Burst()) },
		"bide/timer: AfterFunc has no use for Delay":                           func() { timer.AfterFunc(1, nothing, timer.Inline(), timer.Delay()) },
		"bide/timer: AfterFunc has no use for the zero Option":                 func() { timer.AfterFunc(1, nothing, timer.Option{}) },
		"bide/timer: Every has no use for the zero Option":                     func() { timer.Every(1, tick, timer.Option{}) },
		"house: Nap has no use for Inline":                                     func() { timer.Deadline("house", "Nap", nil, 1, []timer.Option{timer.Inline()}) },
		"house: Nap has no use for Skip":                                       func() { timer.Deadline("house", "Nap", nil, 1, []timer.Option{timer.Skip()}) },
		"bide/timer: Stop of a Timer that AfterFunc or Every did not make":     func() { zero.Stop() },
		"bide/timer: StopWait of a Timer that AfterFunc or Every did not make": func() { zero.StopWait() },
		"bide/timer: Reset of a Timer that AfterFunc or Every did not make":    func() { zero.Reset(1) },
		"bide/timer: ResetAt of a Timer that AfterFunc or Every did not make":  func() { zero.ResetAt(1) },
	} {
		expectPanic(t, want, want, f)
	}
}

// TestOptions: the last of a kind counts, and Deadline takes what a sleep does.
func TestOptions(t *testing.T) {
	a, b := clock.NewVirtual(), clock.NewVirtual()
	n, f, _, inline := count(b)
	timer.AfterFunc(10, f, timer.On(a), inline, timer.On(b))
	a.Advance(100)
	if *n != 0 {
		t.Error("the first On counted")
	}
	if b.Advance(100); *n != 1 {
		t.Error("the last On did not count")
	}
	d := timer.Default()
	for name, c := range map[string]struct {
		s    *timer.Service
		opts []timer.Option
		want *timer.Service
	}{
		"no option":            {timer.For(a), nil, timer.For(a)},
		"On":                   {d, []timer.Option{timer.On(a)}, timer.For(a)},
		"On(Monotonic)":        {timer.For(a), []timer.Option{timer.On(clock.Monotonic())}, d},
		"Tolerance(0)":         {d, []timer.Option{timer.Tolerance(0)}, timer.Precise()},
		"a small Tolerance":    {d, []timer.Option{timer.Tolerance(time.Millisecond - 1)}, timer.Precise()},
		"the usual Tolerance":  {d, []timer.Option{timer.Tolerance(time.Millisecond)}, d},
		"a large Tolerance":    {d, []timer.Option{timer.Tolerance(time.Minute)}, d},
		"Tolerance(0) and On":  {d, []timer.Option{timer.Tolerance(0), timer.On(a)}, timer.For(a)},
		"On and Tolerance(0)":  {timer.For(a), []timer.Option{timer.On(clock.Monotonic()), timer.Tolerance(0)}, timer.Precise()},
		"Tolerance(0), where?": {timer.For(a), []timer.Option{timer.Tolerance(0)}, timer.For(a)},
	} {
		before := c.want.Clock().Now()
		got, due := timer.Deadline("p", "f", c.s, time.Hour, c.opts)
		if got != c.want {
			t.Errorf("%s: another service", name)
		}
		if due < before.Add(time.Hour) || due > got.Clock().Now().Add(time.Hour+time.Minute) {
			t.Errorf("%s: due %v after %v, want an hour", name, due, before)
		}
	}
}
