package queue

import "bide.invalid/bide/clock"

// redBlack is a red-black tree that knows its first item. x.place is the color.
//
//	R1  in order: left before, right after
//	R2  the root and every leaf are black
//	R3  a red item has black children
//	R4  from an item to each leaf below it there are as many black ones
//	R5  first has no left child; x.left.up == x, x.right.up == x
//
// A leaf is a place without an item. All leaves are one item of the tree's own, whose up is scratch: while a removal
// mends the tree, it says where the leaf hangs.
//
// insert and remove are logarithmic, pop is a remove, next is constant; there is no linear operation, and nothing is
// allocated. Comparisons visit items.
//
// Source: Guibas and Sedgewick, "A Dichromatic Framework for Balanced Trees" (FOCS 1978); the cases as in textbooks.
type redBlack struct {
	root, first *Item
	leaf        Item
}

const (
	black = 0
	red   = 1
)

// NewRedBlackTree returns a red-black tree.
func NewRedBlackTree() Queue {
	t := new(redBlack)
	t.root = &t.leaf
	return newTimers(t)
}

func (t *redBlack) insert(x *Item) (isNext bool) {
	parent, link := &t.leaf, &t.root
	isNext = true
	for y := t.root; y != &t.leaf; y = *link {
		parent = y
		if x.before(y) {
			link = &y.left
		} else {
			link = &y.right
			isNext = false
		}
	}
	x.left, x.right, x.up, x.place = &t.leaf, &t.leaf, parent, red
	*link = x
	if isNext {
		t.first = x
	}
	t.mendRed(x)
	return isNext
}

// mendRed mends R3, where x and its parent may both be red.
func (t *redBlack) mendRed(x *Item) {
	for x.up.place == red {
		p, g := x.up, x.up.up
		isLeft := p == g.left
		uncle := g.left
		if isLeft {
			uncle = g.right
		}
		if uncle.place == red {
			p.place, uncle.place, g.place = black, black, red
			x = g
			continue
		}
		if (x == p.left) != isLeft { // inside: bring it outside
			t.rotate(p, isLeft)
			p = x
		}
		p.place, g.place = black, red
		t.rotate(g, !isLeft)
		break
	}
	t.root.place = black
}

// rotate turns x down to its left, or to its right.
func (t *redBlack) rotate(x *Item, toLeft bool) {
	var y, between *Item
	if toLeft {
		y = x.right
		between = y.left
		x.right, y.left = between, x
	} else {
		y = x.left
		between = y.right
		x.left, y.right = between, x
	}
	if between != &t.leaf {
		between.up = x
	}
	t.replace(x, y)
	x.up = y
}

// replace hangs y where x hangs.
func (t *redBlack) replace(x, y *Item) {
	switch p := x.up; {
	case p == &t.leaf:
		t.root = y
	case p.left == x:
		p.left = y
	default:
		p.right = y
	}
	y.up = x.up
}

// least is the first item of the tree below x.
func (t *redBlack) least(x *Item) *Item {
	for x.left != &t.leaf {
		x = x.left
	}
	return x
}

func (t *redBlack) remove(x *Item) (wasNext bool) {
	wasNext = x.due == t.first.due
	if x == t.first {
		switch {
		case x.right != &t.leaf:
			t.first = t.least(x.right)
		case x.up != &t.leaf:
			t.first = x.up
		default:
			t.first = nil
		}
	}
	var hole *Item // what now hangs where an item, of color gone, was taken away
	gone := x.place
	switch {
	case x.left == &t.leaf:
		hole = x.right
		t.replace(x, hole)
	case x.right == &t.leaf:
		hole = x.left
		t.replace(x, hole)
	default: // the next one, which has no left child, leaves its place for x's
		y := t.least(x.right)
		gone, hole = y.place, y.right
		if y.up == x {
			hole.up = y
		} else {
			t.replace(y, hole)
			y.right = x.right
			y.right.up = y
		}
		t.replace(x, y)
		y.left = x.left
		y.left.up = y
		y.place = x.place
	}
	if gone == black {
		t.mendBlack(hole)
	}
	x.left, x.right, x.up = nil, nil, nil
	return wasNext
}

// mendBlack mends R4, where the paths through x are one black short.
func (t *redBlack) mendBlack(x *Item) {
	for x != t.root && x.place == black {
		p := x.up
		isLeft := p.left == x
		s := p.sibling(isLeft)
		if s.place == red {
			s.place, p.place = black, red
			t.rotate(p, isLeft)
			s = p.sibling(isLeft)
		}
		inner, outer := s.right, s.left
		if isLeft {
			inner, outer = s.left, s.right
		}
		if inner.place == black && outer.place == black {
			s.place = red
			x = p
			continue
		}
		if outer.place == black {
			inner.place, s.place = black, red
			t.rotate(s, !isLeft)
			s, outer = inner, s
		}
		s.place, p.place, outer.place = p.place, black, black
		t.rotate(p, isLeft)
		x = t.root
	}
	x.place = black
}

// sibling is the other child than the left, or than the right.
func (x *Item) sibling(ofLeft bool) *Item {
	if ofLeft {
		return x.right
	}
	return x.left
}

func (t *redBlack) pop(now clock.Instant) *Item {
	x := t.first
	if x == nil || x.due > now {
		return nil
	}
	t.remove(x)
	return x
}

func (t *redBlack) next() clock.Instant {
	if t.first == nil {
		return clock.Forever
	}
	return t.first.due
}
