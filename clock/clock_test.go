package clock_test

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

const year = 365 * 24 * time.Hour

func TestNowIsMonotonicRealTime(t *testing.T) {
	last := clock.Now()
	if last < 0 {
		t.Fatalf("outside of a bubble the clock shows %v", last)
	}
	for range 1000 {
		now := clock.Now()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
}

// TestFromTimeExactly: a time with a monotonic reading converts exactly, at any distance.
func TestFromTimeExactly(t *testing.T) {
	before := clock.Now()
	now := time.Now()
	after := clock.Now()
	at := clock.FromTime(now)
	if at < before || at > after {
		t.Fatalf("time.Now between %d and %d is instant %d", before, after, at)
	}
	for _, d := range []time.Duration{1, time.Millisecond, time.Hour, year, 100 * year} {
		if got, want := clock.FromTime(now.Add(d)), at.Add(d); got != want {
			t.Errorf("now and %v: %d, want %d", d, got, want)
		}
	}
	if got := clock.FromTime(now.Add(-at.Sub(0) / 2)); got != at-at/2 {
		t.Errorf("half way back: %d, want %d", got, at-at/2)
	}
	for _, d := range []time.Duration{at.Sub(0), at.Sub(0) + 1, time.Hour + at.Sub(0), 200 * year} {
		if got := clock.FromTime(now.Add(-d)); got != 0 {
			t.Errorf("%v ago, before the process: %d, want 0", d, got)
		}
	}
}

// TestFromTimeWithoutMonotonicReading: such a time is as far from now as the wall clock says.
func TestFromTimeWithoutMonotonicReading(t *testing.T) {
	wide := func(at clock.Instant, t time.Time) bool { // the wall clock may be slewed meanwhile
		want := clock.Now().Add(time.Until(t))
		return max(at.Sub(want), want.Sub(at)) < time.Minute
	}
	for _, d := range []time.Duration{time.Hour, 50 * year} {
		at := time.Now().Add(d)
		for name, tm := range map[string]time.Time{
			"Round(0)": at.Round(0),
			"UTC":      at.Round(0).UTC(),
			"Unix":     time.Unix(at.Unix(), int64(at.Nanosecond())),
		} {
			if got := clock.FromTime(tm); !wide(got, at) {
				t.Errorf("%v ahead, %s: %v", d, name, got)
			}
		}
	}
	if got := clock.FromTime(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)); got != clock.Forever {
		t.Errorf("the year 9999: %v", got)
	}
	past := map[string]time.Time{
		"the zero time": {},
		"1970":          time.Unix(0, 0),
		"an hour ago":   time.Now().Add(-time.Hour - clock.Now().Sub(0)).Round(0),
	}
	for name, tm := range past {
		if got := clock.FromTime(tm); got != 0 {
			t.Errorf("%s: %v, want 0, the process's start", name, got)
		}
	}
}

// TestFromTimeIsNotEarlyRealTime: a time without a monotonic reading needs two readings, of the wall clock and of
// the monotonic one. The order of the two decides whether what passes between them makes the result early or late.
func TestFromTimeIsNotEarlyRealTime(t *testing.T) {
	diffs := make([]time.Duration, 1001)
	for i := range diffs {
		at := time.Now().Add(time.Hour)
		diffs[i] = clock.FromTime(at.Round(0)).Sub(clock.FromTime(at))
	}
	slices.Sort(diffs) // the median: the wall clock may be stepped meanwhile
	if median := diffs[len(diffs)/2]; median < 0 {
		t.Errorf("in the median an instant is %v early", -median)
	}
}

// TestTimeIsNotEarlyRealTime: likewise on the way out. There and back is exact, so no statistics are needed.
func TestTimeIsNotEarlyRealTime(t *testing.T) {
	for _, d := range []time.Duration{-time.Millisecond, 0, time.Second, time.Hour, 100 * year} {
		for range 100 {
			at := clock.After(max(0, d))
			tm, ok := clock.Monotonic().Time(at)
			if !ok {
				t.Fatal("the monotonic clock has times that the standard library may see")
			}
			if got := clock.FromTime(tm); got < at {
				t.Fatalf("Time(%d) is the instant %d, %v early", at, got, at.Sub(got))
			}
		}
	}
	if tm, ok := clock.Monotonic().Time(clock.Forever); !ok || time.Until(tm) < 290*year {
		t.Errorf("Forever is %v, %v", tm, ok)
	}
}

func TestAfterOutside(t *testing.T) {
	for _, d := range []time.Duration{0, 1, time.Hour, 290 * year} {
		before := clock.Now().Add(d)
		at := clock.After(d)
		after := clock.Now().Add(d)
		if at < before || at > after {
			t.Errorf("After(%v) = %d, not from %d to %d", d, at, before, after)
		}
	}
	for _, d := range []time.Duration{-1, -time.Hour, -200 * year, math.MinInt64} {
		before := max(0, clock.Now().Add(d))
		at := clock.After(d)
		after := max(0, clock.Now().Add(d))
		if at < before || at > after {
			t.Errorf("After(%v) = %d, not from %d to %d", d, at, before, after)
		}
	}
	if at := clock.After(math.MaxInt64); at != clock.Forever {
		t.Errorf("After of the longest duration: %d", at)
	}
}

