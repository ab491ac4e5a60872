package queue

import (
	"math/bits"
	"time"

	"bide.invalid/bide/clock"
)

// slabWheel is the hierarchical wheel of Wheel with the links beside the items, as indices: the collector does not look
// into the slab, and marks no item by way of another. What it has to look at is owners, a pointer an item.
//
//	X1  W1 to W3 of Wheel hold, base being before whatever is filed
//	X2  owners[x.place] == x, and nodes[x.place].due == x.due; a free node has no owner, and its next is free, too, or 0
//	X3  open is the slot that base is the first tick of, while it is being emptied; else nothing is filed there
//
// Node 0 is no node. insert, remove, move and next are constant, but for the growth of the slab, and pop is as
// cascading's.
//
// Source: as Wheel; links by index are what programs had before they had pointers.
type slabWheel struct {
	ticks
	nodes  []slabNode
	owners []*Item
	free   uint32
	count  int

	base  int64
	open  uint32
	some  uint16
	full  [levels]uint64
	slots [levels*width + 1]uint32 // the first of each ring; the last slot is always empty
}

type slabNode struct {
	due        clock.Instant
	at         clock.Instant // what is due at or after it may stay where it is
	prev, next uint32
	slot       uint32
}

// NewSlabWheel returns a hierarchical wheel whose nodes are not in the items.
func NewSlabWheel(tick time.Duration) Queue {
	return newTimers(&slabWheel{ticks: newTicks(tick), open: shut})
}

const shut = levels * width // the slot that is open when none is

func (w *slabWheel) insert(x *Item) (isNext bool) {
	before, i := w.next(), w.take()
	w.nodes[i].due, w.owners[i], x.place = x.due, x, i
	w.link(i)
	return w.next() < before
}

// take is a node that was free.
func (w *slabWheel) take() (i uint32) {
	w.count++
	if i = w.free; i != 0 {
		w.free = w.nodes[i].next
		return i
	}
	if len(w.nodes) == 0 {
		w.nodes, w.owners = append(w.nodes, slabNode{}), append(w.owners, nil) // node 0
	}
	w.nodes, w.owners = append(w.nodes, slabNode{}), append(w.owners, nil)
	return uint32(len(w.nodes) - 1)
}

// link files node i by its due.
//
// Preconditions: that is after base.
func (w *slabWheel) link(i uint32) {
	n := &w.nodes[i]
	t := w.up(n.due)
	level := (bits.Len64(uint64(w.base^t)) - 1) / digit
	shift := uint(level * digit)
	s := t >> shift & (width - 1)
	n.at = w.instant(t>>shift<<shift-1) + 1
	n.slot = uint32(level*width + int(s))
	w.full[level] |= 1 << s
	w.some |= 1 << level
	first := w.slots[n.slot]
	if first == 0 {
		n.prev, n.next = i, i
		w.slots[n.slot] = i
		return
	}
	last := w.nodes[first].prev
	n.prev, n.next = last, first
	w.nodes[last].next, w.nodes[first].prev = i, i
}

// unlink takes node i out of its slot.
func (w *slabWheel) unlink(i uint32) {
	n := &w.nodes[i]
	if n.next != i {
		if w.slots[n.slot] == i {
			w.slots[n.slot] = n.next
		}
		w.nodes[n.prev].next, w.nodes[n.next].prev = n.next, n.prev
		return
	}
	w.slots[n.slot] = 0
	l := n.slot / width
	w.full[l] &^= 1 << (n.slot % width)
	if w.full[l] == 0 {
		w.some &^= 1 << l
	}
}

// drop frees node i, and the slab with the last one.
func (w *slabWheel) drop(i uint32) {
	w.owners[i] = nil
	w.nodes[i] = slabNode{next: w.free}
	w.free = i
	if w.count--; w.count == 0 && cap(w.owners) > kept {
		w.nodes, w.owners, w.free = nil, nil, 0
	}
}

func (w *slabWheel) remove(x *Item) (wasNext bool) {
	i := x.place
	wasNext = w.nodes[i].slot == w.nextSlot()
	w.unlink(i)
	w.drop(i)
	return wasNext
}

func (w *slabWheel) move(x *Item, at clock.Instant) (isNext bool) {
	n := &w.nodes[x.place]
	x.due, n.due = at, at
	if at >= n.at {
		return false
	}
	before := w.next()
	w.unlink(x.place)
	w.link(x.place)
	return w.next() < before
}

func (w *slabWheel) pop(now clock.Instant) *Item {
	for range looks {
		for w.slots[w.open] == 0 {
			w.open = shut
			s := w.nextSlot()
			if s == shut || w.first(s) > w.down(now) {
				w.base = max(w.base, w.down(now))
				return nil
			}
			w.base, w.open = w.first(s), s
		}
		i := w.slots[w.open]
		w.unlink(i)
		if w.up(w.nodes[i].due) <= w.base {
			x := w.owners[i]
			w.drop(i)
			return x
		}
		w.link(i)
	}
	return nil
}

// nextSlot is the slot that is looked at next; shut: there is none.
func (w *slabWheel) nextSlot() uint32 {
	if w.slots[w.open] != 0 {
		return w.open
	}
	if w.some == 0 {
		return shut
	}
	l := bits.TrailingZeros16(w.some)
	return uint32(l*width + bits.TrailingZeros64(w.full[l]))
}

// first is the tick at which a slot begins.
func (w *slabWheel) first(s uint32) int64 {
	shift := uint(s / width * digit)
	return (w.base>>(shift+digit)<<digit | int64(s%width)) << shift
}

func (w *slabWheel) next() clock.Instant {
	switch s := w.nextSlot(); s {
	case shut:
		return clock.Forever
	case w.open:
		return w.instant(w.base)
	default:
		return w.instant(w.first(s))
	}
}
