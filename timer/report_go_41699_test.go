package timer

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
)

// golang/go#41699. 160 000 connections, each of which moved its read deadline earlier again and again: the runtime sorted
// its timers all the time, and took all processors.
//
// Here moving is unlinking and linking, in constant time. Nobody is looked at for it, the alarm is moved once a slot at
// most, and a driver looks at each once a level.
func TestReportGo41699(t *testing.T) {
	const rounds = 4
	conns := 160_000
	if invariant.On { // or it takes seconds
		conns /= 10
	}
	h := new(hand)
	s := newService(h, h.NewAlarm, 1, coarse)
	a := h.alarms[0]
	all := make([]conn, conns)
	sets := 0
	for round := range rounds + 1 {
		base := clock.Instant(time.Duration(rounds+1-round) * time.Minute)
		for i := range all {
			c := &all[i]
			if round == 0 {
				c.Init(c)
			}
			c.due = base - clock.Instant(i)*clock.Instant(time.Microsecond) // earlier than all others as well
			s.Schedule(&c.Entry, c.due)
		}
		sets, a.sets = max(sets, a.sets), 0
	}
	st := s.Stats()
	if st.Scheduled != int64(conns*(rounds+1)) || st.Pending != conns || st.Moved+st.Dropped+st.Fired+st.Wakes != 0 {
		t.Errorf("for moving alone: %+v", st)
	}
	if sets > 64 {
		t.Errorf("the alarm was set %d times for %d deadlines", sets, conns)
	}
	for s.Stats().Pending > 0 {
		a.drive(max(a.at, h.Now()))
	}
	st = s.Stats()
	for i := range all {
		if c := &all[i]; c.fired < c.due || c.fired >= c.due+2<<coarse {
			t.Fatalf("due at %v, fired at %v", c.due, c.fired)
		}
	}
	const levels = 3 // a minute is 57 000 ticks
	if n := int64(conns); st.Fired != n || st.Dropped != 0 || st.Moved > levels*n || st.Wakes > 200+n/batch+levels*n/looks {
		t.Errorf("until all had come: %+v", st)
	}
	t.Logf("the alarm was set %d times; %d moves, %d wakes", sets, st.Moved, st.Wakes)
}

type conn struct {
	Entry
	due, fired clock.Instant
}

func (c *conn) Due(now clock.Instant) (clock.Instant, bool) { return c.due, c.due <= now }
func (c *conn) Fire(now clock.Instant)                      { c.fired = now }
