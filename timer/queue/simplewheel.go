package queue

import (
	"math"
	"time"

	"bide.invalid/bide/clock"
)

// simpleWheel has a slot for each tick of the current turn, and one list for everything beyond. When a turn is over,
// that list is gone through for what the next turn has.
//
//	V1  an item for a tick of base's turn is in that tick's slot, at or after base's; others are in far
//	V2  no item of far is due before the tick nearest; none of base's turn is in far
//	V3  full says which slots are not empty
//
// Deadlines are rounded up to a tick. insert and remove are constant; next and pop find the next slot by a bitmap; but
// at the end of each turn a pop goes through all that is far: linear.
//
// Source: Varghese and Lauck (1987), scheme 4, and the overflow list that they mention.
type simpleWheel struct {
	ticks
	bits    uint
	slots   []ring
	full    slotMap
	far     ring
	nearest int64
	base    int64
}

// NewSimpleWheel returns a wheel with a slot a tick.
func NewSimpleWheel(tick time.Duration, slots int) Queue {
	w := &simpleWheel{ticks: newTicks(tick), bits: slotBits(slots), nearest: nowhere}
	w.slots = make([]ring, slots)
	for i := range w.slots {
		w.slots[i].init()
	}
	w.far.init()
	return newTimers(w)
}

// slot is that of a tick.
func (w *simpleWheel) slot(t int64) int { return int(t) & (1<<w.bits - 1) }

func (w *simpleWheel) insert(x *Item) (isNext bool) {
	before, t := w.look(), w.up(x.due)
	w.file(x, t)
	return w.look() < before
}

func (w *simpleWheel) file(x *Item, t int64) {
	if t>>w.bits != w.base>>w.bits {
		x.place = math.MaxUint32
		if w.far.front() == nil { // what was left from earlier may be behind base
			w.nearest = t
		}
		w.nearest = min(w.nearest, t)
		w.far.push(x)
		return
	}
	s := w.slot(t)
	x.place = uint32(s)
	w.slots[s].push(x)
	w.full.set(s)
}

func (w *simpleWheel) remove(x *Item) (wasNext bool) {
	if x.place == math.MaxUint32 {
		wasNext = w.full.some == 0
		unlink(x)
		return wasNext
	}
	s := int(x.place)
	wasNext = w.full.from(w.slot(w.base)) == s
	w.take(x, s)
	return wasNext
}

func (w *simpleWheel) take(x *Item, s int) {
	unlink(x)
	if w.slots[s].front() == nil {
		w.full.clear(s)
	}
}

// look is the tick of the next look: that of a slot, or the first of the turn that has the first far item.
func (w *simpleWheel) look() int64 {
	switch s := w.full.from(w.slot(w.base)); {
	case s >= 0:
		return w.base>>w.bits<<w.bits | int64(s)
	case w.far.front() != nil:
		return w.nearest >> w.bits << w.bits
	}
	return nowhere
}

func (w *simpleWheel) pop(now clock.Instant) *Item {
	n := w.down(now)
	for {
		t := w.look()
		if t > n {
			w.base = max(w.base, n)
			return nil
		}
		s := w.slot(t)
		turned := t>>w.bits != w.base>>w.bits
		w.base = t
		if turned {
			w.turn()
			continue
		}
		x := w.slots[s].front()
		w.take(x, s)
		return x
	}
}

// turn files what base's turn has.
func (w *simpleWheel) turn() {
	w.nearest = nowhere
	for n := w.far.root.next; n.Owner != nil; {
		x := n.Owner
		n = n.next
		if t := w.up(x.due); t>>w.bits == w.base>>w.bits {
			unlink(x)
			w.file(x, t)
		} else {
			w.nearest = min(w.nearest, t)
		}
	}
}

func (w *simpleWheel) next() clock.Instant { return w.instant(w.look()) }
