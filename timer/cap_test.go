package timer_test

import (
	"errors"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

func TestCap(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v, timer.Cap(2))
	a, b, c := newOwner(), newOwner(), newOwner()
	for _, o := range []*owner{a, b} {
		o.at = 10
		if _, err := s.TrySchedule(&o.Entry, 10); err != nil {
			t.Fatal(err)
		}
	}
	c.at = 5
	_, err := s.TrySchedule(&c.Entry, 5)
	var full *timer.FullError
	if !errors.As(err, &full) || full.Cap != 2 || s.Stats().Pending != 2 {
		t.Errorf("the third: %v, %d pending", err, s.Stats().Pending)
	}
	if want := "bide/timer: 2 entries are pending, as many as the service's cap allows: cancel some, or try later"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if next, err := s.TrySchedule(&a.Entry, 4); err != nil || !next {
		t.Errorf("moving what is linked: %v, %v", next, err)
	}
	if _, err := s.TrySchedule(&c.Entry, clock.Forever); err != nil {
		t.Errorf("taking out: %v", err)
	}
	s.Cancel(&b.Entry)
	if _, err := s.TrySchedule(&c.Entry, 5); err != nil {
		t.Errorf("after a Cancel: %v", err)
	}
	s.Schedule(&b.Entry, 6) // does not ask
	v.Advance(100)
	if s.Stats().Pending != 0 || len(c.fired) != 1 {
		t.Errorf("%+v, fired %v", s.Stats(), c.fired)
	}
	expectPanic(t, "without an owner", "bide/timer: Schedule of an Entry without an owner: call Init first", func() {
		s.TrySchedule(new(timer.Entry), 1)
	})
}
