package queue

import "bide.invalid/bide/clock"

// scan4 is a 4-ary heap that searches for what it is to remove, from the front: linear. It is here because RFC 12
// weighed the 4-ary heap in this form; an index in the item (indexed) is what it lacks. insert and pop are logarithmic,
// next is constant.
//
// Source: RFC 12 of Crystal, its description only.
type scan4 struct{ h heap4 }

// NewHeap4Scan returns a 4-ary heap without indices. It is meant for some thousands of items.
func NewHeap4Scan() Queue { return newTimers(new(scan4)) }

func (q *scan4) insert(x *Item) (isNext bool) {
	q.h.push(x)
	return q.h[0].x == x
}

func (q *scan4) remove(x *Item) (wasNext bool) {
	wasNext = x.due == q.h[0].at
	for i := range q.h {
		if q.h[i].x == x {
			q.h.delete(i)
			break
		}
	}
	return wasNext
}

func (q *scan4) pop(now clock.Instant) *Item {
	if len(q.h) == 0 || q.h[0].at > now {
		return nil
	}
	x := q.h[0].x
	q.h.delete(0)
	return x
}

func (q *scan4) next() clock.Instant {
	if len(q.h) == 0 {
		return clock.Forever
	}
	return q.h[0].at
}
