package bide

import (
	"time"

	"bide.invalid/bide/internal/step"
)

// Progress says that the work goes on: the [Idle] limit of the scope, or of the nearest one above that has such a
// limit, begins anew. If there is none, or it has passed, nothing happens: a scope that has expired does not come back.
//
// It costs a reading of the clock and a compare-and-swap, however often it is called; no timer is moved.
func (s *Scope) Progress() {
	for p := s; p != nil; p = From(p.parent) {
		if l := p.idle(); l != nil {
			p.progress(l.d)
			return
		}
	}
}

// An idleLimit is what the option Idle sets.
type idleLimit struct {
	d time.Duration
	// The deadline that SetDeadline has set last, stored under mu. While it is the scope's, the limit does not hold:
	// until a Progress brings a later one.
	fixed moment
}

func (s *Scope) progress(d time.Duration) {
	now := s.now()
	due := addTo(now, d)
	for {
		old := s.due.Load()
		if old <= now || old >= due { // passed; or removed, or moved by somebody with a later reading
			return
		}
		step.At("idle.progress")
		// The entry stays where it is: the look at the old deadline finds the new one.
		if s.due.CompareAndSwap(old, due) {
			return
		}
	}
}

// idle is the limit that the option set, if it is more than 0, or nil.
func (s *Scope) idle() *idleLimit {
	if r := s.rare(); r != nil && r.idle != nil && r.idle.d > 0 {
		return r.idle
	}
	return nil
}
