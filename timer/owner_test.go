package timer_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// owner does what its functions say, and keeps what it was asked. Without due, it is due at its deadline.
type owner struct {
	timer.Entry
	at   clock.Instant
	due  func(now clock.Instant) (clock.Instant, bool)
	fire func(now clock.Instant)

	mu    sync.Mutex // for drivers on goroutines of their own
	asked []clock.Instant
	fired []clock.Instant
}

func newOwner() *owner {
	o := new(owner)
	o.Init(o)
	return o
}

func (o *owner) Due(now clock.Instant) (clock.Instant, bool) {
	o.mu.Lock()
	o.asked = append(o.asked, now)
	o.mu.Unlock()
	if o.due != nil {
		return o.due(now)
	}
	if o.at > now {
		return o.at, false
	}
	return clock.Forever, true
}

func (o *owner) schedule(s *timer.Service, at clock.Instant) (isNext bool) {
	o.at = at
	return s.Schedule(&o.Entry, at)
}

func (o *owner) Fire(now clock.Instant) {
	o.mu.Lock()
	o.fired = append(o.fired, now)
	o.mu.Unlock()
	if o.fire != nil {
		o.fire(now)
	}
}

func expectTimes(t *testing.T, what string, got []clock.Instant, want ...clock.Instant) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s at %v, want %v", what, got, want)
	}
}

// TestOwnerFires: asked once, at its time, with that time; fired right after.
func TestOwnerFires(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	if s.Clock() != clock.Clock(v) {
		t.Error("the service is not on its clock")
	}
	o := newOwner()
	if !o.schedule(s, 10) {
		t.Error("the only one is not next")
	}
	v.Advance(9)
	expectTimes(t, "too early: asked", o.asked)
	v.Advance(5)
	expectTimes(t, "asked", o.asked, 10)
	expectTimes(t, "fired", o.fired, 10)
	if st := s.Stats(); st.Fired != 1 || st.Pending != 0 || st.Dropped+st.Moved+st.Canceled != 0 || st.Wakes != 1 {
		t.Errorf("%+v", st)
	}
}

// TestOwnerIsAskedAgain: an owner whose deadline has moved later is looked at then, as often as it moves.
func TestOwnerIsAskedAgain(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	o := newOwner()
	deadline := clock.Instant(10)
	o.due = func(now clock.Instant) (clock.Instant, bool) { return deadline, deadline <= now }
	o.schedule(s, deadline)
	deadline = 20 // without a call
	v.Advance(15)
	expectTimes(t, "asked", o.asked, 10)
	deadline = 30
	v.Advance(100)
	expectTimes(t, "asked", o.asked, 10, 20, 30)
	expectTimes(t, "fired", o.fired, 30)
	if st := s.Stats(); st.Moved != 2 || st.Fired != 1 {
		t.Errorf("%+v", st)
	}
}

// TestOwnerIsDropped: Forever from Due takes it out for good.
func TestOwnerIsDropped(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	o := newOwner()
	o.due = func(clock.Instant) (clock.Instant, bool) { return clock.Forever, false }
	o.schedule(s, 10)
	v.Advance(10)
	expectTimes(t, "asked", o.asked, 10)
	if _, ok := s.Next(); ok || v.Jump() {
		t.Error("something is left, or an alarm is set")
	}
	if was, _ := s.Cancel(&o.Entry); was {
		t.Error("it is still there")
	}
	if st := s.Stats(); st.Dropped != 1 || st.Pending != 0 || st.Canceled != 0 {
		t.Errorf("%+v", st)
	}
	o.schedule(s, 20) // as good as new
	v.Advance(10)
	expectTimes(t, "asked", o.asked, 10, 20)
	expectTimes(t, "fired", o.fired)
}

// TestFireCallsTheService: a function may schedule, move and cancel, itself and others.
func TestFireCallsTheService(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	self, other, victim, late := newOwner(), newOwner(), newOwner(), newOwner()
	self.fire = func(now clock.Instant) {
		if len(self.fired) < 3 {
			self.schedule(s, now.Add(5))
		}
		if len(self.fired) == 1 {
			other.schedule(s, now.Add(2)) // earlier: 100 before
			late.schedule(s, now.Add(50)) // later: 11 before
			if was, _ := s.Cancel(&victim.Entry); !was {
				t.Error("the victim was not there")
			}
		}
	}
	self.schedule(s, 10)
	other.schedule(s, 100)
	victim.schedule(s, 12)
	late.schedule(s, 11)
	v.Advance(200)
	expectTimes(t, "self fired", self.fired, 10, 15, 20)
	expectTimes(t, "other fired", other.fired, 12)
	expectTimes(t, "late fired", late.fired, 60)
	expectTimes(t, "victim fired", victim.fired)
}

// TestFireCancelsTheNext: who is behind in the driver's buffer has been asked already: Cancel says that it was not
// there, and the rest is the owner's to know.
func TestFireCancelsTheNext(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	a, b := newOwner(), newOwner()
	a.fire = func(clock.Instant) {
		if was, next := s.Cancel(&b.Entry); was || next {
			t.Errorf("Cancel of what the driver has taken: %v, %v", was, next)
		}
	}
	a.schedule(s, 10)
	b.schedule(s, 10)
	v.Advance(10)
	expectTimes(t, "b fired", b.fired, 10)
}

// TestOwnerInThePastBubble: at once, and without the clock moving.
func TestOwnerInThePastBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		s := timer.NewService(v)
		v.Advance(100)
		o := newOwner()
		for _, at := range []clock.Instant{100, 99, 1, 0, -1, -100} {
			o.asked, o.fired = nil, nil
			o.schedule(s, at)
			synctest.Wait()
			expectTimes(t, "asked", o.asked, at)
			expectTimes(t, "fired", o.fired, 100)
		}
	})
}

