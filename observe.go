package bide

import (
	"context"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer"
)

// Err is nil while the scope is live, and then, for ever, [context.Canceled], also once it is closed, or, if a deadline
// canceled it, [context.DeadlineExceeded]. The first two looks read the clock and see a deadline that has just passed;
// from the third on, or after a wait, it is one load, and sees it when the timer has run, about a tick (1 ms) later.
// Below a context that is not a scope it also costs that one's Err.
func (s *Scope) Err() error {
	if s.state.Load()&(observed|polls|counted|canceled|closed) == observed {
		return nil
	}
	return s.errSlow(true)
}

// errSlow is Err; point says whether it is somebody's look, and not only one of this package's own.
func (s *Scope) errSlow(point bool) error {
	for {
		st := s.state.Load()
		if point && st&counted != 0 {
			point = false
			s.point(registry.Point{})
			continue // it may have canceled s
		}
		switch {
		case st&(bridged|fired) == bridged && st&(canceled|closed) != 0:
			s.settle()
		case st&canceled != 0:
			return s.cause.Load().sentinel()
		case st&closed != 0:
			return context.Canceled
		case st&observed != 0: // polls alone is not enough: the deadline may not be in the timer service yet
			if st&polls == 0 || s.parent.Err() == nil {
				return nil
			}
			s.cancelFrom(s.parent)
		case st&looked == 0:
			s.or(looked) // S1
			if !s.look(false) {
				return nil
			}
		default:
			s.observe()
		}
	}
}

// settle returns when Done is closed: Err does not tell before, as package context promises. Preconditions: s is
// canceled or closed, and bridged.
func (s *Scope) settle() {
	if s.state.Load()&canceled == 0 {
		s.cancel(abandoned, 0, clock.Forever) // Close is about to
	}
	step.At("scope.settle")
	s.mu.Lock()   // who sets the state closes Done before he unlocks
	s.mu.Unlock() //nolint:staticcheck // waiting is the point
}

// look asks the clock and the scopes above, and cancels what has expired; it reports whether s is canceled or closed.
// It goes up to the first observed scope, whose state is kept up to date by what it is linked to; all the way up, it
// goes to the top, past timers that have not run yet. Then it comes down again, so that each scope is canceled by what
// came first: what is above it, or its own deadline.
func (s *Scope) look(allTheWay bool) (dead bool) {
	var r reading
	return s.lookAt(&r, allTheWay)
}

// lookAt is look, with a reading that the caller goes on with.
func (s *Scope) lookAt(r *reading, allTheWay bool) (dead bool) {
	if s.dead() {
		return true
	}
	var few [8]*Scope
	chain := append(few[:0], s)
	top, up := s, s.above()
	for ; up != nil; up = up.above() {
		chain, top = append(chain, up), up
		if st := up.state.Load(); st&(canceled|closed) != 0 || st&(observed|polls) == observed && !allTheWay {
			break
		}
	}
	if up == nil && top.endedAbove() {
		top.cancelFrom(top.parent)
	}
	if up == nil {
		top.heed()
	}
	for i := len(chain) - 1; i >= 0; i-- {
		p := chain[i]
		if p.dead() {
			continue
		}
		if p != top && chain[i+1].dead() {
			p.inherit(chain[i+1].reason())
			continue
		}
		r.lapse(p)
	}
	return s.dead()
}

// A reading is of one clock at a time: scopes that lie below each other are seldom on different ones.
type reading struct {
	service *timer.Service
	now     clock.Instant
}

// passed reports whether the deadline of s has come.
func (r *reading) passed(s *Scope) (now clock.Instant, passed bool) {
	due := s.due.Load()
	if due == clock.Forever {
		return 0, false
	}
	now = r.at(s)
	return now, due <= now
}

// at is what the clock of s shows.
func (r *reading) at(s *Scope) clock.Instant {
	if t := s.timers(); t != r.service {
		r.service, r.now = t, t.Clock().Now()
	}
	return r.now
}

// lapse carries out what has come of what s itself is bounded by: its deadline, or the hard end of a Stop.
func (r *reading) lapse(s *Scope) {
	if st := s.stopping(); st != nil && st.at < s.due.Load() {
		if st.at <= r.at(s) {
			st.come()
		}
		return
	}
	if now, passed := r.passed(s); passed {
		s.expire(now)
	}
}

