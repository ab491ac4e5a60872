package bide

import (
	"context"

	"bide.invalid/bide/internal/step"
)

// Draining is closed by a [Scope.Stop], also that of [Main], of the scope that ctx is or lies below, or of any above it,
// shields included: it is time to take no new work, to finish what was begun, and to end. Nothing is canceled by then.
// It is closed at the latest when that scope is canceled or closed, so that waiting for it alone is enough; and it is
// closed from the start if it is asked for later. It is nil, and blocks for ever, if there is no scope: nothing can stop
// softly there.
//
//	select {
//	case job := <-jobs:
//	case <-bide.Draining(ctx):
//		return nil
//	}
//
// It observes the scope, and the first call for a scope makes the channel: in a loop, ask once.
func Draining(ctx context.Context) <-chan struct{} {
	notNil("Draining", ctx)
	if s := From(ctx); s != nil {
		return s.draining()
	}
	return nil
}

// drained is a Draining that was closed before it was asked for.
var drained = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (s *Scope) draining() <-chan struct{} {
	if s.stopped() || s.Err() != nil {
		return drained
	}
	s.observe() // so that whoever stops or cancels finds it
	s.push()
	h := s.halting()
	step.At("drain.make")
	s.mu.Lock()
	if h.drain == nil {
		h.drain = make(chan struct{})
	}
	d := h.drain
	if s.dead() {
		h.close()
	}
	s.mu.Unlock()
	step.At("drain.check")
	if s.stopped() {
		s.drain()
	}
	return d
}

// stopped reports whether s, or a scope above it, has been told to stop.
func (s *Scope) stopped() bool {
	for ; s != nil; s = From(s.parent) {
		if s.stopping() != nil {
			return true
		}
	}
	return false
}

// drain closes Draining.
func (s *Scope) drain() {
	x := s.extra.Load()
	if x == nil {
		return
	}
	if h := x.halt.Load(); h != nil {
		s.mu.Lock()
		h.close()
		s.mu.Unlock()
	}
}

// close closes drain. Preconditions: the scope's mu held.
func (h *halt) close() {
	if h.drain != nil && !h.drained {
		h.drained = true
		close(h.drain)
	}
}
