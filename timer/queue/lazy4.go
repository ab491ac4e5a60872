package queue

import (
	"sync/atomic"

	"bide.invalid/bide/clock"
)

// lazy4 is a 4-ary heap that remove and move do not touch, as the Go runtime's: an item says that it is a zombie, or
// that it was modified, and the heap is put right later, at its head and, when zombies are more than a quarter or a
// modified item may be due, as a whole. The bits are in x.place:
//
//	heaped    the heap has the item, whether or not it is in the queue
//	modified  the deadline beside the pointer is not the item's
//	zombie    it was removed; modified is set too
//
//	L1  S1 holds for what is cached; an item that is not modified is cached as it is
//	L2  no modified item that is not a zombie is due before l.modified
//	L3  bound, min(what is cached at the head, l.modified), or Forever if nothing is in, is at most the first deadline
//
// remove and move are constant, and so is insert of a zombie, which is alive again. insert of another item is
// logarithmic, pop too over many operations, but either may have to sort the whole heap anew. A removed item stays
// reachable until then. bound may be read without the lock under which the structure is changed.
//
// Source: the Go runtime's timers (1.23 and later), as its comments describe them.
type lazy4 struct {
	h        heap4
	zombies  int
	modified clock.Instant
	bound    atomic.Int64
}

const (
	heaped   = 1
	modified = 2
	zombie   = 4
)

// NewHeap4Lazy returns a 4-ary heap that deletes lazily.
func NewHeap4Lazy() Queue {
	q := &lazy4{modified: clock.Forever}
	q.bound.Store(int64(clock.Forever))
	return newTimers(q)
}

// next may be called without the lock.
func (q *lazy4) next() clock.Instant { return clock.Instant(q.bound.Load()) }

func (q *lazy4) insert(x *Item) (isNext bool) {
	isNext = x.due < q.next()
	if x.place&heaped != 0 {
		x.place = heaped | modified
		q.zombies--
		q.modified = min(q.modified, x.due)
	} else {
		q.clean()
		x.place = heaped
		q.h.push(x)
	}
	q.setBound()
	return isNext
}

func (q *lazy4) remove(x *Item) (wasNext bool) {
	wasNext = x.due <= q.next()
	x.place = heaped | modified | zombie
	q.zombies++
	q.setBound()
	return wasNext || q.zombies == len(q.h)
}

func (q *lazy4) move(x *Item, at clock.Instant) (isNext bool) {
	isNext = at < q.next()
	x.due = at
	x.place = heaped | modified
	q.modified = min(q.modified, at)
	q.setBound()
	return isNext
}

func (q *lazy4) pop(now clock.Instant) (x *Item) {
	if q.modified <= now {
		q.sort()
	}
	q.clean()
	if len(q.h) > 0 && q.h[0].at <= now {
		x = q.h[0].x
		x.place = 0
		q.h.delete(0)
	}
	q.setBound()
	return x
}

func (q *lazy4) setBound() {
	bound := clock.Forever
	if len(q.h) > q.zombies {
		bound = min(q.h[0].at, q.modified)
	}
	q.bound.Store(int64(bound))
}

// clean sorts everything if that is worth it, or else the head.
func (q *lazy4) clean() {
	if q.zombies > len(q.h)/4 {
		q.sort()
	}
	for len(q.h) > 0 {
		switch x := q.h[0].x; {
		case x.place&zombie != 0:
			x.place = 0
			q.zombies--
			q.h.delete(0)
		case x.place&modified != 0:
			x.place = heaped
			q.h.down(0, key{x.due, x.seq, x})
		default:
			return
		}
	}
}

// sort drops the zombies, and files the modified items under their deadlines.
func (q *lazy4) sort() {
	live := q.h[:0]
	for _, k := range q.h {
		switch {
		case k.x.place&zombie != 0:
			k.x.place = 0
			continue
		case k.x.place&modified != 0:
			k = key{k.x.due, k.x.seq, k.x}
		}
		k.x.place = heaped
		live = append(live, k)
	}
	clear(q.h[len(live):])
	if len(live) == 0 && cap(live) > kept {
		live = nil
	}
	q.h, q.zombies, q.modified = live, 0, clock.Forever
	q.h.heapify()
}
