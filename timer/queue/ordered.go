package queue

import "bide.invalid/bide/clock"

// ordered is a list in the order of deadlines: the reference, and what RFC 12 calls the ordered deque.
//
//	O1  neighbors are in order
//
// insert goes back from the end: linear, but constant for a deadline that is later than all others, as those of one
// constant duration are. remove, pop and next are constant.
//
// Source: folklore; scheme 2 of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP 1987).
type ordered struct{ items ring }

// NewOrderedList returns a list that is kept in order. It is meant for some thousands of items.
func NewOrderedList() Queue {
	l := new(ordered)
	l.items.init()
	return newTimers(l)
}

func (l *ordered) insert(x *Item) (isNext bool) {
	n := l.items.root.prev
	for n.Owner != nil && x.before(n.Owner) {
		n = n.prev
	}
	l.items.pushAfter(n, x)
	return n.Owner == nil
}

func (l *ordered) remove(x *Item) (wasNext bool) {
	wasNext = x.due == l.items.front().due
	unlink(x)
	return wasNext
}

func (l *ordered) pop(now clock.Instant) *Item {
	x := l.items.front()
	if x == nil || x.due > now {
		return nil
	}
	unlink(x)
	return x
}

func (l *ordered) next() clock.Instant {
	if x := l.items.front(); x != nil {
		return x.due
	}
	return clock.Forever
}
