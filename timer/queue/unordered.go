package queue

import "bide.invalid/bide/clock"

// unordered is a list in the order of scheduling; RFC 12's unordered deque.
//
//	U1  first is the earliest deadline, unless stale
//
// insert and remove are constant, but for what is looked up again: pop looks at every item, and so does the first next
// after the earliest was removed. pop finds the two earliest deadlines in one pass.
//
// Source: folklore; scheme 1 of Varghese and Lauck (1987) without its ticking.
type unordered struct {
	items ring
	first clock.Instant
	stale bool
}

// NewUnorderedList returns a list that is searched. It is meant for some thousands of items.
func NewUnorderedList() Queue {
	l := &unordered{first: clock.Forever}
	l.items.init()
	return newTimers(l)
}

func (l *unordered) insert(x *Item) (isNext bool) {
	isNext = x.due < l.next()
	l.items.push(x)
	if isNext {
		l.first = x.due
	}
	return isNext
}

func (l *unordered) remove(x *Item) (wasNext bool) {
	wasNext = x.due == l.next()
	unlink(x)
	l.stale = wasNext
	return wasNext
}

func (l *unordered) pop(now clock.Instant) *Item {
	if l.next() > now {
		return nil
	}
	var x *Item
	rest := clock.Forever // the earliest but x
	for n := l.items.root.next; n.Owner != nil; n = n.next {
		switch y := n.Owner; {
		case x == nil:
			x = y
		case y.due < x.due:
			rest, x = x.due, y
		default:
			rest = min(rest, y.due)
		}
	}
	if x != nil {
		unlink(x)
	}
	l.first = rest
	return x
}

func (l *unordered) next() clock.Instant {
	if l.stale {
		l.first, l.stale = clock.Forever, false
		for n := l.items.root.next; n.Owner != nil; n = n.next {
			l.first = min(l.first, n.Owner.due)
		}
	}
	return l.first
}
