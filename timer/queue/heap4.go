package queue

import "bide.invalid/bide/clock"

// A Heap4 is a 4-ary heap that knows where each node is: exact, in the order of deadlines and among equals in the order
// of linking, with no entry that is looked at for nothing. Link, Unlink and Pop take logarithmic time, Next constant.
// The array grows as a slice does (a million entries: 24 MB, and one copy of them when it grows), and is given
// back when the heap is empty. Callers lock. The zero Heap4 is empty.
//
//	H1  a[i] is not before a[(i-1)/4]
//	H2  a[i].n.place == i
//
// The deadline lies beside the pointer, so a comparison does not visit the node.
type Heap4[T any] struct {
	a    []leaf[T]
	last uint64 // ordinal of the latest Link
}

type leaf[T any] struct {
	at  clock.Instant
	seq uint64
	n   *Node[T]
}

func (l *leaf[T]) before(m *leaf[T]) bool { return l.at < m.at || l.at == m.at && l.seq < m.seq }

// kept is the capacity that an empty heap may keep.
const kept = 1024

// Len is how many are linked.
func (h *Heap4[T]) Len() int { return len(h.a) }

// Has reports whether n is linked here.
func (h *Heap4[T]) Has(n *Node[T]) bool { return int(n.place) < len(h.a) && h.a[n.place].n == n }

// Link files n for a deadline, which is also when it is looked at.
//
// Preconditions: n is not linked; at is not Forever.
func (h *Heap4[T]) Link(n *Node[T], at clock.Instant) (look clock.Instant) {
	h.last++
	if at != 0 {
		n.SetAt(at)
	} else {
		n.SetAt(1) // 0 is what a node that is not linked says; in time for every deadline from 1 on
	}
	h.a = append(h.a, leaf[T]{})
	h.up(len(h.a)-1, leaf[T]{at, h.last, n})
	return at
}

// Unlink takes n out.
//
// Preconditions: n is linked.
func (h *Heap4[T]) Unlink(n *Node[T]) {
	i, end := int(n.place), len(h.a)-1
	moved := h.a[end]
	h.a[end] = leaf[T]{}
	h.a = h.a[:end]
	n.SetAt(0)
	switch {
	case i == end:
	case i > 0 && moved.before(&h.a[(i-1)/4]):
		h.up(i, moved)
	default:
		h.down(i, moved)
	}
	if end == 0 && cap(h.a) > kept {
		h.a = nil
	}
}

// Next is the earliest deadline.
func (h *Heap4[T]) Next() (at clock.Instant, ok bool) {
	if len(h.a) == 0 {
		return 0, false
	}
	return h.a[0].at, true
}

// IsNext reports whether nothing is due before n.
func (h *Heap4[T]) IsNext(n *Node[T]) bool {
	return n.At() != 0 && h.Has(n) && h.a[n.place].at == h.a[0].at
}

// Pop takes out the first that is due by now; nil: none is.
func (h *Heap4[T]) Pop(now clock.Instant) (n *Node[T], at clock.Instant) {
	if len(h.a) == 0 || h.a[0].at > now {
		return nil, 0
	}
	n, at = h.a[0].n, h.a[0].at
	h.Unlink(n)
	return n, at
}

// up puts l at i, or further up.
func (h *Heap4[T]) up(i int, l leaf[T]) {
	for i > 0 {
		parent := (i - 1) / 4
		if !l.before(&h.a[parent]) {
			break
		}
		h.put(i, h.a[parent])
		i = parent
	}
	h.put(i, l)
}

// down puts l at i, or further down.
func (h *Heap4[T]) down(i int, l leaf[T]) {
	for {
		least := 4*i + 1
		if least >= len(h.a) {
			break
		}
		for c := least + 1; c < min(4*i+5, len(h.a)); c++ {
			if h.a[c].before(&h.a[least]) {
				least = c
			}
		}
		if !h.a[least].before(&l) {
			break
		}
		h.put(i, h.a[least])
		i = least
	}
	h.put(i, l)
}

func (h *Heap4[T]) put(i int, l leaf[T]) {
	h.a[i] = l
	l.n.place = uint32(i)
}
