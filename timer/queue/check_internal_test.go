package queue

import (
	"fmt"
	"math"
	"testing"

	"bide.invalid/bide/clock"
)

// A checker recomputes what the comment above the structure claims, and returns what is in, in any order.
type checker interface {
	structure
	check() ([]*Item, error)
}

// probe stands between a queue and its structure: it holds the queue to what it owes the structure, and the structure to
// its invariants.
type probe struct {
	checker
	t    testing.TB
	in   map[*Item]bool
	told clock.Instant
	ops  int
	rare int // how many operations pass between two checks of what has many slots
}

// probed puts a probe into a queue.
func probed(t testing.TB, q Queue) *timers {
	ts := q.(*timers)
	p := &probe{checker: ts.s.(checker), t: t, in: map[*Item]bool{}}
	switch s := ts.s.(type) {
	case *cascading, *nonCascading:
		p.rare = 7
	case *simpleWheel:
		p.rare = len(s.slots) / 64
	case *hashedWheel:
		p.rare = len(s.slots) / 64
	}
	ts.s = p
	if ts.m != nil {
		ts.m = probedMover{p, ts.m}
	}
	return ts
}

func (p *probe) insert(x *Item) bool {
	p.must(!p.in[x], "an item is inserted twice")
	p.must(x.due > p.told && x.due <= horizon, "a deadline enters that has passed, or never comes")
	p.in[x] = true
	isNext := p.checker.insert(x)
	p.look()
	return isNext
}

func (p *probe) remove(x *Item) bool {
	p.must(p.in[x], "an item is removed that is not in")
	delete(p.in, x)
	wasNext := p.checker.remove(x)
	p.look()
	return wasNext
}

func (p *probe) pop(now clock.Instant) *Item {
	p.told = max(p.told, now)
	x := p.checker.pop(now)
	if x != nil {
		p.must(p.in[x], "an item is popped that is not in")
		p.must(x.due <= now, "an item is popped early")
		delete(p.in, x)
	}
	p.look()
	return x
}

type probedMover struct {
	*probe
	m mover
}

func (p probedMover) move(x *Item, at clock.Instant) bool {
	p.must(p.in[x], "an item is moved that is not in")
	p.must(at > p.told && at <= horizon, "an item is moved to where it must not enter")
	isNext := p.m.move(x, at)
	p.must(x.due == at, "an item is moved elsewhere")
	p.look()
	return isNext
}

func (p *probe) must(ok bool, what string) {
	if !ok {
		p.t.Fatal(what)
	}
}

// look checks the invariants: each time if there are few items, else now and then.
func (p *probe) look() {
	if p.ops++; p.ops%(1+p.rare+len(p.in)/16) != 0 {
		return
	}
	items, err := p.checker.check()
	if err != nil {
		p.t.Fatal(err)
	}
	p.must(len(items) == len(p.in), fmt.Sprintf("%d items are in, want %d", len(items), len(p.in)))
	for _, x := range items {
		p.must(p.in[x], "an item is in that should not be")
	}
}

// items is what a ring has; an error if its links do not match.
func (r *ring) items() (items []*Item, err error) {
	prev := &r.root
	for n := r.root.next; n != &r.root; n = n.next {
		if n.prev != prev || n.Owner == nil || &n.Owner.Node != n {
			return nil, fmt.Errorf("a ring is broken behind item %d", len(items))
		}
		items = append(items, n.Owner)
		prev = n
	}
	if r.root.prev != prev {
		return nil, fmt.Errorf("a ring's end is not its last item")
	}
	return items, nil
}

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

func (q *lanes) check() (items []*Item, err error) {
	full, used := 0, 0
	for n, l := range q.all {
		if l == nil {
			continue
		}
		used++
		if int(l.number) != n || q.by[l.d] != l {
			return nil, fmt.Errorf("F3: lane %d", n)
		}
		in, err := l.items.items()
		if err != nil {
			return nil, err
		}
		for i, x := range in {
			if int(x.place) != n || i > 0 && x.before(in[i-1]) {
				return nil, fmt.Errorf("F1, F3: lane %d, item %d", n, i)
			}
		}
		items = append(items, in...)
		if len(in) > 0 {
			full++
		}
		if (len(in) > 0) != (l.index >= 0) {
			return nil, fmt.Errorf("F2: lane %d has %d items, and index %d", n, len(in), l.index)
		}
	}
	for i, l := range q.heap {
		if l.index != i || i > 0 && q.heap.Less(i, (i-1)/2) {
			return nil, fmt.Errorf("F2: %d", i)
		}
	}
	if full != len(q.heap) || used != len(q.by) || used+len(q.free) != len(q.all) || used > full+idleLanes {
		return nil, fmt.Errorf("%d lanes in the heap, want %d; %d in the table, want %d; %d free of %d",
			len(q.heap), full, len(q.by), used, len(q.free), len(q.all))
	}
	return items, nil
}