func TestAfterInBubble(t *testing.T) {
	outside := clock.Now()
	synctest.Test(t, func(t *testing.T) {
		now := clock.Now()
		if now >= 0 {
			t.Fatalf("in a bubble the clock shows %v", now)
		}
		toStart := clock.Instant(0).Sub(now) // fake time until this process's start
		for _, c := range []struct {
			d    time.Duration
			want clock.Instant
		}{
			{0, now},
			{1, now + 1},
			{year, now.Add(year)},
			{-year, now.Add(-year)},
			{math.MinInt64, math.MinInt64},
			{toStart - 1, -1},
			{toStart, clock.Forever},
			{toStart + outside.Sub(0), clock.Forever},
			{200 * year, clock.Forever},
			{math.MaxInt64, clock.Forever},
		} {
			if at := clock.After(c.d); at != c.want {
				t.Errorf("After(%v) at %d = %d, want %d", c.d, now, at, c.want)
			}
		}
		time.Sleep(time.Second)
		if got := clock.Now(); got != now.Add(time.Second) {
			t.Errorf("after a second: %d, want %d", got, now.Add(time.Second))
		}
	})
}

func TestFromTimeInBubble(t *testing.T) {
	outside := time.Now()
	synctest.Test(t, func(t *testing.T) {
		now := clock.Now()
		fake := time.Now()
		for _, c := range []struct {
			name string
			t    time.Time
			want clock.Instant
		}{
			{"now", fake, now},
			{"in an hour", fake.Add(time.Hour), now.Add(time.Hour)},
			{"an hour ago", fake.Add(-time.Hour), now.Add(-time.Hour)},
			{"date", time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), now.Add(366 * 24 * time.Hour)},
			{"outside", outside, clock.Forever},                      // decades ahead
			{"outside, rounded", outside.Round(0), clock.Forever},    //
			{"zero", time.Time{}, now.Add(math.MinInt64)},            // in the past
			{"9999", time.Unix(253370764800, 0), clock.Forever},      //
			{"1999", time.Unix(915148800, 0), now.Add(-year)},        //
			{"far, monotonic", outside.Add(year), clock.Forever},     //
			{"before this process", outside.Add(-year), clock.Now()}, // see below
		} {
			at := clock.FromTime(c.t)
			if c.name == "before this process" {
				if at <= now || at >= 0 && at != clock.Forever {
					t.Errorf("%s: %d at %d: in the bubble's future, and negative or Forever", c.name, at, now)
				}
				continue
			}
			if at != c.want {
				t.Errorf("%s: %d, want %d", c.name, at, c.want)
			}
		}
		tm, ok := clock.Monotonic().Time(now.Add(time.Minute))
		if !ok || !tm.Equal(fake.Add(time.Minute)) {
			t.Errorf("Time in a minute is %v, %v", tm, ok)
		}
	})
}

func TestInBubble(t *testing.T) {
	start := time.Now().Round(0)
	if clock.InBubble() {
		t.Error("outside: true")
	}
	synctest.Test(t, func(t *testing.T) {
		if !clock.InBubble() {
			t.Error("inside: false")
		}
		done := make(chan bool)
		go func() { done <- clock.InBubble() }()
		if !<-done {
			t.Error("inside, on a goroutine of the bubble: false")
		}
		time.Sleep(10 * year)
		if !clock.InBubble() {
			t.Error("inside, ten years on: false")
		}
		time.Sleep(time.Until(start) + 11*year)
		if !clock.InBubble() {
			t.Error("inside, eleven years after the process's start: false")
		}
	})
	if clock.InBubble() {
		t.Error("outside again: true")
	}
}

func TestClocksAreComparable(t *testing.T) {
	if clock.Monotonic() != clock.Monotonic() {
		t.Error("the monotonic clock is not itself")
	}
	a, b := clock.NewVirtual(), clock.NewVirtual()
	var x, y clock.Clock = a, b
	if x == y || x != clock.Clock(a) || x == clock.Monotonic() {
		t.Error("virtual clocks are told apart by identity")
	}
	if got := clock.Monotonic().String(); got != "monotonic" {
		t.Errorf("name of the monotonic clock: %q", got)
	}
	if got := a.String(); got != "virtual" {
		t.Errorf("name of a virtual clock: %q", got)
	}
}

// TestMonotonicClock: the methods are the functions.
func TestMonotonicClock(t *testing.T) {
	c := clock.Monotonic()
	before := clock.Now()
	now := c.Now()
	after := clock.Now()
	if now < before || now > after {
		t.Errorf("Now() = %d, not from %d to %d", now, before, after)
	}
	tm := time.Now().Add(time.Hour)
	if c.FromTime(tm) != clock.FromTime(tm) {
		t.Error("FromTime of the clock is another than the package's")
	}
}
