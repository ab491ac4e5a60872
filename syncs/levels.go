package syncs

import (
	"sync"

	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/park"
)

// levels is an ordered table of queues, one for each number that somebody waits for: a treap, whose ranks are a hash of
// the numbers. To find, to add and to take out cost the logarithm of how many numbers there are, for any numbers that
// were not chosen against it. It has no lock of its own; the zero levels is empty.
//
//	I1 a level's number is between those of its left and of its right, and its rank is above theirs
//	I2 no level's queue is empty, but of one that was just made
//
// The hash is a bijection: two ranks are equal only if the numbers are.
type levels struct{ root *level }

type level struct {
	n, rank     uint64
	left, right *level
	queue       park.List
}

var levelPool = sync.Pool{New: func() any { return new(level) }}

// first is the level of the least number, or nil.
func (l *levels) first() *level {
	x := l.root
	for x != nil && x.left != nil {
		x = x.left
	}
	return x
}

// least is the least number, or 0.
func (l *levels) least() uint64 {
	if x := l.first(); x != nil {
		return x.n
	}
	return 0
}

// find is the level of n, or nil.
func (l *levels) find(n uint64) *level {
	if x := *l.seek(n); x != nil && x.n == n {
		return x
	}
	return nil
}

// make is the level of n, a new one if there is none.
func (l *levels) make(n uint64) *level {
	p := l.seek(n)
	if *p != nil && (*p).n == n {
		return *p
	}
	x := levelPool.Get().(*level)
	x.n, x.rank = n, rank(n)
	x.left, x.right = split(*p, n)
	*p = x
	return x
}

// drop takes x out, whose queue is empty.
func (l *levels) drop(x *level) {
	invariant.True(x.queue.Empty(), "syncs: a level is dropped that somebody waits at")
	p := l.seek(x.n)
	*p = merge(x.left, x.right)
	*x = level{}
	levelPool.Put(x)
}

// seek is the link to the level of n, or the one where its rank belongs.
func (l *levels) seek(n uint64) **level {
	p, r := &l.root, rank(n)
	for *p != nil && (*p).rank > r {
		if n < (*p).n {
			p = &(*p).left
		} else {
			p = &(*p).right
		}
	}
	return p
}

// split divides what is below x into the numbers below n and those above.
func split(x *level, n uint64) (below, above *level) {
	b, a := &below, &above
	for x != nil {
		if x.n < n {
			*b, b, x = x, &x.right, x.right
		} else {
			*a, a, x = x, &x.left, x.left
		}
	}
	*b, *a = nil, nil
	return below, above
}

// merge undoes split.
func merge(below, above *level) (x *level) {
	p := &x
	for below != nil && above != nil {
		if below.rank > above.rank {
			*p, p, below = below, &below.right, below.right
		} else {
			*p, p, above = above, &above.left, above.left
		}
	}
	if below == nil {
		below = above
	}
	*p = below
	return x
}

// rank is a hash.
func rank(n uint64) uint64 {
	n ^= n >> 30
	n *= 0xbf58476d1ce4e5b9
	n ^= n >> 27
	n *= 0x94d049bb133111eb
	return n ^ n>>31
}
