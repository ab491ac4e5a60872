package timer

import (
	"slices"
	"testing"

	"bide.invalid/bide/clock"
)

// TestBusyOwnersStarveNobody: owners, twice as many as a batch has, schedule themselves for now whenever they are fired,
// so that every batch is full of them. They are later than what was due before they were fired, and behind what is due at
// the same instant, so all others come: each within the drivers that those before it need.
func TestBusyOwnersStarveNobody(t *testing.T) {
	for name, shift := range map[string]uint8{"heap": exact, "wheel": 0} {
		for _, c := range []struct{ step, back clock.Instant }{
			{1, 0}, {1, 1}, {1, 50}, // a driver a nanosecond; they schedule themselves for now, or for that long ago
			{0, 0}, // the clock stands still
		} {
			h := new(hand)
			s := newService(h, h.NewAlarm, 1, shift)
			a := h.alarms[0]
			calls := 0
			var busy, others []*once
			add := func() {
				for i := range clock.Instant(30) {
					others = append(others, newOnce(s, 1000+c.step*i*10))
				}
			}
			add()
			for range 2 * batch {
				o := newOnce(s, 1000)
				busy = append(busy, o)
				o.then = func(now clock.Instant) {
					calls++
					o.due, o.idle = now-c.back, false
					s.Schedule(&o.Entry, o.due)
				}
			}
			add()
			const drivers = 400
			var late *once
			var lateFrom clock.Instant
			for i := range clock.Instant(drivers) {
				now := 1000 + c.step*i
				if i%100 == 99 {
					late = newOnce(s, now) // comes when all are busy
					lateFrom = i
				}
				if a.drive(now); calls > int(i+1)*batch {
					t.Fatalf("%s: %d calls by %d drivers", name, calls, i+1)
				}
				const wait = 12 // drivers: twice as many as all that there are need
				for _, o := range others {
					if i > c.step*(o.due-1000)+c.back+wait && len(o.fired) != 1 {
						t.Fatalf("%s, %+v: due at %d, fired at %v after %d drivers", name, c, o.due, o.fired, i)
					}
				}
				if late != nil && i > lateFrom+c.back+wait && len(late.fired) != 1 {
					t.Fatalf("%s, %+v: linked for driver %d, fired at %v after %d", name, c, lateFrom, late.fired, i)
				}
			}
			for i, o := range busy {
				if len(o.fired) < drivers/4 { // each second driver could have called it
					t.Fatalf("%s, %+v: of the busy ones number %d was called %d times", name, c, i, len(o.fired))
				}
			}
		}
	}
}

// TestCrowdedSlotStarvesNobody: a coarse slot of the wheel has several times what a driver looks at, and all of it is due
// later. What is due at once comes when the slot is empty: who is last in it, and who is linked while it is emptied.
func TestCrowdedSlotStarvesNobody(t *testing.T) {
	h := new(hand)
	s := newService(h, h.NewAlarm, 1, 0)
	a := h.alarms[0]
	const n, slot = 5 * looks, 1 << 18 // one slot of level 3
	for i := range clock.Instant(n) {
		newOnce(s, slot+1+i)
	}
	last := newOnce(s, slot)
	a.drive(slot)
	if st := s.Stats(); st.Moved != looks || st.Fired != 0 {
		t.Fatalf("the first driver: %+v", st)
	}
	now := newOnce(s, slot)
	for range n/looks + 1 {
		a.drive(slot)
	}
	expect := []clock.Instant{slot}
	if !slices.Equal(last.fired, expect) || !slices.Equal(now.fired, expect) || s.Stats().Moved != n {
		t.Errorf("last in the slot: fired at %v; linked meanwhile: %v; %+v", last.fired, now.fired, s.Stats())
	}
	for s.Stats().Pending > 0 {
		before := s.Stats()
		if a.drive(a.at); s.Stats().Moved-before.Moved+s.Stats().Fired-before.Fired > looks {
			t.Fatalf("a driver looked at %+v, before %+v", s.Stats(), before)
		}
	}
	if st := s.Stats(); st.Fired != n+2 || st.Worst != 0 {
		t.Errorf("%+v", st)
	}
}
