package bide

import (
	"slices"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/step"
)

// An island is a scope that is not linked to a scope above, though there is one: a shield, since no cancellation from
// there reaches it, and a scope below a context of another kind. A Stop above has to find the islands below its scope.
// So those that are observed, or, below a context of another kind, are waited under, are in a list of the scope at the
// top: not of the next one, since that may be canceled and closed, and unlinked itself, while a shield below it is still
// open. Above, here, is what From finds: through shields, and through contexts of any kind.

// halt is what is to be known of a scope for a Stop of it, or of one above.
type halt struct {
	stop atomic.Pointer[shutdown] // the Stop that holds; stored under the scope's mu
	hook func()                   // Main's: called at the hard end; set before the scope is shared

	// under the scope's mu
	drain   chan struct{} // of Draining, which somebody has asked for
	drained bool          // and it is closed

	// of a scope at the top
	mu      step.Mutex // a leaf, as a scope's mu is
	islands ilist.List[kid, *kid]
}

// halting makes halt.
func (s *Scope) halting() *halt {
	if x := s.extra.Load(); x != nil {
		if h := x.halt.Load(); h != nil {
			return h
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.more()
	h := x.halt.Load()
	if h == nil {
		h = &halt{}
		x.halt.Store(h)
	}
	return h
}

// top is the outermost scope, however s lies below it.
func (s *Scope) top() *Scope {
	for p := From(s.parent); p != nil; p = From(p.parent) {
		s = p
	}
	return s
}

// under reports whether s lies below p.
func (s *Scope) under(p *Scope) bool {
	for s != nil && s != p {
		s = From(s.parent)
	}
	return s != nil
}

// enlist puts an island into the list at the top. Whoever returns from it, if it is called by several at once, can be
// sure that it is there.
func (s *Scope) enlist() {
	if s.state.Load()&(alone|listed) != 0 {
		return
	}
	s.or(enlisted)
	h := s.top().halting()
	step.At("island.enlist")
	h.mu.Lock()
	if s.state.Load()&closed == 0 && !s.links.In() { // Close looks for enlisted after it has set closed
		h.islands.PushBack((*kid)(s))
	}
	h.mu.Unlock()
	s.or(listed)
	step.At("island.heed")
	s.heed()
}

// leave is the part of Close that concerns Stops.
func (s *Scope) leave() {
	if s.state.Load()&enlisted != 0 {
		h := s.top().halting()
		step.At("island.leave")
		h.mu.Lock()
		h.islands.Remove((*kid)(s))
		h.mu.Unlock()
		if s.state.Load()&(shield|spared) == shield {
			s.eachStopAbove((*shutdown).settle)
		}
	}
	if st := s.stopping(); st != nil {
		st.settle()
	}
}

// islands are the islands below s, one below another as well.
func (s *Scope) islands() []*Scope {
	x := s.top().extra.Load()
	if x == nil {
		return nil
	}
	h := x.halt.Load()
	if h == nil {
		return nil
	}
	var all []*Scope
	step.At("island.list")
	h.mu.Lock()
	for k := h.islands.Front(); k != nil; k = h.islands.Next(k) {
		all = append(all, (*Scope)(k))
	}
	h.mu.Unlock()
	// Unlocked: going up may call a method of a user's context.
	return slices.DeleteFunc(all, func(k *Scope) bool { return k == s || !k.under(s) })
}

// tree is s, and all observed scopes below it that are not canceled, outer ones first.
func (s *Scope) tree() []*Scope {
	all := append([]*Scope{s}, s.islands()...)
	for i := 0; i < len(all); i++ {
		p := all[i]
		step.At("island.tree")
		p.mu.Lock()
		for k := p.kids.Front(); k != nil; k = p.kids.Next(k) {
			all = append(all, (*Scope)(k))
		}
		p.mu.Unlock()
	}
	return all
}

func (s *Scope) eachStopAbove(f func(st *shutdown)) {
	for p := From(s.parent); p != nil; p = From(p.parent) {
		if st := p.stopping(); st != nil {
			f(st)
		}
	}
}

// heed has a shield, which nobody has told yet, obey the Stops above it.
func (s *Scope) heed() {
	if s.state.Load()&(shield|alone|spared) != shield {
		return
	}
	var first *shutdown
	s.eachStopAbove(func(st *shutdown) {
		switch {
		case st.fired.Load() || st.at <= st.scope.now():
			if first == nil || st.at <= first.at { // of two that have come; on different clocks either is right
				first = st
			}
		case s.state.Load()&enlisted != 0:
			st.settle()
		}
	})
	if first != nil {
		first.come()
		s.cut(first)
	}
}

// cut ends a shield because of a hard end above it. Its own bound keeps its meaning if it came first. The Canceled is
// the shield's own: so the shield absorbs it, and fails.
func (s *Scope) cut(st *shutdown) {
	if s.state.Load()&(shield|spared|closed) != shield {
		return
	}
	c := *st.c
	c.on, c.when = s.timers(), st.at
	if c.on != st.c.on {
		c.when = s.now()
	}
	if due := s.due.Load(); (due < 0) == (c.when < 0) && due <= c.when {
		s.expire(c.when)
	}
	c.verdict = new(TimeoutError)
	s.cancel(mint(&c), called|expired, clock.Forever)
}
