package syncs

import (
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A row is a queue of waiters who each bring a value, or are to be brought one, in the order of their arrival. (A
// park.List says who was woken; here whoever wakes also has to find where that one's value lies.) It is guarded by the
// lock of the primitive that it is a part of, and so are the places.
type row[V any] struct {
	l ilist.List[place[V], *place[V]]
	n int // how many are in it, canceled or not
}

// A place is where one waiter stands, for one wait. It is the waiter's from take to give; who resolves the waiter may
// write or read v until it unlocks, since the waiter cannot go on before it is unparked.
type place[V any] struct {
	links ilist.Links[place[V]]
	w     *park.Waiter
	t     park.Token
	v     V

	below *place[V] // the stock's
}

// Links is for the list.
func (p *place[V]) Links() *ilist.Links[place[V]] { return &p.links }

// push puts p at the end.
func (l *row[V]) push(p *place[V]) {
	l.l.PushBack(p)
	l.n++
}

// pop takes the first one out, woken or not; nil: there is none.
func (l *row[V]) pop() *place[V] {
	p := l.l.PopFront()
	if p != nil {
		l.n--
	}
	return p
}

// remove takes p out if it is in.
func (l *row[V]) remove(p *place[V]) {
	if l.l.Remove(p) {
		l.n--
	}
}

// resolve takes out the first one that can still be woken, and all before it, and resolves that one with o. The caller
// Unparks its waiter, after unlocking. nil: nobody was left.
func (l *row[V]) resolve(o park.Outcome) *place[V] {
	for p := l.pop(); p != nil; p = l.pop() {
		if p.w.Resolve(p.t, o) {
			return p
		}
	}
	return nil
}

// resolveAll takes everybody out, and appends those whose wait it ended with o to ws.
func (l *row[V]) resolveAll(o park.Outcome, ws []*park.Waiter) []*park.Waiter {
	for p := l.resolve(o); p != nil; p = l.resolve(o) {
		ws = append(ws, p.w)
	}
	return ws
}

// A stock keeps places for the next waits: as many as were ever in use at once. (They belong to a type, so there is no
// pool for all of them.) Giving one back takes no lock: who is woken has had to wait long enough. Taking one is under
// the lock of the primitive, one at a time, so that a place which is looked at cannot have been taken and given back.
type stock[V any] struct {
	top atomic.Pointer[place[V]]
}

// take arms w and returns a place for it, in no row yet. Preconditions: the primitive's lock held.
func (s *stock[V]) take(w *park.Waiter) *place[V] {
	p := s.top.Load()
	for p != nil && !s.top.CompareAndSwap(p, p.below) {
		p = s.top.Load()
	}
	if p == nil {
		p = new(place[V])
	}
	p.below = nil
	p.w, p.t = w, w.Arm(clock.Forever)
	return p
}

// give takes p back. Preconditions: it is in no row.
func (s *stock[V]) give(p *place[V]) {
	*p = place[V]{}
	for {
		top := s.top.Load()
		p.below = top
		step.At("row.give")
		if s.top.CompareAndSwap(top, p) {
			return
		}
	}
}
