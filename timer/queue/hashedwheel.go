package queue

import (
	"time"

	"bide.invalid/bide/clock"
)

// hashedWheel has a slot for every tick that leaves the same rest: when a slot's tick comes, its items are gone through
// for those whose turn it is.
//
//	D1  an item for tick t is in slot t mod slots, after base, or in the last ring: due
//	D2  no item of a slot is due before the tick from, which is after base
//	D3  full says which slots are not empty
//
// Deadlines are rounded up to a tick. insert and remove are constant. pop visits the items of a slot, n/slots on
// average, and every occupied slot once a turn, though nothing in it may be due; after a turn in vain it looks at all
// items once, and goes straight to the first. next is the next occupied slot.
//
// Source: Varghese and Lauck (1987), scheme 6.
type hashedWheel struct {
	ticks
	slots []ring // and one more: what came up with base's tick, and was not taken yet
	full  slotMap
	base  int64
	from  int64
}

// NewHashedWheel returns a hashed wheel with unsorted slots.
func NewHashedWheel(tick time.Duration, slots int) Queue {
	w := &hashedWheel{ticks: newTicks(tick), from: 1}
	slotBits(slots)
	w.slots = make([]ring, slots+1)
	for i := range w.slots {
		w.slots[i].init()
	}
	return newTimers(w)
}

// turn is how many ticks, and slots, one has; it is the number of the ring for what is due as well.
func (w *hashedWheel) turn() int { return len(w.slots) - 1 }

func (w *hashedWheel) insert(x *Item) (isNext bool) {
	before, t := w.look(), w.up(x.due)
	s := int(t) & (w.turn() - 1)
	x.place = uint32(s)
	w.slots[s].push(x)
	w.full.set(s)
	w.from = min(w.from, t)
	return w.look() < before && before > w.down(x.in.now) // an earlier slot matters little if the look is overdue
}

func (w *hashedWheel) remove(x *Item) (wasNext bool) {
	wasNext = int(x.place) == w.turn()
	if w.slots[w.turn()].front() == nil {
		wasNext = int(x.place) == int(w.look())&(w.turn()-1)
	}
	w.take(x)
	return wasNext
}

func (w *hashedWheel) take(x *Item) {
	unlink(x)
	if s := int(x.place); s < w.turn() && w.slots[s].front() == nil {
		w.full.clear(s)
	}
}

// look is the tick of the next look.
func (w *hashedWheel) look() int64 {
	if w.slots[w.turn()].front() != nil {
		return w.base
	}
	if w.full.some == 0 {
		return nowhere
	}
	at := int(w.from) & (w.turn() - 1)
	s := w.full.from(at)
	if s < 0 {
		s = w.full.from(0) + w.turn()
	}
	return w.from + int64(s-at)
}

func (w *hashedWheel) pop(now clock.Instant) *Item {
	n := w.down(now)
	for since := w.from; ; {
		if x := w.slots[w.turn()].front(); x != nil {
			w.take(x)
			return x
		}
		t := w.look()
		if t > n {
			w.base = max(w.base, n)
			w.from = max(w.from, w.base+1)
			return nil
		}
		w.base, w.from = t, t+1
		if w.visit(t) {
			since = w.from
		} else if t-since >= int64(w.turn()) {
			w.from = w.first()
			since = w.from
		}
	}
}

// visit moves what is due at t from its slot, and reports whether there was any.
func (w *hashedWheel) visit(t int64) (any bool) {
	s := int(t) & (w.turn() - 1)
	for n := w.slots[s].root.next; n.Owner != nil; {
		x := n.Owner
		n = n.next
		if w.up(x.due) == t {
			w.take(x)
			x.place = uint32(w.turn())
			w.slots[w.turn()].push(x)
			any = true
		}
	}
	return any
}

// first is the first tick that an item of a slot is due at.
func (w *hashedWheel) first() int64 {
	t := int64(nowhere)
	for s := range w.turn() {
		for n := w.slots[s].root.next; n.Owner != nil; n = n.next {
			t = min(t, w.up(n.Owner.due))
		}
	}
	return t
}

func (w *hashedWheel) next() clock.Instant { return w.instant(w.look()) }
