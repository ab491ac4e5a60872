package clock

import (
	"sync"
	"time"
)

// A runtimeAlarm is an alarm over runtime timers: portable, and the only kind that works in a synctest bubble. On Linux
// it comes up to a millisecond late.
//
// A runtime timer belongs to the world in which it was made, a bubble or the one outside; to move it from another one
// is a fatal error, or sets it by the wrong clock. So each world has a setting of its own: what is done in a bubble
// leaves alone what was set outside.
type runtimeAlarm struct {
	f    func(Instant)
	now  func() Instant // nil: the monotonic clock
	look time.Duration  // for a clock that does not go as runtime timers do: look at it so often; or 0

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
	if d := a.rest(s, now); s.t == nil {
		s.t = time.AfterFunc(d, func() { a.come(s) })
	} else {
		s.t.Reset(d)
	}
}

func (a *runtimeAlarm) Clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := &a.outside; InBubble() {
		a.clearInside()
	} else if s.t != nil {
		s.t.Stop()
		s.at = Forever
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

// come is called by the timer of s, on a goroutine of its own.
func (a *runtimeAlarm) come(s *setting) {
	a.mu.Lock()
	if s != &a.outside && s != a.inside || s.at == Forever { // taken back, or an earlier call was for the last Set
		a.mu.Unlock()
		return
	}
	now, _ := a.read()
	if now < s.at { // it was moved, or the clock has not gone as the timer has
		s.t.Reset(a.rest(s, now))
		a.mu.Unlock()
		return
	}
	s.at = Forever
	a.mu.Unlock()
	a.f(now)
}

// rest is how long the timer of s is to run. In a bubble all clocks go as the timers do.
//
// Preconditions: mu held.
func (a *runtimeAlarm) rest(s *setting, now Instant) time.Duration {
	d := s.at.Sub(now)
	if a.look > 0 && s == &a.outside {
		d = min(d, a.look)
	}
	return d
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
