package queue

import "bide.invalid/bide/clock"

// indexed is Heap4, the timer service's structure for exact deadlines: see there. insert, remove and pop are
// logarithmic, next is constant, and no single operation is linear but for the growth of the array.
//
// Source: Johnson, "Priority queues with update and finding minimum spanning trees" (IPL 1975), for heaps with more
// than two children; the index in the node is folklore.
type indexed struct{ h Heap4[*Item] }

// NewHeap4 returns a 4-ary heap that knows where each item is.
func NewHeap4() Queue { return newTimers(new(indexed)) }

func (q *indexed) insert(x *Item) (isNext bool) {
	q.h.Link(&x.Node, x.due)
	return x.place == 0
}

func (q *indexed) remove(x *Item) (wasNext bool) {
	wasNext = q.h.IsNext(&x.Node)
	q.h.Unlink(&x.Node)
	return wasNext
}

func (q *indexed) pop(now clock.Instant) *Item {
	n, _ := q.h.Pop(now)
	if n == nil {
		return nil
	}
	return n.Owner
}

func (q *indexed) next() clock.Instant {
	if at, ok := q.h.Next(); ok {
		return at
	}
	return clock.Forever
}
