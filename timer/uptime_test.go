package timer_test

import (
	"math/bits"
	"slices"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

const year = 365 * 24 * time.Hour

// TestUptimeOfCenturies: at every age of the clock, timers at every distance come exactly, and in few hops.
func TestUptimeOfCenturies(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	type pending struct {
		*owner
		at clock.Instant
	}
	var all []pending
	var fired []clock.Instant
	add := func(at clock.Instant) {
		o := newOwner()
		o.fire = func(clock.Instant) { fired = append(fired, v.Now()) }
		o.schedule(s, at)
		all = append(all, pending{o, at})
	}
	for _, age := range []time.Duration{0, 1, 30 * year, 7 * year, 50 * year, 1 << 60, 80 * year} {
		v.Advance(age)
		now := v.Now()
		for shift := range 63 {
			for _, d := range []time.Duration{1<<shift - 1, 1 << shift, 1<<shift + 1} {
				if at := now.Add(max(d, 1)); at < clock.Forever {
					add(at)
				}
			}
		}
		add(clock.Forever - 1)
		v.Advance(10 * year)
	}
	last := clock.Instant(0)
	for v.Jump() { // to the last nanosecond
		last = v.Now()
	}
	if last != clock.Forever-1 {
		t.Errorf("the last timer came at %d, want %d", last, clock.Forever-1)
	}
	if len(fired) != len(all) {
		t.Errorf("%d of %d fired", len(fired), len(all))
	}
	for _, p := range all {
		if !slices.Equal(p.fired, []clock.Instant{p.at}) {
			t.Errorf("deadline %d: fired at %v", p.at, p.fired)
		}
		if len(p.asked) > 12 {
			t.Errorf("deadline %d: looked at %d times", p.at, len(p.asked))
		}
	}
	if !slices.IsSorted(fired) {
		t.Error("out of order")
	}
	if st := s.Stats(); st.Pending != 0 || st.Worst != 0 {
		t.Errorf("%+v", st)
	}
}

// TestUptimeTimers: the same through AfterFunc, Reset and Stop, at one age after another.
func TestUptimeTimers(t *testing.T) {
	v := clock.NewVirtual()
	n, want := 0, 0
	kept := timer.AfterFunc(time.Hour, func() { n++ }, timer.On(v), timer.Inline())
	for range 28 {
		for shift := 0; shift < 58; shift += 3 {
			timer.AfterFunc(1<<shift, func() { n++ }, timer.On(v), timer.Inline())
			want++
			timer.AfterFunc(1<<shift, func() { t.Error("stopped") }, timer.On(v)).Stop()
		}
		kept.Reset(year)
		want++
		v.Advance(10*year + time.Duration(bits.Reverse64(uint64(want))>>20))
		if n != want {
			t.Fatalf("at %v: %d came, want %d", v.Now(), n, want)
		}
	}
}

// TestHopsAreFew: a look a level at most, whatever the distance, wherever the clock stands.
func TestHopsAreFew(t *testing.T) {
	for _, start := range []clock.Instant{0, 63, 64, 1<<36 - 1, 1 << 60} {
		v := clock.NewVirtual()
		s := timer.NewService(v)
		v.Advance(start.Sub(0))
		for shift := range 62 {
			d := clock.Instant(1)<<shift + 12345>>max(0, 14-shift)
			o := newOwner()
			o.schedule(s, v.Now()+d)
			asked := 0
			for len(o.fired) == 0 {
				if !v.Jump() {
					t.Fatalf("lost: start %d, distance 1<<%d", start, shift)
				}
				asked++
			}
			if most := (bits.Len64(uint64(v.Now())) + 5) / 6; asked > most+1 || len(o.asked) > most {
				t.Errorf("start %d, distance 1<<%d: %d jumps, %d looks; want at most %d", start, shift, asked, len(o.asked), most)
			}
			if shift > 55 {
				break
			}
		}
	}
}
