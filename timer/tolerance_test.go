package timer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// TestToleranceModel: at or after the deadline, and at most the tolerance later; on a virtual clock, whose service is exact.
func TestToleranceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := clock.NewVirtual()
		size := func(what string) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(0, 61).Draw(t, what+" bits")-1).Draw(t, what))
		}
		v.Advance(size("uptime"))
		d, tolerance := 1+size("d"), size("tolerance")
		due, at := v.Now().Add(d), clock.Forever
		timer.AfterFunc(d, func() { at = v.Now() }, timer.On(v), timer.Inline(), timer.Tolerance(tolerance))
		if _, rounded := timer.Deadline("p", "f", timer.For(v), d, []timer.Option{timer.Tolerance(tolerance)}); rounded < due || rounded > due.Add(tolerance) {
			t.Fatalf("a deadline of %d with a tolerance of %d is %d", due, tolerance, rounded)
		}
		v.Advance(d)
		v.Advance(tolerance)
		if v.Now() == due.Add(tolerance) && (at < due || at > due.Add(tolerance)) {
			t.Fatalf("due %d, tolerance %d: called at %d", due, tolerance, at)
		}
	})
}

// TestToleranceCoalesces: timers that are near each other are one wake-up, also those with different tolerances.
func TestToleranceCoalesces(t *testing.T) {
	for _, c := range []struct {
		tolerance []time.Duration
		wakes     int64
	}{
		{[]time.Duration{0}, 60},
		{[]time.Duration{4 * time.Microsecond}, 30}, // 2^11 ns is two of them
		{[]time.Duration{time.Second}, 1},
		{[]time.Duration{time.Second, 2 * time.Second}, 1},
	} {
		v := clock.NewVirtual()
		v.Advance(time.Hour)
		s, n := timer.For(v), 0
		for i := range 60 {
			timer.AfterFunc(time.Duration(i+1)*1024, func() { n++ },
				timer.On(v), timer.Inline(), timer.Tolerance(c.tolerance[i%len(c.tolerance)]))
		}
		v.Advance(time.Minute)
		if st := s.Stats(); n != 60 || st.Wakes > c.wakes+1 || st.Wakes < c.wakes {
			t.Errorf("tolerance %v: %d calls, %d wake-ups, want %d", c.tolerance, n, st.Wakes, c.wakes)
		}
	}
}

// TestToleranceEvery: the schedule stays start + n·d, whatever a call is late, and the call is told the schedule's time.
func TestToleranceEvery(t *testing.T) {
	v := clock.NewVirtual()
	var at, late []clock.Instant
	timer.Every(3*time.Millisecond, func(scheduled clock.Instant, missed int) {
		at = append(at, scheduled)
		late = append(late, v.Now()-scheduled)
		if missed != 0 {
			t.Errorf("%d missed at %v", missed, scheduled)
		}
	}, timer.On(v), timer.Inline(), timer.Tolerance(2*time.Millisecond))
	v.Advance(time.Second)
	if len(at) != 333 {
		t.Errorf("%d ticks", len(at))
	}
	for i := range at {
		if want := clock.Instant(3*time.Millisecond) * clock.Instant(i+1); at[i] != want || late[i] < 0 || late[i] > clock.Instant(2*time.Millisecond) {
			t.Fatalf("tick %d: scheduled %v, want %v; %v late", i, at[i], want, late[i])
		}
	}
}

// TestToleranceBubble: in a bubble a timer comes exactly, whatever it tolerates, and a precise one needs no timerfd.
func TestToleranceBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := clock.Now()
		for _, tolerance := range []time.Duration{0, time.Microsecond, time.Hour} {
			var at clock.Instant
			timer.AfterFunc(time.Second, func() { at = clock.Now() }, timer.Tolerance(tolerance))
			time.Sleep(time.Second)
			synctest.Wait()
			if got := at.Sub(start); got != time.Second {
				t.Errorf("tolerance %v: after %v", tolerance, got)
			}
			start = clock.Now()
		}
	})
}

// TestPreciseRealTime: never early, many at a time, and nothing is armed when all is over.
func TestPreciseRealTime(t *testing.T) {
	before := timer.Precise().Stats()
	const n = 200
	came := make(chan time.Duration, n)
	for i := range n {
		due := clock.After(time.Duration(i*37) * time.Microsecond)
		tm := timer.AfterFunc(time.Hour, func() { came <- clock.Now().Sub(due) }, timer.Tolerance(0))
		tm.ResetAt(due)
	}
	for range n {
		if late := <-came; late < 0 {
			t.Errorf("%v early", -late)
		}
	}
	if s := timer.Precise().Stats(); s.Pending != 0 || s.Fired != before.Fired+n {
		t.Errorf("%+v", s)
	}
	if at, ok := timer.Precise().Next(); ok {
		t.Errorf("something is pending, at %v", at)
	}
}

func TestTolerancePanics(t *testing.T) {
	expectPanic(t, "Tolerance", "bide/timer: Tolerance: must not be negative, not -1s", func() { timer.Tolerance(-time.Second) })
	expectPanic(t, "Cap", "bide/timer: Cap: must be positive, not 0", func() { timer.Cap(0) })
	expectPanic(t, "NewService", "bide/timer: NewService has no use for Tolerance", func() {
		timer.NewService(clock.NewVirtual(), timer.Tolerance(0))
	})
	expectPanic(t, "AfterFunc", "bide/timer: AfterFunc has no use for Cap", func() { timer.AfterFunc(1, func() {}, timer.Cap(1)) })
	expectPanic(t, "nil", "bide/timer: NewService with a nil Clock", func() { timer.NewService(nil) })
}
