package timer

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"bide.invalid/bide/clock"
)

// TestAlarmIsForTheNextLook: poked when the new deadline is earlier, never when it is later.
func TestAlarmIsForTheNextLook(t *testing.T) {
	s, sh, _, a := byHand()
	var e [4]*once
	e[0] = newOnce(s, 50)
	a.expect(t, "first", 50, 1)
	e[1] = newOnce(s, 60)
	a.expect(t, "later", 50, 0)
	e[2] = newOnce(s, 50)
	a.expect(t, "equal", 50, 0)
	e[3] = newOnce(s, 40)
	a.expect(t, "earlier", 40, 1)
	if was, wasNext := s.Cancel(&e[3].Entry); !was || !wasNext {
		t.Errorf("Cancel of the next one: %v, %v", was, wasNext)
	}
	a.expect(t, "canceled: it is left alone", 40, 0)
	a.drive(40)
	a.expect(t, "woken for nothing", 50, 1)
	a.drive(55)
	a.expect(t, "two fired", 60, 1)
	s.Cancel(&e[1].Entry)
	a.drive(60)
	a.expect(t, "nothing pending", clock.Forever, 0)
	if sh.target != clock.Forever {
		t.Errorf("nothing pending: target %v", sh.target)
	}
	if len(e[0].fired) != 1 || len(e[2].fired) != 1 || len(e[1].fired)+len(e[3].fired) != 0 {
		t.Error("the wrong ones fired")
	}
}

// TestIsNext: whether the alarm was moved is what Schedule reports, and Cancel whether it was set for the entry.
func TestIsNext(t *testing.T) {
	s, _, h, a := byHand()
	h.set(100)
	a.drive(100)
	for _, c := range []struct {
		name             string
		at               clock.Instant
		is, was, wasNext bool
	}{
		{"future", 110, true, true, true},
		{"now", 100, true, true, true},
		{"past", 50, true, true, true},
		{"zero", 0, true, true, true},
		{"far", 1 << 40, true, true, true},
		{"forever", clock.Forever, false, false, false},
	} {
		e := &once{due: c.at}
		e.Init(e)
		is := s.Schedule(&e.Entry, c.at)
		was, wasNext := s.Cancel(&e.Entry)
		if is != c.is || was != c.was || wasNext != c.wasNext {
			t.Errorf("%s: isNext %v, was %v, wasNext %v; want %v, %v, %v", c.name, is, was, wasNext, c.is, c.was, c.wasNext)
		}
		if was, wasNext := s.Cancel(&e.Entry); was || wasNext {
			t.Errorf("%s: canceled twice: %v, %v", c.name, was, wasNext)
		}
		a.drive(100) // the alarm forgets
	}
	e := newOnce(s, 200)
	later := &once{}
	later.Init(later)
	if s.Schedule(&later.Entry, 300) {
		t.Error("isNext behind another")
	}
	if was, wasNext := s.Cancel(&later.Entry); !was || wasNext {
		t.Errorf("Cancel behind another: %v, %v", was, wasNext)
	}
	s.Cancel(&e.Entry)
}

// TestAlarmIsSetBeforeFire: a function may panic, or call Goexit, or not return for long.
func TestAlarmIsSetBeforeFire(t *testing.T) {
	s, _, _, a := byHand()
	var at []clock.Instant
	for range batch + 1 {
		o := newOnce(s, 10)
		o.then = func(clock.Instant) { at = append(at, a.at) }
	}
	newOnce(s, 20)
	a.drive(10)
	if len(at) != batch {
		t.Fatalf("%d fired, want a batch", len(at))
	}
	for _, at := range at {
		if at != 10 {
			t.Fatalf("while a full batch fires the alarm is set for %v, want at once", at)
		}
	}
	a.drive(10)
	if len(at) != batch+1 || at[batch] != 20 {
		t.Errorf("the rest: %v", at[batch:])
	}
}

