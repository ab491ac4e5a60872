package queue

import "bide.invalid/bide/clock"

// heap4 is a 4-ary heap whose items do not know where they are: what the heaps with linear-scan and with lazy deletion
// have in common. The deadline lies beside the pointer, so a comparison does not visit the item.
//
//	S1  h[i] is not before h[(i-1)/4]
type heap4 []key

type key struct {
	at  clock.Instant
	seq uint64
	x   *Item
}

func (k *key) before(l *key) bool { return k.at < l.at || k.at == l.at && k.seq < l.seq }

func (h *heap4) push(x *Item) {
	*h = append(*h, key{})
	h.up(len(*h)-1, key{x.due, x.seq, x})
}

// delete takes h[i] out.
func (h *heap4) delete(i int) {
	end := len(*h) - 1
	last := (*h)[end]
	(*h)[end] = key{}
	*h = (*h)[:end]
	if i != end {
		h.fix(i, last)
	}
	if end == 0 && cap(*h) > kept {
		*h = nil
	}
}

// fix puts k at i, or where it belongs.
func (h *heap4) fix(i int, k key) {
	if i > 0 && k.before(&(*h)[(i-1)/4]) {
		h.up(i, k)
	} else {
		h.down(i, k)
	}
}

func (h *heap4) up(i int, k key) {
	a := *h
	for i > 0 {
		parent := (i - 1) / 4
		if !k.before(&a[parent]) {
			break
		}
		a[i] = a[parent]
		i = parent
	}
	a[i] = k
}

func (h *heap4) down(i int, k key) {
	a := *h
	for {
		least := 4*i + 1
		if least >= len(a) {
			break
		}
		for c := least + 1; c < min(4*i+5, len(a)); c++ {
			if a[c].before(&a[least]) {
				least = c
			}
		}
		if !a[least].before(&k) {
			break
		}
		a[i] = a[least]
		i = least
	}
	a[i] = k
}

// heapify makes S1 hold, whatever the order was.
func (h *heap4) heapify() {
	for i := (len(*h) - 2) / 4; i >= 0 && len(*h) > 1; i-- {
		h.down(i, (*h)[i])
	}
}
