package queue

import "bide.invalid/bide/clock"

// An Item is what a [Queue] holds. It has room for the links of every structure, so that each is measured with items of
// the same size: 128 bytes on 64-bit machines, of which a wheel or a heap uses the first half. It belongs to the queue
// that it is first scheduled in, and must not be copied after that.
//
// Of the node, the queue uses everything, Tag and Owner too. Value is the caller's.
type Item struct {
	Node[*Item]
	due clock.Instant
	seq uint64 // ordinal of its scheduling: order among equals
	in  *timers

	left, right, up *Item   // of trees; in a pairing heap: first child, next sibling, previous sibling or parent
	tower           []*Item // of the skip list

	Value any
}

// Due is what the item was last scheduled for; if that had passed, the queue's now of that time.
func (x *Item) Due() clock.Instant { return x.due }

// before is the order of all structures that are exact; no two items are equal.
func (x *Item) before(y *Item) bool { return x.due < y.due || x.due == y.due && x.seq < y.seq }