// TestMinimumIsReadAgain: what a function schedules earlier than the driver's next look gets an alarm of its own.
func TestMinimumIsReadAgain(t *testing.T) {
	s, _, _, a := byHand()
	var inner *once
	o := newOnce(s, 10)
	late := newOnce(s, 1000)
	o.then = func(now clock.Instant) {
		a.expect(t, "before the function", 1000-1000%64, 2)
		inner = newOnce(s, 15)
	}
	a.drive(10)
	a.expect(t, "an earlier one was added", 15, 1)
	a.drive(15)
	if len(inner.fired) != 1 || len(late.fired) != 0 {
		t.Errorf("fired: inner %v, late %v", inner.fired, late.fired)
	}
}

// TestOlderReading: two drivers, the one with the older reading of the clock comes later. It may meet what has been
// linked for the newer time; nothing is lost, nobody is told a time before his deadline.
func TestOlderReading(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		due  clock.Instant
	}{
		{"overdue", 1, 99},            // linked when base had passed it
		{"overdue batch", batch, 99},  //
		{"open slot", batch + 1, 105}, // left by a full batch
		{"open slots", 3*batch - 1, 105},
	} {
		s, sh, h, _ := byHand()
		services.Store(keyOf(h), weak.Make(s)) // what AfterFunc asks For
		fired := 0
		if c.due < 100 {
			sh.drive(100) // base is 100
			h.set(100)
		}
		for range c.n {
			AfterFunc(0, func() { fired++ }, On(h), Inline()).ResetAt(c.due)
		}
		if c.due > 100 {
			sh.drive(c.due)
		}
		for range 4 {
			sh.drive(90)
		}
		if fired != c.n {
			t.Errorf("%s: %d of %d fired", c.name, fired, c.n)
		}

		var early bool
		o := newOnce(s, c.due-1)
		o.then = func(now clock.Instant) { early = now < c.due-1 }
		sh.drive(80)
		if len(o.fired) != 1 || early {
			t.Errorf("%s: an owner fired %v for a deadline of %v", c.name, o.fired, c.due-1)
		}
	}
}

// TestGoexitLosesNobody: functions that call Goexit, in every place of several batches.
func TestGoexitLosesNobody(t *testing.T) {
	for _, every := range []int{1, 2, 63, 64, 65, 150} {
		s, _, _, a := byHand()
		const n = 3*batch + 7
		var wg sync.WaitGroup
		wg.Add(n)
		owners := make([]*once, n)
		for i := range owners {
			owners[i] = newOnce(s, 10)
			owners[i].then = func(clock.Instant) {
				wg.Done()
				if i%every == 0 {
					runtime.Goexit()
				}
			}
		}
		for range n/batch + 1 {
			done := make(chan struct{})
			go func() {
				defer close(done)
				a.drive(10)
			}()
			<-done
		}
		wg.Wait() // forever, if somebody was lost
		for i, o := range owners {
			if len(o.fired) != 1 {
				t.Fatalf("every %d: owner %d fired %d times", every, i, len(o.fired))
			}
		}
		a.expect(t, "afterwards", clock.Forever, 1+n/batch) // and at the first Schedule
	}
}

// TestPanicLosesNobody: on a virtual clock, and in Expire, a caller may recover.
func TestPanicLosesNobody(t *testing.T) {
	s, _, _, _ := byHand()
	const n = 10
	var wg sync.WaitGroup
	wg.Add(n)
	for i := range n {
		newOnce(s, 10).then = func(clock.Instant) {
			wg.Done()
			if i == 3 {
				panic("as it were")
			}
		}
	}
	func() {
		defer func() {
			if got := recover(); got != "as it were" {
				t.Errorf("recovered %v", got)
			}
		}()
		s.Expire(10)
	}()
	wg.Wait()
}

