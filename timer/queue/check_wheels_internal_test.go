package queue

import (
	"fmt"
	"math"
)

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
	if w.soon >= 0 && (w.soon != soon || len(ready) > 0) {
		return nil, fmt.Errorf("N4: %d, want %d, with %d ready", w.soon, soon, len(ready))
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

func (w *slabWheel) check() (items []*Item, err error) {
	for s, head := range w.slots {
		if l := s / width; l < levels && (w.full[l]>>(s%width)&1 != 0) != (head != 0) || l < levels && (w.some>>l&1 != 0) != (w.full[l] != 0) {
			return nil, fmt.Errorf("W2: slot %d", s)
		}
		for i := head; i != 0; {
			n := w.nodes[i]
			x, t := w.owners[i], w.up(n.due)
			switch {
			case x == nil || x.place != i || x.due != n.due:
				return nil, fmt.Errorf("X2: node %d", i)
			case int(n.slot) != s || w.nodes[n.next].prev != i:
				return nil, fmt.Errorf("node %d is linked in slot %d, and says %d", i, s, n.slot)
			case n.due < n.at:
				return nil, fmt.Errorf("the look is too late for %d: first deadline %d", n.due, n.at)
			case s != int(w.open) && (w.first(uint32(s)) <= w.base || w.first(uint32(s)) > t):
				return nil, fmt.Errorf("X1: slot %d begins at %d, an item is for tick %d, base %d", s, w.first(uint32(s)), t, w.base)
			case s == int(w.open) && w.first(uint32(s)) != w.base:
				return nil, fmt.Errorf("X3: slot %d is open and begins at %d, base %d", s, w.first(uint32(s)), w.base)
			}
			items = append(items, x)
			if i = n.next; i == head {
				break
			}
		}
	}
	free := 0
	for i := w.free; i != 0; i = w.nodes[i].next {
		if free++; w.owners[i] != nil {
			return nil, fmt.Errorf("X2: node %d is free, and has an owner", i)
		}
	}
	if len(items) != w.count || free+w.count != max(len(w.nodes), 1)-1 {
		return nil, fmt.Errorf("%d nodes are linked, want %d; %d of %d are free", len(items), w.count, free, len(w.nodes))
	}
	return items, nil
}
