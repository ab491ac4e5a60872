package timer

import (
	"time"

	"bide.invalid/bide/clock"
)

// In a testing/synctest bubble an entry gets a runtime timer of its own, made by the goroutine that links it, so it
// belongs to the bubble and keeps its fake time. The shard that all bubbles share has no wheel, only the lock.

// A bubbled leads from a linked entry to its timer: e.next is its link, whose owner it is.
type bubbled struct {
	link Entry
	sh   *shard
	e    *Entry
	t    *time.Timer
}

// Due and Fire make a bubbled storable as an owner; its link is in no wheel.
func (b *bubbled) Due(clock.Instant) (clock.Instant, bool) { return clock.Forever, false }
func (b *bubbled) Fire(clock.Instant)                      {}

// Preconditions: mu held; e is not linked.
func (sh *shard) linkBubbled(e *Entry, at clock.Instant) {
	b := &bubbled{sh: sh, e: e}
	b.link.owner = b
	e.next = &b.link
	e.at.Store(int64(at))
	b.t = time.AfterFunc(at.Sub(clock.Now()), b.look)
}

// Preconditions: the shard's mu held; e is linked.
func unlinkBubbled(e *Entry) {
	b := e.next.owner.(*bubbled)
	e.next = nil
	e.at.Store(0)
	b.t.Stop()
}

// look is the driver's work for one entry.
func (b *bubbled) look() {
	now := clock.Now()
	b.sh.mu.Lock()
	if b.e.next != &b.link { // unlinked, perhaps linked again, since the timer went off
		b.sh.mu.Unlock()
		return
	}
	unlinkBubbled(b.e)
	again, fired := b.e.owner.Due(now)
	if !fired && again != clock.Forever {
		b.sh.linkBubbled(b.e, again)
	}
	b.sh.mu.Unlock()
	if fired {
		b.e.owner.Fire(now)
	}
}
