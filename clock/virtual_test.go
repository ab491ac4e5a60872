package clock_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

// tape records which alarms of a virtual clock came when. The goroutine that moves the clock writes it.
type tape struct {
	v    *clock.Virtual
	seen []string
	at   []clock.Instant
}

func (p *tape) alarm(name string, then ...func(now clock.Instant)) clock.Alarm {
	return p.v.NewAlarm(func(now clock.Instant) {
		p.seen = append(p.seen, name)
		p.at = append(p.at, now)
		for _, f := range then {
			f(now)
		}
	})
}

func (p *tape) expect(t *testing.T, when string, seen []string, at []clock.Instant) {
	t.Helper()
	if !slices.Equal(p.seen, seen) || !slices.Equal(p.at, at) {
		t.Fatalf("%s: %v at %v, want %v at %v", when, p.seen, p.at, seen, at)
	}
	p.seen, p.at = nil, nil
}

func newTape() *tape { return &tape{v: clock.NewVirtual()} }

func TestVirtualStandsStill(t *testing.T) {
	v := clock.NewVirtual()
	if v.Now() != 0 {
		t.Errorf("new: %v", v.Now())
	}
	v.Advance(0)
	if v.Now() != 0 {
		t.Errorf("advanced by nothing: %v", v.Now())
	}
	v.Advance(5)
	v.Advance(year)
	if want := clock.Instant(5).Add(year); v.Now() != want {
		t.Errorf("advanced: %v, want %v", v.Now(), want)
	}
	v.Advance(290 * year)
	v.Advance(290 * year)
	if v.Now() < clock.Instant(290*year) {
		t.Errorf("advanced by centuries: %v", v.Now())
	}
}

// TestVirtualStaysBeforeForever: Forever is later than every reading.
func TestVirtualStaysBeforeForever(t *testing.T) {
	v := clock.NewVirtual()
	v.Advance(290 * year)
	v.Advance(290 * year)
	if v.Now() >= clock.Forever {
		t.Errorf("the clock reads %v", v.Now())
	}
}

func TestVirtualOrder(t *testing.T) {
	p := newTape()
	names := []string{"a", "b", "c", "d", "e"}
	at := []clock.Instant{30, 10, 20, 10, 30}
	for i, name := range names {
		p.alarm(name).Set(at[i])
	}
	p.v.Advance(9)
	p.expect(t, "before all", nil, nil)
	p.v.Advance(1)
	p.expect(t, "equal times, in order of setting", []string{"b", "d"}, []clock.Instant{10, 10})
	p.v.Advance(100)
	p.expect(t, "the rest", []string{"c", "a", "e"}, []clock.Instant{20, 30, 30})
	if p.v.Now() != 110 {
		t.Errorf("the clock stands at %v", p.v.Now())
	}
}

// TestVirtualShowsTheTime: during a call the clock shows what was asked for, not where Advance ends.
func TestVirtualShowsTheTime(t *testing.T) {
	v := clock.NewVirtual()
	var saw []clock.Instant
	for _, at := range []clock.Instant{7, 3, 5} {
		v.NewAlarm(func(now clock.Instant) { saw = append(saw, now, v.Now()) }).Set(at)
	}
	v.Advance(100)
	if want := []clock.Instant{3, 3, 5, 5, 7, 7}; !slices.Equal(saw, want) {
		t.Errorf("saw %v, want %v", saw, want)
	}
}

func TestVirtualMoveAndClear(t *testing.T) {
	p := newTape()
	a, b, c := p.alarm("a"), p.alarm("b"), p.alarm("c")
	a.Clear() // never set
	a.Set(10)
	b.Set(10)
	c.Set(10)
	a.Set(10) // set again: behind the others
	p.v.Advance(10)
	p.expect(t, "moved to the same time", []string{"b", "c", "a"}, []clock.Instant{10, 10, 10})

	a.Set(20)
	b.Set(30)
	c.Set(40)
	c.Set(15)            // earlier
	a.Set(35)            // later
	b.Set(clock.Forever) // never
	p.v.Advance(100)
	p.expect(t, "moved", []string{"c", "a"}, []clock.Instant{15, 35})

	a.Set(1000)
	a.Clear()
	a.Clear()
	if p.v.Jump() {
		t.Error("Jump found something after Clear and Set(Forever)")
	}
	p.v.Advance(10000)
	p.expect(t, "cleared", nil, nil)
}

