package queue

import (
	"math/bits"

	"bide.invalid/bide/clock"
)

// A Wheel is a hierarchical timing wheel that cascades, and rounds down: 11 levels of 64 slots, each slot of a level as wide as the whole level below.
// Time is counted in ticks of 1<<shift nanoseconds; the levels cover every tick an int64 has, so no deadline is out
// of reach, after any uptime.
//
// A deadline is rounded up to a tick: no look is early. An entry for tick t goes to the level of the highest base-64
// digit in which t differs from base, and to the slot of that digit of t. So, with digits counted from that level:
//
//	W1  the slot of an entry is after base's slot of that level, within the same slot of the next level
//	W2  everything at a level comes before everything at the level above: the first slot of the lowest level that
//	    has one is the next (get-min is two instructions; no slot is scanned)
//	W3  base may move to any tick before the next slot's first tick without moving an entry
//
// When base comes to the first tick of a slot the slot is opened: its entries are looked at one by one, and those that
// are due later are linked again, at a finer level, now that base is nearer (rounded down, at most one move a level).
// A stale base makes a look too early, never late: the look moves the entry on.
//
// A slot is a ring that the head pointer enters at the first entry, so entries of one tick are looked at in the order
// in which they were linked.
//
// Link, Unlink and Next take constant time. Pop moves what it looks at too early, at most once a level. Nothing is
// allocated. Callers lock. The zero Wheel is not ready: see Init.
type Wheel[T any] struct {
	shift uint8
	open  uint32 // the slot that base is the first tick of, while it is being emptied; else overdue
	some  uint16 // bit l: level l has an entry
	base  int64  // a tick: all before it was looked at
	count int
	full  [levels]uint64 // bit s: slot s of the level has an entry
	slots [levels*width + 1]*Node[T]
}

const (
	levels  = 11
	digit   = 6
	width   = 1 << digit
	overdue = levels * width // the slot of what was due when it was linked
	none    = overdue + 1
)

// Init makes an empty wheel with a tick of 1<<shift nanoseconds.
func (w *Wheel[T]) Init(shift uint8) { *w = Wheel[T]{shift: shift, open: overdue} }

// Len is how many are linked.
func (w *Wheel[T]) Len() int { return w.count }

// Has reports whether e is linked in a wheel; it does not know in which.
func (w *Wheel[T]) Has(e *Node[T]) bool { return e.next != nil }

// tick is the first tick at or after i.
func (w *Wheel[T]) tick(i clock.Instant) int64 {
	if i <= 0 {
		return 0
	}
	return (int64(i)-1)>>w.shift + 1
}

// Floor is the latest tick that is not after i, as an instant.
func (w *Wheel[T]) Floor(i clock.Instant) clock.Instant { return i >> w.shift << w.shift }

// instant is when tick t begins.
func (w *Wheel[T]) instant(t int64) clock.Instant {
	if t > int64(clock.Forever)>>w.shift {
		return clock.Forever
	}
	return clock.Instant(t << w.shift)
}

// Link files e for a deadline and returns the instant of the look: not after the first tick at or after the deadline.
//
// Preconditions: e is not linked; at is not Forever.
func (w *Wheel[T]) Link(e *Node[T], at clock.Instant) (look clock.Instant) {
	w.count++
	t := w.tick(at)
	if t <= w.base {
		e.place = overdue
		e.at.Store(1)
		w.push(e)
		return w.instant(w.base)
	}
	level := (bits.Len64(uint64(w.base^t)) - 1) / digit
	at64 := uint(level * digit)
	s := t >> at64 & (width - 1)
	start := t >> at64 << at64
	e.place = uint32(level*width + int(s))
	w.full[level] |= 1 << s
	w.some |= 1 << level
	// Due one nanosecond after the tick before start is due at start.
	e.at.Store((start-1)<<w.shift + 1)
	w.push(e)
	return w.instant(start)
}

