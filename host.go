package bide

import (
	"context"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

var _ registry.Scope = (*host)(nil)

// host is the Scope as a park.Host: a type of its own, so that the Scope's documentation does not show it.
type host Scope

func (h *host) Context() context.Context { return (*Scope)(h) }

func (h *host) Check() error {
	s := (*Scope)(h)
	if !s.look(true) {
		return nil
	}
	if s.extra.Load() != nil {
		// Whoever cancels s tells package context's children, which are known there, under mu. Behind it, they know.
		s.mu.Lock()
		s.mu.Unlock() //nolint:staticcheck // waiting is the point
	}
	return s.reason()
}

func (h *host) Attach(w *park.Waiter, k park.Kind) (outer <-chan struct{}, ok bool) {
	s := (*Scope)(h)
	if s.state.Load()&observed == 0 {
		s.observe()
	}
	if s.state.Load()&counted != 0 {
		s.point(registry.Point{Wait: k.String(), Bounded: w.Bounded()}) // it may cancel s
	}
	if s.state.Load()&(polls|listed|alone) == polls {
		s.enlist() // only now: most scopes that look, below a context of another kind, never wait
	}
	step.At("scope.attach")
	s.mu.Lock()
	st := s.state.Load()
	if st&(canceled|closed) != 0 {
		s.mu.Unlock()
		return nil, false
	}
	s.waiters.Add(w, k)
	s.mu.Unlock()
	if st&accounts != 0 {
		w.Stamp(s.now())
	}
	if st&(polls|pushed) == polls {
		if !w.Hooked() {
			return s.parent.Done(), true
		}
		s.push()
	}
	return nil, true
}

func (h *host) Detach(w *park.Waiter) {
	s := (*Scope)(h)
	accounts := s.state.Load()&accounts != 0
	var now clock.Instant
	if accounts {
		now = s.now()
	}
	step.At("scope.detach")
	s.mu.Lock()
	s.waiters.Remove(w)
	s.mu.Unlock()
	if accounts {
		k, since := w.Stamped()
		s.charge(LedgerEntry{Kind: k, Count: 1, Total: now.Sub(since)})
	}
}

// Waits is for observers.
func (h *host) Waits() (kinds []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.Each(func(k park.Kind) { kinds = append(kinds, k.String()) })
	return kinds
}

// Due is for package httpio, which must not read the clock for it.
func (h *host) Due() (at clock.Instant, ok bool) { return h.due.Load(), h.state.Load()&onClock == 0 }

// OnPoint is for tests. Preconditions: nobody else has the scope yet.
func (h *host) OnPoint(f func(registry.Point)) {
	s := (*Scope)(h)
	s.makeRare().onPoint = f
	s.or(counted)
}

// point tells whoever counts cancel points of one: it lies in a scope below theirs, or in their own.
func (s *Scope) point(p registry.Point) {
	p.At = (*host)(s)
	for q := s; q != nil; q = From(q.parent) {
		if r := q.rare(); r != nil && r.onPoint != nil {
			r.onPoint(p)
		}
	}
}
