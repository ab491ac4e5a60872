package queue

import (
	"math/bits"
	"time"

	"bide.invalid/bide/clock"
)

// nonCascading is a wheel with 8 levels of 64 buckets. A bucket of each level is 8 times as long as one of the level
// below, and stands for its end: a deadline is rounded up to it, and the item stays where it is filed. It is late by up
// to an eighth of its distance (8/63, where the levels meet) and a tick.
//
//	N1  an item of tick t is at the lowest level whose bucket of t, counted in buckets, is at most 64 after base's, and
//	    whose 64 buckets last longer than t is away; one that is too far for all is in the farthest bucket
//	N2  buckets after base's, and those only, may have items; ready has those of the buckets that end at base
//	N3  full says which buckets are not empty; x.place has the level and the bucket's number
//	N4  soon is the end of the next bucket, unless it is negative; while something is ready, it is
//
// insert and remove are constant. next compares the levels, once after a change. pop moves nothing, but for
// what was too far: it is filed again when its bucket ends. Order is that of buckets.
//
// Source: the Linux kernel's timer wheel since 4.8, as its documentation describes it.
type nonCascading struct {
	ticks
	base  int64
	soon  int64
	full  [bucketLevels]uint64
	slots [bucketLevels * 64]ring
	ready ring
}

const (
	bucketLevels = 8
	factorBits   = 3 // a level's buckets are 1<<factorBits times as long as those of the level below
	numberBits   = 29
)

// NewNonCascadingWheel returns a wheel that rounds up instead of moving.
func NewNonCascadingWheel(tick time.Duration) Queue {
	w := &nonCascading{ticks: newTicks(tick), soon: nowhere}
	for i := range w.slots {
		w.slots[i].init()
	}
	w.ready.init()
	return newTimers(w)
}

// bucket is where a tick is filed: a level, and the number of a bucket, which ends at number<<(factorBits*level).
func (w *nonCascading) bucket(t int64) (level uint, number int64) {
	for level = range uint(bucketLevels) {
		size := factorBits * level
		number = (t-1)>>size + 1
		if t-w.base < 64<<size && number-w.base>>size <= 64 {
			return level, number
		}
	}
	return level, w.base>>(factorBits*level) + 64
}

func (w *nonCascading) insert(x *Item) (isNext bool) {
	before := w.look()
	end := w.file(x)
	w.soon = min(w.soon, end)
	return end < before
}

func (w *nonCascading) file(x *Item) (end int64) {
	level, number := w.bucket(w.up(x.due))
	x.place = uint32(level)<<numberBits | uint32(number)&(1<<numberBits-1)
	w.slots[x.slot()].push(x)
	w.full[level] |= 1 << (number & 63)
	return number << (factorBits * level)
}

func (x *Item) slot() uint32 { return x.place>>numberBits<<6 | x.place&63 }

func (w *nonCascading) remove(x *Item) (wasNext bool) {
	level := x.place >> numberBits
	size := factorBits * level
	// The number has lost its upper bits: what counts is how far it is after base's, at most 64.
	own := w.base >> size
	end := (own + (int64(x.place)-own)&(1<<numberBits-1)) << size
	wasNext = end == w.look() // own bucket: 0 after base's, and ready
	unlink(x)
	if w.slots[x.slot()].front() == nil { // also if x was ready: the bit tells the truth
		w.full[level] &^= 1 << (x.place & 63)
	}
	if wasNext {
		w.soon = -1
	}
	return wasNext
}

// look is the tick of the next look.
func (w *nonCascading) look() int64 {
	if w.ready.front() != nil {
		return w.base
	}
	if w.soon < 0 {
		w.soon = nowhere
		for level, full := range w.full {
			if full != 0 {
				size := factorBits * level
				after := w.base>>size + 1
				n := after + int64(bits.TrailingZeros64(bits.RotateLeft64(full, -int(after&63))))
				w.soon = min(w.soon, n<<size)
			}
		}
	}
	return w.soon
}

func (w *nonCascading) pop(now clock.Instant) *Item {
	n := w.down(now)
	for {
		for x := w.ready.front(); x != nil; x = w.ready.front() {
			unlink(x)
			if w.up(x.due) <= w.base {
				return x
			}
			w.file(x)
		}
		t := w.look()
		if t > n {
			w.base = n
			return nil
		}
		w.base, w.soon = t, -1
		w.open()
	}
}

// open makes ready what ends at base, from the coarsest level: what was filed first is there.
func (w *nonCascading) open() {
	for level := bucketLevels - 1; level >= 0; level-- {
		size := factorBits * level
		s := w.base >> size & 63
		if w.base&(1<<size-1) == 0 && w.full[level]>>s&1 != 0 {
			w.full[level] &^= 1 << s
			w.ready.take(&w.slots[level<<6|int(s)])
		}
	}
}

func (w *nonCascading) next() clock.Instant { return w.instant(w.look()) }