// TestVirtualSetFromAlarm: what is set on the way and due on the way comes on the way.
func TestVirtualSetFromAlarm(t *testing.T) {
	p := newTape()
	late := p.alarm("late")
	inner := p.alarm("inner")
	p.alarm("outer", func(now clock.Instant) {
		inner.Set(now.Add(5))
		late.Set(now.Add(100))
	}).Set(10)
	other := p.alarm("other")
	other.Set(15) // equal to inner's, set before
	gone := p.alarm("gone")
	p.alarm("clears", func(clock.Instant) { gone.Clear() }).Set(11)
	gone.Set(12)
	p.v.Advance(50)
	p.expect(t, "within", []string{"outer", "clears", "other", "inner"}, []clock.Instant{10, 11, 15, 15})
	p.v.Advance(60)
	p.expect(t, "later", []string{"late"}, []clock.Instant{110})
}

func TestVirtualSetsItself(t *testing.T) {
	v := clock.NewVirtual()
	n := 0
	var a clock.Alarm
	a = v.NewAlarm(func(now clock.Instant) {
		n++
		a.Set(now.Add(time.Second))
	})
	a.Set(clock.Instant(time.Second))
	v.Advance(time.Minute)
	if n != 60 {
		t.Errorf("called %d times in a minute, want 60", n)
	}
}

// TestVirtualMovedFromAlarm: a function that moves the clock on takes its mover along; the clock never goes back.
func TestVirtualMovedFromAlarm(t *testing.T) {
	p := newTape()
	p.alarm("moves", func(clock.Instant) { p.v.Advance(100) }).Set(10)
	p.alarm("inner").Set(50)
	p.alarm("later").Set(150)
	p.v.Advance(20)
	p.expect(t, "moved on", []string{"moves", "inner"}, []clock.Instant{10, 50})
	if p.v.Now() != 110 {
		t.Errorf("the clock stands at %v, want 110", p.v.Now())
	}
}

// TestVirtualPastFromAlarm: an instant that has passed, set while the clock moves, comes before the clock moves on:
// the mover calls everything that is due on the way.
func TestVirtualPastFromAlarm(t *testing.T) {
	v := clock.NewVirtual()
	var c calls
	const n = 100
	v.NewAlarm(func(now clock.Instant) {
		for range n {
			v.NewAlarm(c.f).Set(now - 5)
		}
	}).Set(10)
	v.NewAlarm(c.f).Set(20)
	v.Advance(100)
	c.mu.Lock()
	defer c.mu.Unlock()
	want := append(slices.Repeat([]clock.Instant{10}, n), 20)
	if !slices.Equal(c.at, want) {
		t.Errorf("when Advance returned: %d calls, at %v; want %d at 10, then one at 20", len(c.at), c.at, n)
	}
}

// TestVirtualPast: nobody may move the clock again, so an instant that has passed comes by itself.
func TestVirtualPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		v := clock.NewVirtual()
		v.Advance(100)
		a := v.NewAlarm(c.f)
		for _, at := range []clock.Instant{100, 99, 0, -1} {
			c.mu.Lock() // from another goroutine
			a.Set(at)
			c.mu.Unlock()
			c.expect(t, "set in the past", 100)
		}
		a.Set(150)
		a.Set(50) // moved into the past: once
		c.expect(t, "moved into the past", 100)
		v.Advance(100)
		c.expect(t, "afterwards")
	})
}

func TestVirtualJump(t *testing.T) {
	p := newTape()
	if p.v.Jump() {
		t.Error("nothing is set: true")
	}
	again := p.alarm("again")
	p.alarm("a", func(now clock.Instant) { again.Set(now.Add(1)) }).Set(20)
	p.alarm("b").Set(20)
	p.alarm("c").Set(10)
	p.alarm("never").Set(clock.Forever)
	for _, want := range []struct {
		seen []string
		at   []clock.Instant
	}{
		{[]string{"c"}, []clock.Instant{10}},
		{[]string{"a", "b"}, []clock.Instant{20, 20}}, // all of that time, and no further
		{[]string{"again"}, []clock.Instant{21}},
	} {
		if !p.v.Jump() {
			t.Fatalf("false before %v", want.seen)
		}
		if p.v.Now() != want.at[0] {
			t.Fatalf("jumped to %v, want %v", p.v.Now(), want.at[0])
		}
		p.expect(t, "jumped", want.seen, want.at)
	}
	if p.v.Jump() {
		t.Error("nothing is left: true")
	}
	if p.v.Now() != 21 {
		t.Errorf("a Jump for nothing moved the clock to %v", p.v.Now())
	}
}

