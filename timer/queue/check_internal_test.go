package queue

import (
	"fmt"

	"bide.invalid/bide/clock"
)

func (l *ordered) check() ([]*Item, error) {
	items, err := l.items.items()
	for i := range items[min(1, len(items)):] {
		if items[i+1].before(items[i]) {
			return nil, fmt.Errorf("O1: item %d", i+1)
		}
	}
	return items, err
}

func (l *unordered) check() ([]*Item, error) {
	items, err := l.items.items()
	first := clock.Forever
	for i, x := range items {
		first = min(first, x.due)
		if i > 0 && x.seq < items[i-1].seq {
			return nil, fmt.Errorf("item %d was scheduled before the one in front of it", i)
		}
	}
	if !l.stale && l.first != first {
		return nil, fmt.Errorf("U1: %d, want %d", l.first, first)
	}
	return items, err
}

// tree collects a root and what is below it, and checks P1 and P2.
func tree(root *Item) (items []*Item, err error) {
	items = []*Item{root}
	for i := 0; i < len(items); i++ {
		from := items[i]
		for x := items[i].left; x != nil; from, x = x, x.right {
			if x.up != from {
				return nil, fmt.Errorf("P2: a child of item %d", i)
			}
			if x.before(items[i]) {
				return nil, fmt.Errorf("P1: a child of item %d is before it", i)
			}
			items = append(items, x)
		}
	}
	return items, nil
}

func (h *pairing) check() ([]*Item, error) {
	if h.root == nil {
		return nil, nil
	}
	if h.root.up != nil || h.root.right != nil {
		return nil, fmt.Errorf("P2: the root has up or right")
	}
	return tree(h.root)
}

func (h *auxiliary) check() ([]*Item, error) {
	items, err := (&pairing{h.root}).check()
	if err != nil {
		return nil, err
	}
	least, from := h.root, &h.aux
	for x := h.aux.left; x != nil; from, x = x, x.right {
		if x.up != from {
			return nil, fmt.Errorf("A1: a waiting tree has a wrong way back")
		}
		more, err := tree(x)
		if err != nil {
			return nil, err
		}
		if least == nil || x.before(least) {
			least = x
		}
		items = append(items, more...)
	}
	if h.least != least {
		return nil, fmt.Errorf("A2: not the first")
	}
	return items, nil
}

func (q *indexed) check() (items []*Item, err error) {
	for i, l := range q.h.a {
		x := l.n.Owner
		switch {
		case i > 0 && l.before(&q.h.a[(i-1)/4]):
			return nil, fmt.Errorf("H1: %d", i)
		case int(x.place) != i || l.n != &x.Node:
			return nil, fmt.Errorf("H2: %d", i)
		case l.at != x.due || x.At() != x.due:
			return nil, fmt.Errorf("at %d is %d, want %d", i, l.at, x.due)
		}
		items = append(items, x)
	}
	return items, nil
}

func (h heap4) check() (items []*Item, err error) {
	for i := range h {
		if i > 0 && h[i].before(&h[(i-1)/4]) {
			return nil, fmt.Errorf("S1: %d", i)
		}
		items = append(items, h[i].x)
	}
	return items, nil
}

func (q *scan4) check() ([]*Item, error) {
	for i, k := range q.h {
		if k.at != k.x.due || k.seq != k.x.seq {
			return nil, fmt.Errorf("cached at %d: %d, want %d", i, k.at, k.x.due)
		}
	}
	return q.h.check()
}

func (q *lazy4) check() (items []*Item, err error) {
	if _, err = q.h.check(); err != nil {
		return nil, err
	}
	bound, zombies := clock.Forever, 0
	for i, k := range q.h {
		switch p := k.x.place; {
		case p != heaped && p != heaped|modified && p != heaped|modified|zombie:
			return nil, fmt.Errorf("bits at %d: %b", i, p)
		case p == heaped && (k.at != k.x.due || k.seq != k.x.seq):
			return nil, fmt.Errorf("L1: %d", i)
		case p == heaped|modified && k.x.due < q.modified:
			return nil, fmt.Errorf("L2: %d, due %d, before %d", i, k.x.due, q.modified)
		case p&zombie != 0:
			zombies++
			continue
		}
		items = append(items, k.x)
		bound = min(q.h[0].at, q.modified)
	}
	for _, x := range items {
		if x.due < bound {
			return nil, fmt.Errorf("L3: due %d, bound %d", x.due, bound)
		}
	}
	if zombies != q.zombies || bound != q.next() {
		return nil, fmt.Errorf("%d zombies, want %d; bound %d, want %d", q.zombies, zombies, q.next(), bound)
	}
	return items, nil
}

func (q *heap2) check() ([]*Item, error) {
	for i, x := range q.a {
		switch {
		case i > 0 && x.before(q.a[(i-1)/2]):
			return nil, fmt.Errorf("B1: %d", i)
		case int(x.place) != i:
			return nil, fmt.Errorf("B2: %d", i)
		}
	}
	return q.a, nil
}

func (s *skipList) check() (items []*Item, err error) {
	for l := range maxTower {
		k := 0 // of items, those of the list below
		for x := s.head[l]; x != nil; x = x.tower[l] {
			if l >= s.height || len(x.tower) <= l {
				return nil, fmt.Errorf("K2: list %d of %d has an item with a tower of %d", l, s.height, len(x.tower))
			}
			if l == 0 {
				if k > 0 && x.before(items[k-1]) {
					return nil, fmt.Errorf("K1: item %d", k)
				}
				items = append(items, x)
				k++
				continue
			}
			for k < len(items) && items[k] != x {
				if len(items[k].tower) > l {
					return nil, fmt.Errorf("K1: list %d lacks item %d", l, k)
				}
				k++
			}
			if k++; k > len(items) {
				return nil, fmt.Errorf("K1: list %d has an item that list 0 lacks, or has elsewhere", l)
			}
		}
		for ; l > 0 && k < len(items); k++ {
			if len(items[k].tower) > l {
				return nil, fmt.Errorf("K1: list %d lacks item %d", l, k)
			}
		}
	}
	return items, nil
}

func (t *redBlack) check() (items []*Item, err error) {
	if t.leaf.place != black || t.root.place != black {
		return nil, fmt.Errorf("R2")
	}
	if t.root == &t.leaf {
		if t.first != nil {
			return nil, fmt.Errorf("R5: first of an empty tree")
		}
		return nil, nil
	}
	if t.root.up != &t.leaf {
		return nil, fmt.Errorf("R5: the root has a parent")
	}
	if _, err = t.below(t.root, &items); err == nil && t.first != items[0] {
		err = fmt.Errorf("R5: first is not the first")
	}
	for i := range items[1:] {
		if err == nil && items[i+1].before(items[i]) {
			err = fmt.Errorf("R1: item %d", i+1)
		}
	}
	return items, err
}

// below collects a tree in order, and counts its black items from the root to a leaf. It recurses: logarithmic, if R holds.
func (t *redBlack) below(x *Item, items *[]*Item) (blacks int, err error) {
	if x == &t.leaf {
		return 1, nil
	}
	for _, c := range []*Item{x.left, x.right} {
		if c != &t.leaf && c.up != x {
			return 0, fmt.Errorf("R5: a child knows another parent")
		}
		if x.place == red && c.place == red {
			return 0, fmt.Errorf("R3")
		}
	}
	l, err := t.below(x.left, items)
	if err != nil {
		return 0, err
	}
	*items = append(*items, x)
	r, err := t.below(x.right, items)
	if err == nil && l != r {
		err = fmt.Errorf("R4: %d and %d", l, r)
	}
	return l + 1 - int(x.place), err
}
