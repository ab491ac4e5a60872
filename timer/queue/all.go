package queue

import "time"

// Tick is the timer service's on the monotonic clock, and that of the wheels in [All].
const Tick time.Duration = 1 << coarse

const coarse = 20

// A Candidate is a row of the table [All].
type Candidate struct {
	Name string
	New  func() Queue

	// Tick is what deadlines are rounded up to; 0: the queue is exact. Coarse: an item may be late by 8/63 of its
	// distance as well.
	Tick   time.Duration
	Coarse bool

	// Links is how many bytes of an item the structure has use for besides the deadline, on 64-bit machines. What
	// it allocates comes on top.
	Links int

	// Max is how many items it is meant for; 0: any number.
	Max int
}

// Late is how late an item may be that was scheduled so far ahead, by a caller that always calls Expire at Next.
func (c Candidate) Late(ahead time.Duration) time.Duration {
	if c.Coarse {
		return c.Tick + min(ahead/63*8+8, c.Tick<<21) // no bucket is longer
	}
	return c.Tick
}

// few is for queues that search.
const few = 10_000

// All returns the table of all structures: tests, benchmarks and the replay of traces go through it. The first is the
// timer service's for timeouts, the second its for exact deadlines.
func All() []Candidate {
	return []Candidate{
		{Name: "wheel", New: func() Queue { return NewWheel(Tick) }, Tick: Tick, Links: 20},
		{Name: "heap4", New: NewHeap4, Links: 4},
		{Name: "wheel-simple", New: func() Queue { return NewSimpleWheel(Tick, 4096) }, Tick: Tick, Links: 20},
		{Name: "wheel-hashed", New: func() Queue { return NewHashedWheel(Tick, 4096) }, Tick: Tick, Links: 20},
		{Name: "wheel-noncascading", New: func() Queue { return NewNonCascadingWheel(Tick) }, Tick: Tick, Coarse: true, Links: 20},
		{Name: "wheel-slab", New: func() Queue { return NewSlabWheel(Tick) }, Tick: Tick, Links: 4}, // and 40 in the slab
		{Name: "heap4-lazy", New: NewHeap4Lazy, Links: 4},
		{Name: "heap4-scan", New: NewHeap4Scan, Max: few},
		{Name: "heap2", New: NewBinaryHeap, Links: 4},
		{Name: "pairing", New: NewPairingHeap, Links: 24},
		{Name: "pairing-aux", New: NewPairingHeapAux, Links: 24},
		{Name: "skiplist", New: NewSkipList, Links: 24},
		{Name: "redblack", New: NewRedBlackTree, Links: 28},
		{Name: "lanes", New: NewLanes, Links: 20},
		{Name: "list-ordered", New: NewOrderedList, Links: 16, Max: few},
		{Name: "list-unordered", New: NewUnorderedList, Links: 16, Max: few},
	}
}
