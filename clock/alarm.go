package clock

import (
	"sync"
	"time"
)

// A runtimeAlarm is an alarm over runtime timers: portable, and the only kind that works in a synctest bubble. On Linux
// it comes up to a millisecond late, unless it is poked.
//
// A runtime timer belongs to the world in which it was made, a bubble or the one outside; to move it from another one
// is a fatal error, or sets it by the wrong clock. So each world has a setting of its own: what is done in a bubble
// leaves alone what was set outside.
type runtimeAlarm struct {
	f    func(Instant)
	now  func() Instant // nil: the monotonic clock
	look time.Duration  // for a clock that does not go as runtime timers do: look at it so often; or 0
	poke *poker         // of a precise alarm

	mu      sync.Mutex
	outside setting  // its timer is made at the first Set, and moved from then on
	inside  *setting // of the bubble that set it last, or nil; made anew at each Set, since bubbles cannot be told apart
}

// A setting is what was set in one world.
type setting struct {
	at Instant // Forever: nothing
	t  *time.Timer
}

func (a *runtimeAlarm) Set(at Instant) {
	if at == Forever {
		a.Clear()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now, bubbled := a.read()
	s := &a.outside
	if bubbled {
		a.clearInside()
		s = new(setting)
		a.inside = s
	}
	s.at = at
	a.arm(s, now)
}

// arm sets the timer of s. In a bubble all clocks go as the timers do.
//
// Preconditions: mu held; now is a reading of the alarm's clock; s.at is an instant.
func (a *runtimeAlarm) arm(s *setting, now Instant) {
	d := s.at.Sub(now)
	outside := s == &a.outside
	if outside && a.look > 0 {
		d = min(d, a.look)
	}
	if outside && a.poke != nil {
		d -= a.poke.early(d)
	}
	if s.t == nil {
		s.t = time.AfterFunc(d, func() { a.come(s) })
	} else {
		s.t.Reset(d)
	}
	if outside && a.poke != nil {
		a.poke.set(now, d)
	}
}

func (a *runtimeAlarm) Clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := &a.outside; InBubble() {
		a.clearInside()
	} else if s.t != nil && s.at != Forever {
		s.t.Stop()
		s.at = Forever
		if a.poke != nil {
			a.poke.clear()
		}
	}
}

// clearInside stops the timer of a bubble, in that bubble or in another one.
//
// Preconditions: mu held; in a bubble.
func (a *runtimeAlarm) clearInside() {
	if a.inside != nil {
		a.inside.t.Stop()
		a.inside = nil
	}
}

// come is called by the timer of s, on a goroutine of its own. Nothing is locked while it waits in a loop: the alarm may
// be moved or cleared meanwhile, so it looks again.
func (a *runtimeAlarm) come(s *setting) {
	for {
		a.mu.Lock()
		at := s.at
		if s != &a.outside && s != a.inside || at == Forever { // taken back, or an earlier call was for the last Set
			a.mu.Unlock()
			return
		}
		now, _ := a.read()
		poked := s == &a.outside && a.poke != nil
		if poked {
			a.poke.come(now)
		}
		if now >= at {
			s.at = Forever
			a.mu.Unlock()
			a.f(now)
			return
		}
		if !poked || at.Sub(now) > mostLead { // it was moved, or the clock has not gone as the timer has
			a.arm(s, now)
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		for now < at {
			now, _ = a.read()
		}
	}
}

// read reads the alarm's clock.
func (a *runtimeAlarm) read() (now Instant, inside bool) {
	now = Now()
	inside = bubbled(now)
	if a.now != nil {
		now = a.now()
	}
	return now, inside
}