// TestTwoDrivers: the second driver comes while the first still fires, and takes what is left, and what is new.
func TestTwoDrivers(t *testing.T) {
	s, _, _, a := byHand()
	const n = 2*batch + 10
	owners := make([]*once, n)
	nested := 0
	for i := range owners {
		owners[i] = newOnce(s, 10)
		if i%batch == 5 {
			owners[i].then = func(now clock.Instant) {
				nested++
				newOnce(s, now)
				a.f(now) // another driver, in the middle of this one
			}
		}
	}
	a.drive(10)
	for i, o := range owners {
		if len(o.fired) != 1 {
			t.Errorf("owner %d fired %d times", i, len(o.fired))
		}
	}
	if st := s.Stats(); nested != 3 || st.Fired != n+3 || st.Pending != 0 {
		t.Errorf("%d drivers in drivers, %+v", nested, st)
	}
}

// TestExpire: a driver of the caller's own, in several batches, on the calling goroutine.
func TestExpire(t *testing.T) {
	for _, n := range []int{0, 1, batch - 1, batch, batch + 1, 3 * batch, 1000} {
		s, _, h, a := byHand()
		var order []int
		for i := range n {
			at := clock.Instant(10 + i%7)
			newOnce(s, at).then = func(clock.Instant) { order = append(order, int(at)*1000+i) }
		}
		left := newOnce(s, 17)
		h.set(16)
		if got := s.Expire(9); got != 0 {
			t.Errorf("%d entries: Expire before the time: %d", n, got)
		}
		if got := s.Expire(16); got != n || len(order) != n {
			t.Errorf("%d entries: Expire %d, fired %d", n, got, len(order))
		}
		for i := range order[min(1, n):] {
			if order[i] > order[i+1] {
				t.Fatalf("%d entries: %d before %d", n, order[i], order[i+1])
			}
		}
		if a.at != 17 || len(left.fired) != 0 {
			t.Errorf("%d entries: the alarm is set for %v, want 17; %v", n, a.at, left.fired)
		}
	}
}

// TestWorst: lateness is measured from the look, not from the deadline before it was rounded.
func TestWorst(t *testing.T) {
	s, _, _, a := byHand()
	newOnce(s, 10)
	a.drive(10)
	if w := s.Stats().Worst; w != 0 {
		t.Errorf("in time: %v late", w)
	}
	newOnce(s, 20)
	a.drive(20 + clock.Instant(time.Second))
	newOnce(s, 30+clock.Instant(time.Second))
	a.drive(31 + clock.Instant(time.Second))
	if w := s.Stats().Worst; w != time.Second {
		t.Errorf("late: %v", w)
	}
}

// TestCascadeInPieces: a coarse slot with many entries is emptied a piece at a time; the alarm calls the next driver
// at once, and Expire goes on by itself. Nothing is early, nothing is lost, and the order of ticks stays.
func TestCascadeInPieces(t *testing.T) {
	const n = 2*looks + 100
	for _, expire := range []bool{false, true} {
		s, _, h, a := byHand()
		owners := make([]*once, n)
		var last clock.Instant
		for i := range owners {
			due := clock.Instant(4096 + 64 + i%4000)
			owners[i] = newOnce(s, due)
			owners[i].then = func(now clock.Instant) {
				if now < due || due < last && now != due {
					t.Errorf("due %d fired at %d, after %d", due, now, last)
				}
				last = due
			}
		}
		if expire {
			h.set(4096)
			if got := s.Expire(4096); got != 0 || s.Stats().Moved < n {
				t.Errorf("Expire: %d fired, %d moved", got, s.Stats().Moved)
			}
		}
		for drives, moved := 0, s.Stats().Moved; s.Stats().Pending > 0; drives++ {
			if a.at == clock.Forever || drives > 10*n {
				t.Fatalf("%d pending, the alarm is set for %v", s.Stats().Pending, a.at)
			}
			a.drive(max(a.at, h.Now()))
			if m := s.Stats().Moved - moved; m > looks {
				t.Fatalf("one driver looked %d times", m)
			}
			moved = s.Stats().Moved
		}
		if got := s.Stats().Fired; got != n {
			t.Errorf("%d of %d fired", got, n)
		}
	}
}
