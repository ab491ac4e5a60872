package bide

import (
	"context"

	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// host is the Scope as a park.Host: a type of its own, so that the Scope's documentation does not show it.
type host Scope

func (h *host) Context() context.Context { return (*Scope)(h) }

func (h *host) Check() error {
	s := (*Scope)(h)
	if !s.look(true) {
		return nil
	}
	// Whoever cancels s tells package context's children under mu. Behind it, they know.
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason()
}

func (h *host) Attach(w *park.Waiter, k park.Kind) (outer <-chan struct{}, ok bool) {
	s := (*Scope)(h)
	if s.state.Load()&observed == 0 {
		s.observe()
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
	if st&(polls|pushed) == polls {
		return s.parent.Done(), true
	}
	return nil, true
}

func (h *host) Detach(w *park.Waiter) {
	step.At("scope.detach")
	h.mu.Lock()
	h.waiters.Remove(w)
	h.mu.Unlock()
}
