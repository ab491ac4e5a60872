package queue

import (
	"math/bits"
	"time"

	"bide.invalid/bide/clock"
)

// cascading is Wheel, the timer service's structure for timeouts, with its own loop: what is looked at too early is
// linked again. insert, remove and next are constant, move too: an item that moves later stays where it is until the
// look. pop moves an item at most once a level, but a slot of a coarse level may have any number of them: after 1024
// it stops, and next says that there is more, so that a caller can let others have the lock.
//
// Source: Varghese and Lauck (1987), scheme 7; which digit chooses the level is described in Wheel.
type cascading struct{ w Wheel[*Item] }

// looks bounds the items that one pop moves.
const looks = 1024

// NewWheel returns a hierarchical wheel. The tick has to be a power of two.
func NewWheel(tick time.Duration) Queue {
	if tick <= 0 || tick > 1<<30 || tick&(tick-1) != 0 {
		panic("bide/timer/queue: the tick of NewWheel is a power of two, up to 1<<30")
	}
	q := new(cascading)
	q.w.Init(uint8(bits.TrailingZeros64(uint64(tick))))
	return newTimers(q)
}

func (q *cascading) insert(x *Item) (isNext bool) {
	before := q.w.nextSlot()
	q.w.Link(&x.Node, x.due)
	return x.place != before && x.place == q.w.nextSlot()
}

func (q *cascading) remove(x *Item) (wasNext bool) {
	wasNext = q.w.IsNext(&x.Node)
	q.w.Unlink(&x.Node)
	return wasNext
}

func (q *cascading) move(x *Item, at clock.Instant) (isNext bool) {
	if at >= x.At() { // the coming look is in time for it
		x.due = at
		return false
	}
	before := q.next()
	q.w.Unlink(&x.Node)
	x.due = at
	q.w.Link(&x.Node, at)
	return q.next() < before
}

func (q *cascading) pop(now clock.Instant) *Item {
	for range looks {
		n, look := q.w.Pop(now)
		if n == nil {
			return nil
		}
		if x := n.Owner; look >= x.due {
			return x
		}
		q.w.Link(n, n.Owner.due)
	}
	return nil
}

func (q *cascading) next() clock.Instant {
	if look, ok := q.w.Next(); ok {
		return look
	}
	return clock.Forever
}
