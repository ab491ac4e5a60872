// Package ilist is a doubly linked list whose links live in the elements: nothing is allocated, and an element
// is taken out in constant time by whoever holds it.
//
// The element type is usually a private name for the real one, so that Links stays out of its documentation:
//
//	type kid Scope
//	func (k *kid) Links() *ilist.Links[kid] { return &k.links }
package ilist

// Links is the place of an element in a list; the zero value is in none.
type Links[T any] struct{ prev, next *T }

// In reports whether the element is in a list.
func (l *Links[T]) In() bool { return l.next != nil }

// An Elem is a pointer to a T that carries its links.
type Elem[T any] interface {
	*T
	Links() *Links[T]
}

// A List is a ring that remembers its first element. The zero value is empty. It has no lock of its own.
type List[T any, P Elem[T]] struct{ first P }

// Empty reports whether nothing is in the list.
func (l *List[T, P]) Empty() bool { return l.first == nil }

// Front is the first element, or nil.
func (l *List[T, P]) Front() P { return l.first }

// Next is the element behind e, or nil at the end.
func (l *List[T, P]) Next(e P) P {
	if n := P(e.Links().next); n != l.first {
		return n
	}
	return nil
}

// PushBack puts e at the end.
//
// Preconditions: e is in no list.
func (l *List[T, P]) PushBack(e P) {
	if l.first == nil {
		k := e.Links()
		k.prev, k.next = e, e
		l.first = e
		return
	}
	first := l.first.Links()
	last := P(first.prev)
	*e.Links() = Links[T]{prev: last, next: l.first}
	last.Links().next = e
	first.prev = e
}

// PushFront puts e before the first.
//
// Preconditions: e is in no list.
func (l *List[T, P]) PushFront(e P) {
	l.PushBack(e)
	l.first = e
}

// Remove takes e out and reports true, or reports false if it is in no list.
//
// Preconditions: if e is in a list, it is this one.
func (l *List[T, P]) Remove(e P) bool {
	k := e.Links()
	if k.next == nil {
		return false
	}
	if k.next == e { // alone: no neighbors to tell
		l.first = nil
		*k = Links[T]{}
		return true
	}
	if l.first == e {
		l.first = k.next
	}
	P(k.prev).Links().next = k.next
	P(k.next).Links().prev = k.prev
	*k = Links[T]{}
	return true
}

// PopFront takes the first element out, or returns nil.
func (l *List[T, P]) PopFront() P {
	e := l.first
	if e != nil {
		l.Remove(e)
	}
	return e
}