func (w *Wheel[T]) push(e *Node[T]) {
	first := w.slots[e.place]
	if first == nil {
		e.prev, e.next = e, e
		w.slots[e.place] = e
		return
	}
	e.prev, e.next = first.prev, first
	first.prev.next = e
	first.prev = e
}

// Unlink takes e out.
//
// Preconditions: e is linked.
func (w *Wheel[T]) Unlink(e *Node[T]) {
	w.count--
	e.at.Store(0)
	if e.next != e {
		if w.slots[e.place] == e {
			w.slots[e.place] = e.next
		}
		e.prev.next, e.next.prev = e.next, e.prev
	} else {
		w.slots[e.place] = nil
		if l := e.place / width; l < levels {
			w.full[l] &^= 1 << (e.place % width)
			if w.full[l] == 0 {
				w.some &^= 1 << l
			}
		}
	}
	e.prev, e.next = nil, nil
}

// Next is the instant of the next look.
func (w *Wheel[T]) Next() (look clock.Instant, ok bool) {
	t, ok := w.next()
	return w.instant(t), ok
}

// IsNext reports whether e is in the slot that is looked at next.
func (w *Wheel[T]) IsNext(e *Node[T]) bool { return e.place == w.nextSlot() && e.At() != 0 }

// next is Next in ticks.
func (w *Wheel[T]) next() (t int64, ok bool) {
	switch s := w.nextSlot(); {
	case s == none:
		return 0, false
	case s == overdue || s == w.open:
		return w.base, true
	default:
		return w.first(int(s / width)), true
	}
}

// nextSlot is the slot that is looked at next: what was linked before base came to where it is, then what was due when
// it was linked, then the first slot of the lowest level.
func (w *Wheel[T]) nextSlot() uint32 {
	switch {
	case w.slots[w.open] != nil:
		return w.open
	case w.slots[overdue] != nil:
		return overdue
	case w.some == 0:
		return none
	}
	l := bits.TrailingZeros16(w.some)
	return uint32(l*width + bits.TrailingZeros64(w.full[l]))
}

// first is the tick at which the first slot of a level that is not empty begins (W1).
func (w *Wheel[T]) first(level int) int64 {
	s := int64(bits.TrailingZeros64(w.full[level]))
	at := uint(level * digit)
	return (w.base>>(at+digit)<<digit | s) << at
}

// Base is the instant before which everything was looked at.
func (w *Wheel[T]) Base() clock.Instant { return w.instant(w.base) }

// Forward brings base to now, if nothing is to be looked at before: entries that are linked from then on get the level
// that suits them, and are not looked at too early.
func (w *Wheel[T]) Forward(now clock.Instant) { w.forward(int64(now) >> w.shift) }

// forward moves base to now, if nothing is to be looked at before (W3).
func (w *Wheel[T]) forward(now int64) {
	if t, ok := w.next(); now > w.base && (!ok || t > now) {
		w.base, w.open = now, overdue
	}
}

// Pop takes out the next entry whose look has come by now, in the order of looks. An entry that is due later than its
// look is to be linked again. nil: none is left, and Base is not before the tick of now.
func (w *Wheel[T]) Pop(now clock.Instant) (e *Node[T], look clock.Instant) {
	e, t := w.pop(int64(now) >> w.shift)
	return e, w.instant(t)
}

// pop is Pop in ticks.
func (w *Wheel[T]) pop(now int64) (e *Node[T], look int64) {
	for {
		s := w.nextSlot()
		if s == overdue || s == w.open {
			e = w.slots[s]
			w.Unlink(e)
			return e, w.base
		}
		w.open = overdue // once base moves on, the slot may be filled again
		if s == none {
			break
		}
		t := w.first(int(s / width))
		if t > now {
			break
		}
		w.base, w.open = t, s
	}
	w.base = max(w.base, now)
	return nil, 0
}

// Occupied returns, for each level, how many of its 64 slots have an entry, from the finest.
func (w *Wheel[T]) Occupied() (slots [levels]int) {
	for l, full := range w.full {
		slots[l] = bits.OnesCount64(full)
	}
	return slots
}
