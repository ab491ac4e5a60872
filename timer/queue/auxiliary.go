package queue

import "bide.invalid/bide/clock"

// auxiliary is a pairing heap that does not meld at once: new items, and what is left of items that were removed, wait
// in a list of trees. A pop first melds that list in pairs until one tree is left (multi-pass), melds it with the main
// tree, and goes on as pairing does.
//
//	A1  P1 and P2 hold in the main tree and in those that wait; these are the children of aux, which is no item
//	A2  least is the first of all: a root
//
// insert is constant and compares once; pop and remove are as for pairing.
//
// Source: Stasko and Vitter, "Pairing Heaps: Experiments and Analysis" (CACM 1987): the auxiliary two-pass variant.
type auxiliary struct {
	root  *Item
	aux   Item
	least *Item
}

// NewPairingHeapAux returns a pairing heap whose inserts wait in an auxiliary list.
func NewPairingHeapAux() Queue { return newTimers(new(auxiliary)) }

func (h *auxiliary) insert(x *Item) (isNext bool) {
	h.wait(x)
	if h.least == nil || x.before(h.least) {
		h.least = x
		return true
	}
	return false
}

// wait puts a tree into the list.
func (h *auxiliary) wait(x *Item) {
	x.right, x.up = h.aux.left, &h.aux
	if x.right != nil {
		x.right.up = x
	}
	h.aux.left = x
}

// gather melds all trees into one, whose root is least.
func (h *auxiliary) gather() {
	list := h.aux.left
	for list != nil && list.right != nil {
		list = pairs(list)
	}
	h.aux.left = nil
	h.root = meld(h.root, list)
}

func (h *auxiliary) remove(x *Item) (wasNext bool) {
	wasNext = x.due == h.least.due
	if x == h.least {
		h.gather()
		h.root = twoPass(x.left)
		h.least = h.root
		x.left = nil
		return wasNext
	}
	below := twoPass(x.left)
	x.left = nil
	if x == h.root {
		h.root = nil
	} else {
		cut(x)
	}
	if below != nil {
		h.wait(below)
	}
	return wasNext
}

func (h *auxiliary) pop(now clock.Instant) *Item {
	x := h.least
	if x == nil || x.due > now {
		return nil
	}
	h.remove(x)
	return x
}

func (h *auxiliary) next() clock.Instant {
	if h.least == nil {
		return clock.Forever
	}
	return h.least.due
}
