package queue

import "bide.invalid/bide/clock"

// A Queue holds what is to come and gives out what is due. All structures of this package are behind it, so that they
// can be compared; [All] has the table. Callers lock. Instants are counted from 0: an earlier one is as good as 0.
type Queue interface {
	// Schedule files x for at. isNext: everything else is looked at later, so whoever sleeps until Next has to sleep
	// less. A deadline that has passed, by the latest now that Expire was told, counts as that now: x enters no
	// structure, and the next Expire gives it out. What is scheduled for Forever is in, and never comes; so is what
	// is scheduled for the last two years before that.
	//
	// It panics if x is in a queue, or was scheduled in another one before.
	Schedule(x *Item, at clock.Instant) (isNext bool)

	// Reschedule is Schedule of an item that may be in this queue: it is moved, and counts as scheduled now.
	// isNext: Next has become earlier.
	Reschedule(x *Item, at clock.Instant) (isNext bool)

	// Cancel takes x out. was: it was in this queue; wasNext: and nothing was looked at before it.
	Cancel(x *Item) (was, wasNext bool)

	// Expire takes out what is due by now, and returns how many items it has put into buf: in the order of
	// deadlines and, among equals, of scheduling, as exactly as the queue's tick allows. now does not go back: an
	// earlier one than before is as good as that. There may be more while Next is not after now: buf was full, or
	// so much was looked at in vain that the caller should let others have the lock.
	Expire(now clock.Instant, buf []*Item) (n int)

	// Next is when to call Expire next: not after the first deadline, rounded up to the queue's tick, and now if
	// that has passed. It may be earlier, and Expire find nothing; then Next has become later. ok is false if nothing
	// will come.
	Next() (at clock.Instant, ok bool)

	// Len is how many are in.
	Len() int
}

// horizon is the last deadline that a structure gets: rounded up in whatever way, it is still before Forever.
const horizon = clock.Forever - 1<<56

// A structure is what differs from queue to queue. It never gets an item whose deadline is not after the latest now that
// pop was told, nor one beyond the horizon, nor one twice; and it is asked only for what it has.
type structure interface {
	// insert files x under x.due and x.seq. isNext: everything else is looked at later.
	insert(x *Item) (isNext bool)

	// remove takes x out. wasNext: nothing was looked at before it.
	remove(x *Item) (wasNext bool)

	// pop takes out the first item that is due by now. nil: none is, or next says that there is more to look at.
	pop(now clock.Instant) *Item

	// next is the next look; Forever: it is empty.
	next() clock.Instant
}

// A mover has a cheaper way to move an item than to take it out and to put it in.
type mover interface {
	// move files x, which is in, under at and x.seq, and sets x.due. isNext: next has become earlier.
	move(x *Item, at clock.Instant) (isNext bool)
}

// Where an item is: Item.Tag.
const (
	out    uint32 = iota
	inside        // the structure
	late          // timers.late
	never         // nowhere: it never comes
)

// timers makes a Queue of a structure: what all of them have in common.
type timers struct {
	s     structure
	m     mover // s, if it is one
	now   clock.Instant
	seq   uint64
	count int

	// late has what was due when it was scheduled. x.due is the now of that time, so it is sorted.
	late ring
}

func newTimers(s structure) *timers {
	q := &timers{s: s}
	q.m, _ = s.(mover)
	q.late.init()
	return q
}

func (q *timers) Len() int { return q.count }

func (q *timers) Schedule(x *Item, at clock.Instant) (isNext bool) {
	switch {
	case x.Tag != out:
		panic("bide/timer/queue: Schedule of an Item that is in a queue")
	case x.in != q:
		q.adopt(x)
	}
	return q.add(x, at)
}

// adopt makes x an item of this queue, for good: some structures drop an item later than Cancel says.
func (q *timers) adopt(x *Item) {
	if x.in != nil {
		panic("bide/timer/queue: Schedule of an Item of another queue")
	}
	x.in, x.Owner = q, x
}

func (q *timers) add(x *Item, at clock.Instant) (isNext bool) {
	q.count++
	q.seq++
	x.seq = q.seq
	switch {
	case at <= q.now:
		x.Tag, x.due = late, q.now
		isNext = q.late.front() == nil && q.s.next() > q.now
		q.late.push(x)
		return isNext
	case at > horizon:
		x.Tag, x.due = never, at
		return false
	}
	x.Tag, x.due = inside, at
	return q.s.insert(x) && q.late.front() == nil
}

func (q *timers) Reschedule(x *Item, at clock.Instant) (isNext bool) {
	if x.in != q || x.Tag == out {
		return q.Schedule(x, at)
	}
	if q.m != nil && x.Tag == inside && at > q.now && at <= horizon {
		q.seq++
		x.seq = q.seq
		return q.m.move(x, at) && q.late.front() == nil
	}
	before := q.look()
	q.take(x)
	q.add(x, at)
	return q.look() < before
}

func (q *timers) Cancel(x *Item) (was, wasNext bool) {
	if x.in != q || x.Tag == out {
		return false, false
	}
	return true, q.take(x)
}

// take takes x out.
//
// Preconditions: x is in.
func (q *timers) take(x *Item) (wasNext bool) {
	first := q.late.front()
	switch x.Tag {
	case late:
		wasNext = x.due == first.due && q.s.next() >= x.due
		unlink(x)
	case inside:
		before := clock.Instant(0)
		if first != nil {
			before = q.s.next()
		}
		wasNext = q.s.remove(x) && (first == nil || before <= first.due)
	}
	x.Tag = out
	q.count--
	return wasNext
}

func (q *timers) Expire(now clock.Instant, buf []*Item) (n int) {
	q.now = max(q.now, now)
	for n < len(buf) {
		x := q.pop()
		if x == nil {
			break
		}
		x.Tag = out
		q.count--
		buf[n] = x
		n++
	}
	return n
}

// pop takes the first from the structure, or from those that were late: they come after what the structure had for
// the same instant, which was scheduled before.
func (q *timers) pop() *Item {
	first := q.late.front()
	if first == nil {
		return q.s.pop(q.now)
	}
	if x := q.s.pop(first.due); x != nil || q.s.next() <= first.due {
		return x
	}
	unlink(first)
	return first
}

// look is Next, with Forever for none.
func (q *timers) look() clock.Instant {
	if q.late.front() != nil {
		return q.now
	}
	return max(q.now, q.s.next())
}

func (q *timers) Next() (at clock.Instant, ok bool) {
	at = q.look()
	return at, at != clock.Forever
}