func TestScheduleMoves(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	o := newOwner()
	for _, at := range []clock.Instant{50, 60, 40, 40, 4000, 70} {
		o.schedule(s, at)
		if st := s.Stats(); st.Pending != 1 || st.Canceled != 0 {
			t.Fatalf("%+v", st)
		}
	}
	v.Advance(1000)
	expectTimes(t, "fired", o.fired, 70)

	o.schedule(s, 2000)
	o.schedule(s, clock.Forever) // takes it out
	if at, ok := s.Next(); ok {
		t.Errorf("Forever is pending, for %v", at)
	}
	if st := s.Stats(); st.Pending != 0 || st.Canceled != 1 {
		t.Errorf("Forever is a Cancel: %+v", st)
	}
	v.Advance(5000)
	expectTimes(t, "fired", o.fired, 70)
	if was, next := s.Cancel(&newOwner().Entry); was || next {
		t.Errorf("Cancel of an entry that was never scheduled: %v, %v", was, next)
	}
}

// TestNextIsALowerBound: never after the earliest deadline, and looking only at Next one comes there.
func TestNextIsALowerBound(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	if at, ok := s.Next(); ok {
		t.Errorf("empty, but next is %v", at)
	}
	o := newOwner()
	for _, at := range []clock.Instant{1, 63, 64, 65, 4097, 1<<36 + 1, 1<<60 + 12345} {
		o.asked, o.fired = nil, nil
		at += v.Now()
		o.schedule(s, at)
		looks := 0
		for next, ok := s.Next(); ok; next, ok = s.Next() {
			if looks++; next > at || next < v.Now() || looks > 12 {
				t.Fatalf("deadline %d: look %d is at %d, now %d", at, looks, next, v.Now())
			}
			v.Advance(next.Sub(v.Now()))
		}
		expectTimes(t, "fired", o.fired, at)
	}
}

// TestOrder: by time, and among equals in the order of scheduling, also in many batches.
func TestOrder(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	const n = 1000
	times := []clock.Instant{70, 10, 4096, 10, 64, 63, 70, 5000}
	var got []int
	for i := range n {
		o := newOwner()
		o.fire = func(clock.Instant) { got = append(got, i) }
		o.schedule(s, times[i%len(times)])
		if i%3 == 0 { // moved to where it was: behind its equals
			o.schedule(s, 1)
			o.schedule(s, times[i%len(times)])
		}
	}
	v.Advance(10000)
	want := make([]int, n)
	for i := range want {
		want[i] = i
	}
	slices.SortStableFunc(want, func(a, b int) int { return int(times[a%len(times)] - times[b%len(times)]) })
	if len(got) != n {
		t.Fatalf("%d of %d fired", len(got), n)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("number %d that fired is %d, want %d", i, got[i], want[i])
		}
	}
}

// TestOrderBehindAFullBatch: one that a function schedules for the same instant comes after those that were there.
func TestOrderBehindAFullBatch(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	const n = 200
	var got []int
	for i := range n {
		o := newOwner()
		o.fire = func(now clock.Instant) {
			got = append(got, i)
			if i == 0 {
				o := newOwner()
				o.fire = func(clock.Instant) { got = append(got, n) }
				o.schedule(s, now)
			}
		}
		o.schedule(s, 10)
	}
	v.Advance(10)
	if len(got) != n+1 || !slices.IsSorted(got) {
		t.Errorf("fired %d, the one that was added as number %d", len(got), slices.Index(got, n))
	}
}

// TestGoexitInFireBubble: a function that calls Goexit, on a goroutine of the clock's, takes nobody along.
func TestGoexitInFireBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		s := timer.NewService(v)
		var fired atomic.Int32
		const n = 200
		for i := range n {
			o := newOwner()
			o.fire = func(clock.Instant) {
				fired.Add(1)
				if i%50 == 0 {
					runtime.Goexit()
				}
			}
			o.schedule(s, clock.Instant(10+i%3))
		}
		for range 20 {
			go v.Advance(100) // it may be this goroutine that is ended
			synctest.Wait()
		}
		if fired.Load() != n {
			t.Errorf("%d of %d fired", fired.Load(), n)
		}
	})
}

func TestEntryWithoutOwner(t *testing.T) {
	s := timer.NewService(clock.NewVirtual())
	want := "bide/timer: Schedule of an Entry without an owner: call Init first"
	for name, f := range map[string]func(){
		"Schedule":         func() { s.Schedule(new(timer.Entry), 10) },
		"Schedule Forever": func() { s.Schedule(new(timer.Entry), clock.Forever) },
		"Cover":            func() { s.Cover(new(timer.Entry), 10) },
	} {
		expectPanic(t, name, want, f)
	}
	if was, next := s.Cancel(new(timer.Entry)); was || next {
		t.Errorf("Cancel of an entry without an owner: %v, %v", was, next)
	}
}

func expectPanic(t *testing.T, what, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("%s: panic %v, want %q", what, got, want)
		}
	}()
	f()
}

// TestServicesAreApart: one entry, first in one service, then in another.
func TestServicesAreApart(t *testing.T) {
	v := clock.NewVirtual()
	o := newOwner()
	var want []clock.Instant
	for range 3 {
		s := timer.NewService(v)
		o.schedule(s, v.Now().Add(10))
		v.Advance(time.Second)
		want = append(want, v.Now().Add(10-time.Second))
	}
	expectTimes(t, "fired", o.fired, want...)
}