// dead reports whether s is canceled or closed, as far as it knows.
func (s *Scope) dead() bool { return s.state.Load()&(canceled|closed) != 0 }

// inherit cancels s because the scope above is; but if its own deadline came before that, it expired first.
func (s *Scope) inherit(c *Canceled) {
	due := s.due.Load()
	if c.on == s.timers() && (due < 0) == (c.when < 0) && due < c.when { // comparable: not one of a bubble, one of outside
		s.expire(c.when)
	}
	s.cancel(c, 0, clock.Forever)
}

// reason is what a canceled or closed scope was ended by.
func (s *Scope) reason() *Canceled {
	if s.state.Load()&canceled != 0 {
		return s.cause.Load()
	}
	return abandoned
}

// observe links s, and every scope above it that is not observed yet, outermost first: S2.
func (s *Scope) observe() {
	var r reading
	s.observeAt(&r)
}

// observeAt is observe, with a reading that the caller has.
func (s *Scope) observeAt(r *reading) {
	var few [8]*Scope
	chain := few[:0]
	for p := s; p != nil && p.state.Load()&(observed|canceled|closed) == 0; p = p.above() {
		chain = append(chain, p)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		chain[i].observeOne(r)
	}
}

// attend makes sure that s is told of every cancellation from now on. One that has come already is carried out.
func (s *Scope) attend() {
	if s.state.Load()&observed == 0 {
		var r reading
		if !s.lookAt(&r, false) {
			s.observeAt(&r)
			s.push()
		}
	} else if s.errSlow(false) == nil {
		s.push()
	}
}

// observeOne: the scope above is observed, canceled or closed. A deadline that has passed as of the reading is carried
// out here: left to the timers, which of several comes first would be chance.
func (s *Scope) observeOne(r *reading) {
	step.At("scope.share")
	if s.state.Or(shared)&(observed|canceled|closed) != 0 {
		return
	}
	p := s.above()
	if p != nil {
		p.push() // it must be told now, since s counts on being told
		if c := p.adopt(s); c != nil {
			s.inherit(c)
			return
		}
	} else if s.foreign() {
		s.or(polls)
		if s.parent.Err() != nil { // perhaps before a deadline that has passed as well
			s.cancelFrom(s.parent)
			return
		}
	} else {
		s.enlist()
	}
	step.At("scope.observe")
	s.mu.Lock()
	now, passed := r.passed(s)
	if s.state.Load()&(canceled|closed) == 0 {
		if s.start == clock.Forever {
			s.start = r.at(s)
			s.or(stamped)
		}
		s.or(observed)
		if due := s.due.Load(); due != clock.Forever && !passed {
			s.timers().Cover(&s.entry, due)
		}
	}
	s.mu.Unlock()
	if passed {
		s.expire(now)
	}
}

// adopt links k below s, if it is not linked or closed already; if s is canceled it returns by what.
func (s *Scope) adopt(k *Scope) *Canceled {
	step.At("scope.adopt")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Load()&(canceled|closed) != 0 {
		return s.reason()
	}
	if k.state.Load()&closed == 0 && !k.links.In() {
		s.kids.PushBack((*kid)(k))
	}
	return nil
}

// push has a context above that is not a scope call s when it is canceled, beside being looked at: several allocations,
// done when somebody below has to be told.
func (s *Scope) push() {
	st := s.state.Load()
	if st&polls == 0 || st&(canceled|closed) != 0 || st&pushed != 0 && st&(listed|alone) != 0 {
		return
	}
	s.enlist() // what is observed below it is found through it
	if s.state.Or(pushed)&pushed != 0 {
		return
	}
	unlink := context.AfterFunc(s.parent, func() { s.cancelFrom(s.parent) })
	step.At("scope.pushed")
	s.mu.Lock()
	s.more().unlink = unlink
	s.mu.Unlock()
	if s.state.Load()&closed != 0 {
		s.unlinkForeign()
	}
	if s.parent.Err() != nil {
		s.cancelFrom(s.parent)
	}
}

func (s *Scope) unlinkForeign() {
	s.mu.Lock()
	var unlink func() bool
	if x := s.extra.Load(); x != nil {
		unlink = x.unlink
	}
	s.mu.Unlock()
	if unlink != nil {
		unlink()
	}
}
