package syncs

import (
	"context"
	"strconv"

	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Queue hands values from goroutines that put them to goroutines that get them, in order, and has room for some in
// between. The zero Queue has no room: each Put waits for its Get. [NewQueue] makes one with room. Any number of
// goroutines may use both ends.
//
// # Fairness
//
// FIFO throughout: values come out in the order in which they went in, and who waits is served in the order of arrival.
// A value never passes by somebody who waits in Get, nor a call of Put by somebody who waits in Put.
//
// # Cancellation
//
// A Get that returns an error has taken nothing. A Put that returns an error has put nothing: nobody has seen the
// value, and nobody will. A nil means that it was taken in, or handed over, even if the context was canceled in the
// same instant.
//
// # Close
//
// Close ends all waits with ErrClosed. Put is refused from then on; Get returns what is still in, and then ErrClosed.
//
// # Memory model
//
// A Put that succeeds synchronizes before the return of the Get that returns its value. In a Queue with room for n, what
// came before the k-th Get happened before the return of the (k+n)-th Put.
//
// # State
//
// Under mu: the values that are in, those who wait in Get and in Put, and whether it is closed.
//
//	Q1 in                a value, into free room                               Put, TryPut
//	Q2 out               the first value                                       Get, TryGet
//	Q3 handed over       a value, to the first who waits in Get                Put, TryPut
//	Q4 moved up          the value of the first who waits in Put: into the     Get, TryGet
//	                     room that Q2 has made, or, if nothing is in, out
//	Q5 gone              who was canceled takes itself out of its row          Get, Put
//	Q6 open → closed     everybody who waits is resolved Closed                Close
//	Q7 back              a value whose Get was left by a panic: as Q3, or to   Get
//	                     the front, if need be beyond the room that there is
//
//	I1 while mu is free: who waits in Get waits because nothing is in; who waits in Put, because there is no room
//	I2 while mu is free, nobody waits both in Get and in Put
//	I3 closed: nobody waits
type Queue[T any] struct {
	_    noCopy
	room int

	mu               step.Mutex
	in               ring[T]
	getting, putting row[T]
	places           stock[T]
	closed           bool
	stats            QueueStats // the counters
}

// QueueStats is what a Queue has and has done.
type QueueStats struct {
	Len, Room        int    // values that are in, and how many may be
	Getting, Putting int    // calls that wait
	Gets, Puts       uint64 // values that went out, and that came in
	Waits, Failed    uint64 // calls that have had to wait, and those of them that have got, or put, nothing
}

// NewQueue returns a queue with room for n values. Memory for them, and for those who wait, is taken as they come, and
// kept. It panics if n is negative.
func NewQueue[T any](n int) *Queue[T] {
	if n < 0 {
		panic("bide/syncs: NewQueue with room for " + strconv.Itoa(n))
	}
	return &Queue[T]{room: n}
}

// Put puts v, waiting for room, or, where there is none at all, for a Get, as long as ctx allows. It returns nil if and
// only if v was put.
func (q *Queue[T]) Put(ctx context.Context, v T) error {
	notNil("Put of a Queue", ctx)
	if err := park.Err(ctx); err != nil {
		return err
	}
	step.At("queue.put")
	q.mu.Lock()
	w, ok := q.put(v)
	closed := q.closed
	q.mu.Unlock()
	switch {
	case w != nil:
		w.Unpark()
		return nil
	case ok:
		return nil
	case closed:
		return ErrClosed
	}
	return q.putWaiting(ctx, v)
}

// TryPut puts v if that needs no waiting, and reports whether it did. It does not say whether the queue is closed.
func (q *Queue[T]) TryPut(v T) bool {
	step.At("queue.tryput")
	q.mu.Lock()
	w, ok := q.put(v)
	q.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
	return ok
}

// Get takes the first value, waiting for one as long as ctx allows.
func (q *Queue[T]) Get(ctx context.Context) (v T, err error) {
	notNil("Get of a Queue", ctx)
	if err := park.Err(ctx); err != nil {
		return v, err
	}
	step.At("queue.get")
	q.mu.Lock()
	v, w, ok := q.get()
	closed := q.closed
	q.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
	switch {
	case ok:
		return v, nil
	case closed:
		return v, ErrClosed
	}
	return q.getWaiting(ctx)
}

// TryGet takes the first value if there is one, or one that a Put waits with, and reports whether it did.
func (q *Queue[T]) TryGet() (v T, ok bool) {
	step.At("queue.tryget")
	q.mu.Lock()
	v, w, ok := q.get()
	q.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
	return v, ok
}

// Close refuses every Put from now on, and ends all waits with ErrClosed. What is in can still be taken out. It is
// idempotent.
func (q *Queue[T]) Close() {
	var few [32]*park.Waiter
	step.At("queue.close")
	q.mu.Lock()
	q.closed = true // Q6
	ws := q.getting.resolveAll(park.Closed, few[:0])
	ws = q.putting.resolveAll(park.Closed, ws)
	q.check()
	q.mu.Unlock()
	for _, w := range ws {
		w.Unpark()
	}
}

// Len is how many values are in. Those that a Put waits with are not.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.in.n
}

// Stats is a snapshot.
func (q *Queue[T]) Stats() QueueStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Len, s.Room = q.in.n, q.room
	s.Getting, s.Putting = q.getting.n, q.putting.n
	return s
}

