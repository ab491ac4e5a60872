package bide

import (
	"context"

	"bide.invalid/bide/internal/step"
)

// Draining returns a channel that is closed when it is time to take no new work, to finish what was begun, and to end:
// by a [Scope.Stop] of the scope that ctx is or lies below, or of any scope further up, also across shields. [Main]
// calls that Stop at the first signal. Nothing is canceled by then.
//
// The channel is closed at the latest when the scope is canceled or closed, so nothing else has to be waited for. If
// that was before the call, the channel is closed already. Without a scope it is nil, and blocks for ever.
//
//	draining := bide.Draining(ctx)
//	for {
//		select {
//		case job := <-jobs:
//			do(ctx, job)
//		case <-draining:
//			return bide.Check(ctx) // nil, unless ctx is canceled
//		}
//	}
//
// The first call for a scope makes the channel, and each call takes a lock: ask once, before the loop. A select takes
// any case that is ready: to be sure that no job is begun after the Stop, look at the channel alone first.
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
