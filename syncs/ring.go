package syncs

// A ring is a queue of values, open at both ends, in a slice that grows as it is needed and does not shrink. The zero
// ring is empty. It has no lock of its own.
type ring[T any] struct {
	buf  []T // its length is 0 or a power of two
	head int // where the first one is
	n    int
}

// at is the slot of the i-th value, counted from the front; n: the first free one.
func (r *ring[T]) at(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

func (r *ring[T]) pushBack(v T) {
	r.grow()
	*r.at(r.n) = v
	r.n++
}

func (r *ring[T]) pushFront(v T) {
	r.grow()
	r.head = (r.head - 1) & (len(r.buf) - 1)
	*r.at(0) = v
	r.n++
}

// popFront takes the first one out. Preconditions: n is not 0.
func (r *ring[T]) popFront() T {
	v := takeOut(r.at(0))
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return v
}

// popBack takes the last one out. Preconditions: n is not 0.
func (r *ring[T]) popBack() T {
	r.n--
	return takeOut(r.at(r.n))
}

// takeOut reads a slot and clears it, so that it keeps nothing reachable.
func takeOut[T any](slot *T) (v T) {
	v, *slot = *slot, v
	return v
}

// grow makes room for one more.
func (r *ring[T]) grow() {
	if r.n < len(r.buf) {
		return
	}
	buf := make([]T, max(4, 2*len(r.buf)))
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.buf, r.head = buf, 0
}