func (w *simpleWheel) check() (items []*Item, err error) {
	for s := range w.slots {
		in, err := w.slots[s].items()
		if err != nil {
			return nil, err
		}
		if (w.full.words[s>>6]>>(s&63)&1 != 0) != (len(in) > 0) || (w.full.some>>(s>>6)&1 != 0) != (w.full.words[s>>6] != 0) {
			return nil, fmt.Errorf("V3: slot %d", s)
		}
		for _, x := range in {
			t := w.up(x.due)
			if int(x.place) != s || w.slot(t) != s || t>>w.bits != w.base>>w.bits || t < w.base {
				return nil, fmt.Errorf("V1: an item for tick %d is in slot %d, base %d", t, s, w.base)
			}
		}
		items = append(items, in...)
	}
	far, err := w.far.items()
	for _, x := range far {
		if t := w.up(x.due); t < w.nearest || t>>w.bits == w.base>>w.bits || x.place != math.MaxUint32 {
			return nil, fmt.Errorf("V2: an item for tick %d, nearest %d, base %d", t, w.nearest, w.base)
		}
	}
	return append(items, far...), err
}

func (w *hashedWheel) check() (items []*Item, err error) {
	if w.from <= w.base {
		return nil, fmt.Errorf("D2: from %d, base %d", w.from, w.base)
	}
	for s := range w.slots {
		in, err := w.slots[s].items()
		if err != nil {
			return nil, err
		}
		for _, x := range in {
			switch t := w.up(x.due); {
			case int(x.place) != s:
				return nil, fmt.Errorf("an item of slot %d says %d", s, x.place)
			case s == w.turn() && t != w.base:
				return nil, fmt.Errorf("D1: an item for tick %d is due, base %d", t, w.base)
			case s < w.turn() && (t <= w.base || int(t)&(w.turn()-1) != s):
				return nil, fmt.Errorf("D1: an item for tick %d is in slot %d, base %d", t, s, w.base)
			case s < w.turn() && t < w.from:
				return nil, fmt.Errorf("D2: an item for tick %d, from %d", t, w.from)
			}
		}
		items = append(items, in...)
		if s < w.turn() && ((w.full.words[s>>6]>>(s&63)&1 != 0) != (len(in) > 0) || (w.full.some>>(s>>6)&1 != 0) != (w.full.words[s>>6] != 0)) {
			return nil, fmt.Errorf("D3: slot %d", s)
		}
	}
	return items, nil
}

func (w *nonCascading) check() (items []*Item, err error) {
	soon := int64(math.MaxInt64)
	for s := range w.slots {
		in, err := w.slots[s].items()
		if err != nil {
			return nil, err
		}
		level := s >> 6
		size := factorBits * level
		if (w.full[level]>>(s&63)&1 != 0) != (len(in) > 0) {
			return nil, fmt.Errorf("N3: bucket %d of level %d", s&63, level)
		}
		for _, x := range in {
			t, own := w.up(x.due), w.base>>size
			n := own + 1 + (int64(s)-own-1)&63 // the only one after base's that the slot can stand for
			switch {
			case int(x.slot()) != s || x.place&(1<<numberBits-1) != uint32(n)&(1<<numberBits-1):
				return nil, fmt.Errorf("N2, N3: an item of bucket %d of level %d says %x", n, level, x.place)
			case n<<size < t && level < bucketLevels-1:
				return nil, fmt.Errorf("N1: an item for tick %d is in bucket %d of level %d", t, n, level)
			case (n-1)<<size >= t:
				return nil, fmt.Errorf("N1: an item for tick %d could be in an earlier bucket than %d of level %d", t, n, level)
			}
			soon = min(soon, n<<size)
		}
		items = append(items, in...)
	}
	ready, err := w.ready.items()
	if len(ready) == 0 && w.soon >= 0 && w.soon != soon {
		return nil, fmt.Errorf("N4: %d, want %d", w.soon, soon)
	}
	return append(items, ready...), err
}

func (q *cascading) check() (items []*Item, err error) {
	for _, head := range q.w.slots {
		for n := head; n != nil; {
			if n.Owner.due < n.At() {
				return nil, fmt.Errorf("the look is too late for %d: first deadline %d", n.Owner.due, n.At())
			}
			items = append(items, n.Owner)
			if n = n.next; n == head {
				break
			}
		}
	}
	return items, checkWheel(&q.w, (*Node[*Item]).At)
}