// put puts v if it can at once. The caller Unparks w, after unlocking.
//
// Preconditions: mu held.
func (q *Queue[T]) put(v T) (w *park.Waiter, ok bool) {
	if q.closed {
		return nil, false
	}
	if p := q.getting.resolve(park.Woken); p != nil { // Q3
		p.v = v
		w = p.w
		q.stats.Gets++
	} else if q.in.n < q.room {
		q.in.pushBack(v) // Q1
	} else {
		return nil, false
	}
	q.stats.Puts++
	q.check()
	return w, true
}

// get takes a value out if it can at once. The caller Unparks w, after unlocking.
//
// Preconditions: mu held.
func (q *Queue[T]) get() (v T, w *park.Waiter, ok bool) {
	if q.in.n > 0 {
		v = q.in.popFront() // Q2
		if q.in.n < q.room {
			if next, from, more := q.up(); more {
				q.in.pushBack(next)
				w = from
			}
		}
	} else if v, w, ok = q.up(); !ok {
		return v, nil, false
	}
	q.stats.Gets++
	q.check()
	return v, w, true
}

// up is the value of the first who waits in Put: Q4. His place is given back here; he does not look at it any more.
//
// Preconditions: mu held.
func (q *Queue[T]) up() (v T, w *park.Waiter, ok bool) {
	p := q.putting.resolve(park.Woken)
	if p == nil {
		return v, nil, false
	}
	v, w = p.v, p.w
	q.places.give(p)
	q.stats.Puts++
	return v, w, true
}

func (q *Queue[T]) putWaiting(ctx context.Context, v T) error {
	mine := park.Get()
	step.At("queue.putwait")
	q.mu.Lock()
	other, ok := q.put(v)
	if ok || q.closed {
		q.mu.Unlock()
		park.Put(mine)
		if other != nil {
			other.Unpark()
		}
		if !ok {
			return ErrClosed
		}
		return nil
	}
	p := q.places.take(mine)
	p.v = v
	t := p.t
	q.putting.push(p)
	q.stats.Waits++
	q.check()
	q.mu.Unlock()
	o := safeWait(ctx, mine, t, park.KindQueue, func(o park.Outcome) {
		if o != park.Woken {
			q.leave(p, o, &q.putting)
		}
	})
	if o != park.Woken { // else the place is given back
		q.leave(p, o, &q.putting)
	}
	park.Put(mine) // not deferred: a waiter that a panic passed by is not put back
	return q.failure(ctx, o)
}

func (q *Queue[T]) getWaiting(ctx context.Context) (v T, err error) {
	mine := park.Get()
	step.At("queue.getwait")
	q.mu.Lock()
	v, other, ok := q.get()
	if ok || q.closed {
		q.mu.Unlock()
		park.Put(mine)
		if other != nil {
			other.Unpark()
		}
		if !ok {
			return v, ErrClosed
		}
		return v, nil
	}
	p := q.places.take(mine)
	t := p.t
	q.getting.push(p)
	q.stats.Waits++
	q.check()
	q.mu.Unlock()
	o := safeWait(ctx, mine, t, park.KindQueue, func(o park.Outcome) {
		if v := q.leave(p, o, &q.getting); o == park.Woken {
			q.back(v)
		}
	})
	v = q.leave(p, o, &q.getting)
	park.Put(mine)
	return v, q.failure(ctx, o)
}

// leave gives p back, whose wait has ended with o, and returns what it was brought, if anything.
//
// Preconditions: not after a Put that succeeded, whose place was given back by who took the value.
func (q *Queue[T]) leave(p *place[T], o park.Outcome, in *row[T]) (v T) {
	if o == park.Woken {
		v = p.v
		q.places.give(p)
		return v
	}
	step.At("queue.leave")
	q.mu.Lock()
	in.remove(p) // Q5
	q.stats.Failed++
	q.check()
	q.mu.Unlock()
	q.places.give(p)
	return v
}

// back is for a value that was taken out by a Get that does not return: Q7. Closed or not: it was in.
func (q *Queue[T]) back(v T) {
	step.At("queue.back")
	q.mu.Lock()
	p := q.getting.resolve(park.Woken)
	if p == nil {
		q.stats.Gets--
		q.in.pushFront(v)
		q.check()
		q.mu.Unlock()
		return
	}
	p.v = v
	w := p.w
	q.mu.Unlock()
	w.Unpark()
}

// failure is the error of a wait that ended with o.
func (q *Queue[T]) failure(ctx context.Context, o park.Outcome) error {
	switch o {
	case park.Woken:
		return nil
	case park.Closed:
		return ErrClosed
	}
	return park.Reason(ctx)
}

// check: I1 to I3, and that nothing is lost. Preconditions: mu held.
func (q *Queue[T]) check() {
	if invariant.On {
		invariant.True(q.stats.Puts-q.stats.Gets == uint64(q.in.n), "syncs: a Queue has lost count of its values")
		invariant.True(q.getting.n == 0 || q.in.n == 0, "syncs: a Get waits though something is in")
		invariant.True(q.putting.n == 0 || q.in.n >= q.room, "syncs: a Put waits though there is room")
		invariant.True(q.getting.n == 0 || q.putting.n == 0, "syncs: a Get and a Put wait for each other")
		invariant.True(!q.closed || q.getting.n+q.putting.n == 0, "syncs: a closed Queue is waited for")
	}
}
