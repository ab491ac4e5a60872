package queue

import "bide.invalid/bide/clock"

// pairing is a pairing heap, a tree without a shape of its own. An item has its first child, its next sibling, and the
// way back: the sibling before it or, if it is the first child, its parent.
//
//	P1  a child is not before its parent
//	P2  x.left.up == x, x.right.up == x; the root has neither up nor right
//
// insert compares with the root: constant. pop melds the root's children in pairs from the left, then the pairs from
// the right: logarithmic over many operations, but one pop after n inserts visits n items; remove of an item with many
// children does too. No recursion: the pairs are kept in a list that the siblings' links make.
//
// Source: Fredman, Sedgewick, Sleator, Tarjan, "The Pairing Heap" (Algorithmica 1986).
type pairing struct{ root *Item }

// NewPairingHeap returns a pairing heap that melds in two passes.
func NewPairingHeap() Queue { return newTimers(new(pairing)) }

func (h *pairing) insert(x *Item) (isNext bool) {
	isNext = h.root == nil || x.due < h.root.due
	h.root = meld(h.root, x)
	return isNext
}

func (h *pairing) remove(x *Item) (wasNext bool) {
	wasNext = x.due == h.root.due
	below := twoPass(x.left)
	if x == h.root {
		h.root = below
	} else {
		cut(x)
		h.root = meld(h.root, below)
	}
	x.left = nil
	return wasNext
}

func (h *pairing) pop(now clock.Instant) *Item {
	x := h.root
	if x == nil || x.due > now {
		return nil
	}
	h.remove(x)
	return x
}

func (h *pairing) next() clock.Instant {
	if h.root == nil {
		return clock.Forever
	}
	return h.root.due
}

// meld makes one tree of two; either may be nil.
//
// Preconditions: neither is below another item.
func meld(a, b *Item) *Item {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case b.before(a):
		a, b = b, a
	}
	b.right, b.up = a.left, a
	if a.left != nil {
		a.left.up = b
	}
	a.left = b
	return a
}

// cut takes x, with what is below it, out of the tree.
//
// Preconditions: x is not the root.
func cut(x *Item) {
	if x.up.left == x {
		x.up.left = x.right
	} else {
		x.up.right = x.right
	}
	if x.right != nil {
		x.right.up = x.up
	}
	x.up, x.right = nil, nil
}

// twoPass melds siblings into one tree.
func twoPass(first *Item) (root *Item) {
	for list := pairs(first); list != nil; {
		x := list
		list, x.right = x.right, nil
		root = meld(root, x)
	}
	return root
}

// pairs melds siblings two by two, from first on, and returns the trees as a list by right, the last one first.
func pairs(first *Item) (list *Item) {
	for first != nil {
		a, b := first, first.right
		first, a.right, a.up = b, nil, nil
		if b != nil {
			first, b.right, b.up = b.right, nil, nil
		}
		a = meld(a, b)
		list, a.right = a, list
	}
	return list
}
