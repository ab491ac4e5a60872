package timer

import (
	"math/bits"

	"bide.invalid/bide/clock"
)

// A wheel is a hierarchical timing wheel: 11 levels of 64 slots, each slot of a level as wide as the whole level below.
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
type wheel struct {
	shift uint8
	open  uint16 // the slot that base is the first tick of, while it is being emptied; else overdue
	some  uint16 // bit l: level l has an entry
	base  int64  // a tick: all before it was looked at
	count int
	full  [levels]uint64 // bit s: slot s of the level has an entry
	slots [levels*width + 1]*Entry
}

const (
	levels  = 11
	digit   = 6
	width   = 1 << digit
	overdue = levels * width // the slot of what was due when it was linked
	none    = overdue + 1
)

// tick is the first tick at or after i.
func (w *wheel) tick(i clock.Instant) int64 {
	if i <= 0 {
		return 0
	}
	return (int64(i)-1)>>w.shift + 1
}

// instant is when tick t begins.
func (w *wheel) instant(t int64) clock.Instant {
	if t > int64(clock.Forever)>>w.shift {
		return clock.Forever
	}
	return clock.Instant(t << w.shift)
}

// link files e for a deadline and returns the instant of the look.
//
// Preconditions: e is not linked; at is not Forever.
func (w *wheel) link(e *Entry, at clock.Instant) (look clock.Instant) {
	w.count++
	t := w.tick(at)
	if t <= w.base {
		e.slot = overdue
		e.at.Store(1)
		w.push(e)
		return w.instant(w.base)
	}
	level := (bits.Len64(uint64(w.base^t)) - 1) / digit
	at64 := uint(level * digit)
	s := t >> at64 & (width - 1)
	start := t >> at64 << at64
	e.slot = uint16(level*width + int(s))
	w.full[level] |= 1 << s
	w.some |= 1 << level
	// Due one nanosecond after the tick before start is due at start.
	e.at.Store((start-1)<<w.shift + 1)
	w.push(e)
	return w.instant(start)
}

func (w *wheel) push(e *Entry) {
	first := w.slots[e.slot]
	if first == nil {
		e.prev, e.next = e, e
		w.slots[e.slot] = e
		return
	}
	e.prev, e.next = first.prev, first
	first.prev.next = e
	first.prev = e
}

// unlink takes e out.
//
// Preconditions: e is linked.
func (w *wheel) unlink(e *Entry) {
	w.count--
	e.at.Store(0)
	if e.next != e {
		if w.slots[e.slot] == e {
			w.slots[e.slot] = e.next
		}
		e.prev.next, e.next.prev = e.next, e.prev
	} else {
		w.slots[e.slot] = nil
		if l := e.slot / width; l < levels {
			w.full[l] &^= 1 << (e.slot % width)
			if w.full[l] == 0 {
				w.some &^= 1 << l
			}
		}
	}
	e.prev, e.next = nil, nil
}

// next is the tick of the next look.
func (w *wheel) next() (t int64, ok bool) {
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
func (w *wheel) nextSlot() uint16 {
	switch {
	case w.slots[w.open] != nil:
		return w.open
	case w.slots[overdue] != nil:
		return overdue
	case w.some == 0:
		return none
	}
	l := bits.TrailingZeros16(w.some)
	return uint16(l*width + bits.TrailingZeros64(w.full[l]))
}

// first is the tick at which the first slot of a level that is not empty begins (W1).
func (w *wheel) first(level int) int64 {
	s := int64(bits.TrailingZeros64(w.full[level]))
	at := uint(level * digit)
	return (w.base>>(at+digit)<<digit | s) << at
}

// forward moves base to now, if nothing is to be looked at before (W3).
func (w *wheel) forward(now int64) {
	if t, ok := w.next(); now > w.base && (!ok || t > now) {
		w.base, w.open = now, overdue
	}
}

// pop takes out the next entry whose look has come by now, in the order of ticks; look is the tick. nil: none is left,
// and base is not before now.
func (w *wheel) pop(now int64) (e *Entry, look int64) {
	for {
		s := w.nextSlot()
		if s == overdue || s == w.open {
			e = w.slots[s]
			w.unlink(e)
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
