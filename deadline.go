package bide

import (
	"context"
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A moment is an instant that others read meanwhile. What is stored are the bits in which it differs from Forever: the
// zero moment is none, so that a new scope has nothing to store.
type moment struct{ v atomic.Int64 }

const unbounded = int64(clock.Forever)

func (m *moment) Load() clock.Instant    { return clock.Instant(m.v.Load() ^ unbounded) }
func (m *moment) Store(at clock.Instant) { m.v.Store(int64(at) ^ unbounded) }
func (m *moment) CompareAndSwap(old, at clock.Instant) bool {
	return m.v.CompareAndSwap(int64(old)^unbounded, int64(at)^unbounded)
}

// deadline is the Scope as the timer sees it.
type deadline Scope

// Due: locked.
func (d *deadline) Due(now clock.Instant) (again clock.Instant, fired bool) {
	due := d.due.Load()
	if due > now {
		return due, false
	}
	return clock.Forever, d.state.Load()&(canceled|closed) == 0
}

// Fire: not locked. What is above goes first, if its deadline has come as well: its timer may be in another shard.
func (d *deadline) Fire(now clock.Instant) {
	s := (*Scope)(d)
	if p := s.above(); p != nil {
		p.look(true)
	} else if s.endedAbove() {
		s.cancelFrom(s.parent) // it is told a moment later otherwise, if at all
	}
	if st := s.stopping(); st != nil && st.at < s.due.Load() && st.at <= now {
		st.come() // it was first, and its timer is late
		return
	}
	s.expire(now)
}

// expire cancels s if its deadline is not after now.
func (s *Scope) expire(now clock.Instant) {
	step.At("scope.expire")
	source, due := ByDeadline, s.due.Load()
	if l := s.idle(); l != nil && l.fixed.Load() != due {
		source = ByIdle
	}
	x := new(expiry)
	c := s.fill(&x.canceled, source, nil, due)
	c.verdict, x.verdict.Ledger = &x.verdict, x.open[:0]
	s.cancel(c, called|expired, now)
}

// bound bounds a new scope.
func (s *Scope) bound(d time.Duration) {
	now := s.now()
	s.limit(now, addTo(now, d))
}

// boundAt bounds a new scope.
func (s *Scope) boundAt(t time.Time) { s.limit(s.now(), s.timers().Clock().FromTime(t)) }

func (s *Scope) limit(now, due clock.Instant) {
	s.start = now
	s.due.Store(max(due, now)) // it cannot expire before it is opened
	if due <= now {
		s.look(false) // canceled from the start; the body still runs to its first cancel point
	}
}

// addTo is clock.After with the reading at hand: a deadline read in a synctest bubble stays negative, or is none.
func addTo(now clock.Instant, d time.Duration) clock.Instant {
	at := now.Add(d)
	if now < 0 && at >= 0 {
		return clock.Forever
	}
	return at
}

// SetDeadline moves the scope's deadline to t, a time of its clock; the zero time removes it, as net.Conn's
// SetDeadline does. A time that has passed cancels the scope before SetDeadline returns. It reports false, and has
// done nothing, if the scope is canceled or closed, or if the old deadline has passed: an expiry and a SetDeadline have
// exactly one winner.
//
// It moves the scope's own deadline only; one further up still holds.
func (s *Scope) SetDeadline(t time.Time) bool {
	due := clock.Forever
	if !t.IsZero() {
		due = s.timers().Clock().FromTime(t)
	}
	return s.setDue(due)
}

// SetTimeout is SetDeadline for d from now. With d zero or negative the scope is canceled at once, and the result is
// true.
func (s *Scope) SetTimeout(d time.Duration) bool {
	return s.setDue(addTo(s.now(), d))
}

func (s *Scope) setDue(due clock.Instant) bool {
	if s.look(true) {
		return false
	}
	var by site
	if s.sited() {
		by = here(2)
	}
	step.At("scope.setdue")
	s.mu.Lock()
	now := s.now()      // under mu: of two that set it, the second sees that the first has set it to the past
	due = max(due, now) // it does not expire before it is told to
	passed := s.due.Load() <= now
	if passed || s.dead() {
		s.mu.Unlock()
		if passed { // since the look
			s.expire(now)
		}
		return false
	}
	if due != clock.Forever && (s.start == clock.Forever || s.state.And(^stamped)&stamped != 0) {
		s.start = now
	}
	if l := s.idle(); l != nil {
		l.fixed.Store(due)
	}
	step.At("scope.moved") // the driver may believe the old one until now
	s.due.Store(due)
	s.site = by
	if due > now && s.state.Load()&observed != 0 {
		if due == clock.Forever {
			s.timers().Cancel(&s.entry)
		} else {
			s.timers().Cover(&s.entry, due) // later: the look at the old one finds the new one
		}
	}
	s.mu.Unlock()
	if due <= now {
		s.expire(now)
	}
	return true
}

// Deadline is the effective deadline, the scope's or an earlier one above, as a time for the standard library, which
// compares it with time.Now. Code of your own asks [Remaining]. The time is computed from what remains at the first
// call, and again after SetDeadline. ok is false if there is no deadline, and on virtual clocks, whose times the
// standard library would misunderstand. The hard end of a [Scope.Stop] counts as a deadline. Below a deadline of package
// context see [Remaining].
func (s *Scope) Deadline() (t time.Time, ok bool) {
	nearer := func(d time.Time, has bool) {
		if has && (!ok || d.Before(t)) {
			t, ok = d, true
		}
	}
	switch s.state.Load() & (shield | spared) {
	case 0:
		t, ok = s.parent.Deadline()
	case shield:
		s.eachStopAbove(func(st *shutdown) { nearer(st.wall, st.isWall) })
	}
	if st := s.stopping(); st != nil {
		nearer(st.wall, st.isWall)
	}
	nearer(s.ownDeadline())
	return t, ok
}

func (s *Scope) ownDeadline() (time.Time, bool) {
	if s.due.Load() == clock.Forever {
		return time.Time{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.due.Load()
	if r := s.rare(); r != nil && !r.wall.IsZero() && r.wallAt == due {
		return r.wall, true
	}
	t, ok := s.timers().Clock().Time(due)
	if due == clock.Forever || !ok {
		return time.Time{}, false
	}
	r := s.makeRare()
	r.wall, r.wallAt = t, due
	return t, true
}

// Remaining is [Remaining] of the scope.
func (s *Scope) Remaining() time.Duration {
	var r reading
	if s.lookAt(&r, true) {
		return 0
	}
	left := time.Duration(clock.Forever)
	until := func(st *shutdown) {
		if st.at != clock.Forever {
			left = min(left, st.at.Sub(r.at(st.scope)))
		}
	}
	for p := s; p != nil; {
		if due := p.due.Load(); due != clock.Forever {
			left = min(left, due.Sub(r.at(p)))
		}
		if st := p.stopping(); st != nil {
			until(st)
		}
		up := p.above()
		switch {
		case up != nil:
		case p.state.Load()&shield == 0:
			left = min(left, remaining(p.parent))
		case p.state.Load()&spared == 0:
			p.eachStopAbove(until)
		}
		p = up
	}
	return max(left, 0)
}

// Remaining is the time until the effective deadline of ctx, on the clock of the scope that has it: 0 if ctx is
// canceled, time.Duration(clock.Forever) if there is no deadline. In a shield it is the shield's own. The hard end of a
// [Scope.Stop] counts as a deadline, in a shield as well.
//
// A context that package context has bounded, as context.WithTimeout does, answers for itself and for what is above it,
// there and below: with its own deadline, though a Stop or a [Scope.SetDeadline] further up may have brought a nearer one
// since it was made. That one ends it nevertheless. [FailAfter] has no such gap.
func Remaining(ctx context.Context) time.Duration {
	notNil("Remaining", ctx)
	if s, ok := ctx.(*Scope); ok {
		return s.Remaining()
	}
	if h, native := park.HostOf(ctx); native {
		if h, ok := h.(*host); ok {
			return (*Scope)(h).Remaining()
		}
	}
	return remaining(ctx)
}

// remaining is Remaining where the standard library's deadline is all there is.
func remaining(ctx context.Context) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	t, ok := ctx.Deadline()
	if !ok {
		return time.Duration(clock.Forever)
	}
	return max(0, time.Until(t))
}
