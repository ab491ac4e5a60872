package timer

import (
	"cmp"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/registry"
)

// In a testing/synctest bubble an entry gets a runtime timer of its own, made by the goroutine that links it, so it
// belongs to the bubble and keeps its fake time. The shard that all bubbles share has no queue, only the lock.

// telling is how a service knows that it is called from within a bubble. The clocks of the system follow the bubble's
// time there; a virtual clock, and one of the user's, does not.
type telling uint8

const (
	never    telling = iota
	bySign           // negative instants are read in a bubble and nowhere else
	byAsking         // the sign says nothing: a wall clock may show any time
)

func tellingOf(c clock.Clock) telling {
	if c == clock.Monotonic() {
		return bySign
	}
	if b, err := clock.Boottime(); err == nil && c == b {
		return bySign
	}
	if r, err := clock.Realtime(); err == nil && c == r {
		return byAsking
	}
	return never
}

// bubbled reports whether an entry that is linked for at belongs in the caller's bubble.
func (s *Service) bubbled(at clock.Instant) bool {
	switch s.tell {
	case bySign:
		return at < 0
	case byAsking:
		return clock.InBubble()
	}
	return false
}

// A bubbled stands in for the owner of a linked entry, and leads to its timer.
type bubbled struct {
	Owner
	sh   *shard
	e    *Entry
	t    *time.Timer
	over bool // the entry was unlinked; under sh.mu. (The entry itself may be in another service by now.)
}

// Preconditions: mu held; e is not linked.
func (sh *shard) linkBubbled(e *Entry, at clock.Instant) {
	b := &bubbled{Owner: e.n.Owner, sh: sh, e: e}
	e.n.Owner = b
	e.n.SetAt(cmp.Or(at, -1)) // 0 is what an entry that is not linked says
	if sh.s.own {
		if sh.bubbles == nil {
			sh.bubbles = map[*bubbled]bool{}
		}
		sh.bubbles[b] = true
	}
	b.t = time.AfterFunc(at.Sub(sh.s.clock.Now()), b.look)
	b.tell(true)
}

// bubbledOf is e's stand-in here; nil if e is linked in another service.
//
// Preconditions: mu held; e is linked.
func (sh *shard) bubbledOf(e *Entry) *bubbled {
	if b, ok := e.n.Owner.(*bubbled); ok && b.sh == sh {
		return b
	}
	return nil
}

// Preconditions: the shard's mu held; b.e is linked.
func (b *bubbled) unlink() {
	b.leave()
	b.t.Stop()
}

// leave is all of unlink that may be done outside of the bubble: the timer finds that it is over.
func (b *bubbled) leave() {
	b.over = true
	b.e.n.Owner = b.Owner
	b.e.n.SetAt(0)
	delete(b.sh.bubbles, b)
	b.tell(false)
}

// tell tells a test what it may have left behind: only what AfterFunc or Every has made, since scopes and waits it knows.
func (b *bubbled) tell(linked bool) {
	if n, ok := b.Owner.(*node); ok {
		registry.Timer(n, linked)
	}
}

// look is the driver's work for one entry.
func (b *bubbled) look() {
	now := b.sh.s.clock.Now()
	b.sh.mu.Lock()
	if b.over { // since the timer went off
		b.sh.mu.Unlock()
		return
	}
	b.unlink()
	again, fired := b.Due(now)
	if !fired && again != clock.Forever {
		b.sh.linkBubbled(b.e, again)
	}
	var r running
	if fired {
		r = b.sh.starts()
	}
	b.sh.mu.Unlock()
	if fired {
		b.sh.fire([]Owner{b.Owner}, now, r)
	}
}
