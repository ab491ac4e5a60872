package timer_test

import (
	"reflect"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// TestAllocs holds what the package comment promises. The budgets hold under the race detector, too.
func TestAllocs(t *testing.T) {
	nothing := func() {}
	v := clock.NewVirtual()
	for _, c := range []struct {
		clock string
		s     *timer.Service
		opts  []timer.Option
	}{
		{"monotonic", timer.Default(), nil},
		{"virtual", timer.For(v), []timer.Option{timer.On(v)}},
	} {
		now := c.s.Clock().Now()
		o, k := newOwner(), newKeeper()
		word := k.arm(c.s, now.Add(time.Hour))
		kept := timer.AfterFunc(time.Hour, nothing, c.opts...)
		every := timer.Every(time.Hour, func(clock.Instant, int) {}, c.opts...)
		i := 0
		for _, b := range []struct {
			name   string
			budget float64
			f      func()
		}{
			{"Schedule and Cancel", 0, func() { c.s.Schedule(&o.Entry, now.Add(time.Hour)); c.s.Cancel(&o.Entry) }},
			{"Schedule earlier and earlier", 0, func() { c.s.Schedule(&o.Entry, now.Add(2*time.Hour-time.Duration(i)*time.Millisecond)) }},
			{"Cover what is covered", 0, func() { k.resolve(word); word = k.arm(c.s, now.Add(time.Hour)) }},
			{"Cover earlier", 0, func() { k.resolve(word); word = k.arm(c.s, now.Add(time.Hour-time.Duration(i)*time.Millisecond)) }},
			{"Reset", 0, func() { kept.Reset(time.Hour + time.Duration(i)*time.Second) }},
			{"Stop and Reset", 0, func() { kept.Stop(); kept.Reset(time.Hour) }},
			{"Reset of a periodic one", 0, func() { every.Reset(time.Hour) }},
			{"AfterFunc and Stop", 1, func() { timer.AfterFunc(time.Hour, nothing, c.opts...).Stop() }},
			{"Next and Stats", 0, func() { c.s.Next(); c.s.Stats() }},
		} {
			if got := testing.AllocsPerRun(1000, func() { i++; b.f() }); got > b.budget {
				t.Errorf("%s clock: %s: %v allocations, want %v", c.clock, b.name, got, b.budget)
			}
		}
		c.s.Cancel(&o.Entry)
		c.s.Cancel(&k.Entry)
		kept.Stop()
		every.Stop()
	}
}

// TestEntrySize: an entry is embedded in whatever has a timeout.
func TestEntrySize(t *testing.T) {
	const pointer = 32 << (^uintptr(0) >> 63) / 8
	if got, want := reflect.TypeFor[timer.Entry]().Size(), uintptr(4*pointer+16); got > want {
		t.Errorf("an Entry has %d bytes, want at most %d", got, want)
	}
}

// TestAllocsFire: an expiry allocates nothing of its own.
func TestAllocsFire(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.For(v)
	n := 0
	o := &counter{n: &n}
	o.Init(o)
	got := testing.AllocsPerRun(1000, func() {
		s.Schedule(&o.Entry, v.Now().Add(100))
		v.Advance(100)
	})
	if got != 0 || n < 1000 {
		t.Errorf("%v allocations for %d firings", got, n)
	}
}

type counter struct {
	timer.Entry
	n *int
}

func (c *counter) Due(now clock.Instant) (clock.Instant, bool) { return now, true }
func (c *counter) Fire(clock.Instant)                          { *c.n++ }
