package timer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

func TestStatsCount(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	a, b, c := newOwner(), newOwner(), newOwner()
	a.schedule(s, 10)
	b.schedule(s, 20)
	b.schedule(s, 30) // moved
	c.schedule(s, 40)
	s.Cancel(&c.Entry)
	s.Cancel(&c.Entry)
	b.at = 50 // later, without a call
	v.Advance(30)
	idle := newOwner()
	idle.due = func(clock.Instant) (clock.Instant, bool) { return clock.Forever, false }
	idle.schedule(s, 40)
	v.Advance(15)
	got := s.Stats()
	got.Wakes, got.Late = 0, timer.Histogram{}
	if want := (timer.Stats{Pending: 1, Scheduled: 5, Fired: 1, Moved: 1, Dropped: 1, Canceled: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestHistogram(t *testing.T) {
	var h timer.Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("of nothing")
	}
	h[0], h[3], h[10] = 50, 49, 1 // below 1 µs, 4 to 8 µs, 512 to 1024 µs
	for q, want := range map[float64]time.Duration{
		0: time.Microsecond, 0.5: time.Microsecond, 0.51: 8 * time.Microsecond, 0.99: 8 * time.Microsecond,
		0.995: 1024 * time.Microsecond, 1: 1024 * time.Microsecond,
	} {
		if got := h.Quantile(q); got != want {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
}

// TestLateness: each firing is counted at what it was late, also when that is years.
func TestLateness(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	for _, late := range []time.Duration{0, 999, time.Microsecond, 5 * time.Microsecond, 1e9, 1e18} {
		o := newOwner()
		o.schedule(s, 1)
		s.Expire(clock.Instant(1).Add(late))
	}
	got := s.Stats()
	want := timer.Histogram{0: 2, 1: 1, 3: 1, 20: 1, 23: 1}
	if got.Late != want || got.Worst != 1e18 || got.Fired != 6 {
		t.Errorf("%v, worst %v, want %v", got.Late, got.Worst, want)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestDump(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	var b strings.Builder
	if err := s.Dump(&b); err != nil || b.String() != "virtual shard 1: 0 pending\n" {
		t.Errorf("empty: %q, %v", b.String(), err)
	}
	newOwner().schedule(s, 10)
	newOwner().schedule(s, 2000)
	b.Reset()
	if err := s.Dump(&b); err != nil || b.String() != "virtual shard 1: 2 pending, next look in 10ns\n" {
		t.Errorf("two: %q, %v", b.String(), err)
	}
	if err := s.Dump(broken{}); err == nil || err.Error() != "full" {
		t.Errorf("a writer that fails: %v", err)
	}
	o := newOwner()
	o.schedule(timer.Default(), clock.After(time.Hour))
	defer timer.Default().Cancel(&o.Entry)
	b.Reset()
	if err := timer.Default().Dump(&b); err != nil || !strings.Contains(b.String(), " of 64 slots") || strings.Count(b.String(), "monotonic shard") == 0 {
		t.Errorf("the wheel: %q, %v", b.String(), err)
	}
}
