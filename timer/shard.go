package timer

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer/queue"
)

// A shard is a queue, its lock, and its alarm.
//
// Lock order: a shard's lock comes after any lock of an owner, and before the clock's own; no two are held at a time.
// With the lock free, an entry with a look at t has a wake-up coming: target is at most t and the alarm set for it, or
// a driver is under way that has not set the alarm again yet: it is set under the lock.
type shard struct {
	s  *Service
	id uint32

	mu     step.Mutex
	bubble bool // entries have a runtime timer each, made in their bubble; no queue
	target clock.Instant
	alarm  clock.Alarm
	wheel  *queue.Wheel[Owner] // or, where deadlines are exact,
	heap   *queue.Heap4[Owner]
	free   []*node
	chunks [][]node
	stats  Stats
	rec    *recorder     // nil: nobody records
	latest clock.Instant // reading of the latest driver

	// in a service of one's own
	closed  bool
	firing  map[running]bool  // drivers under way
	bubbles map[*bubbled]bool // linked in bubbles

	_ [64]byte // the next shard's lock is another processor's
}

// link files n, and returns when it is looked at.
//
// Preconditions, here and below: mu held; not for bubbles.
func (sh *shard) link(n *queue.Node[Owner], at clock.Instant) (look clock.Instant) {
	if sh.heap != nil {
		return sh.heap.Link(n, at)
	}
	return sh.wheel.Link(n, at)
}

func (sh *shard) unlink(n *queue.Node[Owner]) {
	if sh.heap != nil {
		sh.heap.Unlink(n)
	} else {
		sh.wheel.Unlink(n)
	}
}

// next is the instant of the next look.
func (sh *shard) next() (look clock.Instant, ok bool) {
	if sh.heap != nil {
		return sh.heap.Next()
	}
	return sh.wheel.Next()
}

func (sh *shard) isNext(n *queue.Node[Owner]) bool {
	if sh.heap != nil {
		return sh.heap.IsNext(n)
	}
	return sh.wheel.IsNext(n)
}

// pop takes out the next node whose look has come.
func (sh *shard) pop(now clock.Instant) (n *queue.Node[Owner], look clock.Instant) {
	if sh.heap != nil {
		return sh.heap.Pop(now)
	}
	return sh.wheel.Pop(now)
}

// len is how many are linked: in bubbles, only of a service of one's own.
func (sh *shard) len() int {
	if sh.bubble {
		return len(sh.bubbles)
	}
	if sh.heap != nil {
		return sh.heap.Len()
	}
	return sh.wheel.Len()
}

// remove takes e out, if it is linked here.
//
// Preconditions: mu held.
func (sh *shard) remove(e *Entry) bool {
	switch {
	case e.n.At() == 0:
		return false
	case sh.bubble:
		b := sh.bubbledOf(e)
		if b == nil {
			return false // as below
		}
		b.unlink()
	case sh.heap != nil && !sh.heap.Has(&e.n) || sh.wheel != nil && !sh.wheel.Has(&e.n):
		return false // it is in another service: a mistake, but not one to panic for
	default:
		sh.unlink(&e.n)
	}
	return true
}

// rest clears the alarm of an exact shard that is empty: a goroutine may wait for it, or the kernel wake a thread. (That of a wheel comes once, for
// nothing.)
//
// Preconditions: mu held.
func (sh *shard) rest() {
	if sh.heap != nil && sh.heap.Len() == 0 && sh.target != clock.Forever {
		sh.target = clock.Forever
		sh.alarm.Clear()
	}
}

// move is remove and add, for Schedule.
//
// Preconditions: mu held.
func (sh *shard) move(e *Entry, at clock.Instant) (isNext bool) {
	if e.n.At() != 0 { // remove asks as well; a new timer is spared the call
		sh.remove(e)
	}
	if !sh.bubble {
		sh.stats.Scheduled++
	}
	if sh.rec != nil {
		sh.rec.scheduled(&e.n, at)
	}
	return sh.add(e, at)
}

// cancel is remove for good.
//
// Preconditions: mu held.
func (sh *shard) cancel(e *Entry) bool {
	if !sh.remove(e) {
		return false
	}
	sh.stats.Canceled++
	if sh.rec != nil {
		sh.rec.ended(&e.n, queue.Canceled)
	}
	sh.rest()
	return true
}

// floor takes a deadline that has passed for one of the latest driver's time: else owners that schedule themselves for the
// past, again and again, would always come before those that have been waiting since. Not on clocks that may have been
// stepped back since.
func (sh *shard) floor(at clock.Instant) clock.Instant {
	if at >= sh.latest || sh.s.tell != bySign {
		return at
	}
	if sh.wheel != nil {
		return sh.wheel.Floor(sh.latest) // not the next tick
	}
	return sh.latest
}

// add links e and sets the alarm if need be.
//
// Preconditions: mu held; e is not linked.
func (sh *shard) add(e *Entry, at clock.Instant) (isNext bool) {
	if sh.bubble {
		sh.linkBubbled(e, at)
		return true
	}
	at = sh.floor(at)
	look := sh.link(&e.n, at)
	if look >= sh.target {
		return false
	}
	var now clock.Instant
	if sh.s.tell == bySign {
		now = clock.Now()
	}
	if now < 0 {
		// In a bubble, and a deadline from outside. The alarm must not be moved from here: the runtime would
		// count the duration from the bubble's clock, and every timer of the shard sleep for decades. The next
		// entry that is linked from outside sets it.
		return false
	}
	if sh.wheel != nil {
		// The alarm needed the reading of the clock anyway: with base brought forward the look is not too early.
		sh.wheel.Unlink(&e.n)
		sh.wheel.Forward(now)
		sh.wheel.Link(&e.n, at)
	}
	look, _ = sh.next() // e's look, or that of one for which no alarm could be set, above
	if look >= sh.target {
		return false
	}
	sh.target = look
	sh.alarm.Set(look)
	return true
}