func TestVirtualAdvanceNegative(t *testing.T) {
	v := clock.NewVirtual()
	defer func() {
		want := "bide/clock: Advance by -1ns: a clock does not run backwards"
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
		v.Advance(1) // usable
	}()
	v.Advance(-1)
}

// TestVirtualPanickingAlarm: whoever recovers finds a clock that works, and stands where the panic came.
func TestVirtualPanickingAlarm(t *testing.T) {
	for name, move := range map[string]func(v *clock.Virtual){
		"Advance": func(v *clock.Virtual) { v.Advance(100) },
		"Jump":    func(v *clock.Virtual) { v.Jump() },
	} {
		p := newTape()
		p.alarm("a", func(clock.Instant) { panic("as it were") }).Set(10)
		p.alarm("b").Set(20)
		func() {
			defer func() {
				if got := recover(); got != "as it were" {
					t.Errorf("%s: panic %v", name, got)
				}
			}()
			move(p.v)
		}()
		if p.v.Now() != 10 {
			t.Errorf("%s: the clock stands at %v", name, p.v.Now())
		}
		p.expect(t, name, []string{"a"}, []clock.Instant{10})
		move(p.v)
		p.expect(t, name+" again", []string{"b"}, []clock.Instant{20})
	}
}

// TestVirtualGoexitInAlarm: the same for runtime.Goexit, which ends the goroutine that moves the clock.
func TestVirtualGoexitInAlarm(t *testing.T) {
	p := newTape()
	p.alarm("a", func(clock.Instant) { runtime.Goexit() }).Set(10)
	p.alarm("b").Set(20)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.v.Advance(100)
	}()
	<-done
	p.v.Advance(100)
	p.expect(t, "after Goexit", []string{"a", "b"}, []clock.Instant{10, 20})
}

func TestVirtualTime(t *testing.T) {
	v := clock.NewVirtual()
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, i := range []clock.Instant{0, 1, -1, clock.Instant(time.Hour), clock.Instant(year), clock.Forever - 1, clock.Forever} {
		tm, ok := v.Time(i)
		if ok {
			t.Errorf("Time(%v): ok, but time.Now is another clock's", i)
		}
		if want := epoch.Add(time.Duration(i)); !tm.Equal(want) {
			t.Errorf("Time(%v) = %v, want %v", i, tm, want)
		}
		if got := v.FromTime(tm); got != i {
			t.Errorf("FromTime(Time(%d)) = %d", i, got)
		}
		if got := v.FromTime(tm.In(time.FixedZone("elsewhere", -7200))); got != i {
			t.Errorf("FromTime(Time(%d) elsewhere) = %d", i, got)
		}
	}
	if got := v.FromTime(time.Time{}); got >= 0 {
		t.Errorf("the zero time is %v: not in the past", got)
	}
	if got := v.FromTime(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)); got != clock.Forever {
		t.Errorf("the year 9999 is %v", got)
	}
	v.Advance(time.Hour) // its own time, wherever it stands
	if got := v.FromTime(epoch.Add(time.Minute)); got != clock.Instant(time.Minute) {
		t.Errorf("a minute past epoch is %v", got)
	}
}

// TestVirtualTogether is for the race detector, and counts: each alarm that was set and not cleared comes once.
func TestVirtualTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // to wait for calls by other goroutines: the clock may have passed an alarm
		v := clock.NewVirtual()
		var wg sync.WaitGroup
		var came atomic.Int64
		const goroutines, rounds = 6, 300
		for g := range goroutines {
			wg.Go(func() {
				kept := v.NewAlarm(func(clock.Instant) {})
				for i := range rounds {
					v.NewAlarm(func(now clock.Instant) {
						if v.Now() < now {
							t.Error("the clock shows less than it gave")
						}
						came.Add(1)
					}).Set(v.Now().Add(time.Duration(1000*rounds + i)))
					switch (i + g) % 4 {
					case 0:
						v.Advance(time.Duration(i))
					case 1:
						v.Jump()
					case 2:
						kept.Set(v.Now().Add(3))
					case 3:
						kept.Clear()
					}
				}
			})
		}
		wg.Wait()
		v.Advance(time.Hour)
		synctest.Wait()
		if got := came.Load(); got != goroutines*rounds {
			t.Errorf("%d alarms came, want %d", got, goroutines*rounds)
		}
	})
}
