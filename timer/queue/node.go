package queue

import (
	"sync/atomic"

	"bide.invalid/bide/clock"
)

// A Node is the place of an object in a [Wheel] or in a [Heap4]: embedded in the object, so that nothing is allocated.
// Owner leads from the node to the object; with an interface or a pointer for T a node has 48 or 40 bytes. It must not
// be copied while it is linked, and it is in one structure at a time.
type Node[T any] struct {
	_ noCopy

	prev, next *Node[T]
	place      uint32 // the slot in a wheel, the index in a heap

	// Tag is the owner's, for what it has to remember about its node.
	Tag uint32

	at    atomic.Int64
	Owner T
}

// At is the earliest deadline that the coming look is in time for; 0: not linked. It may be read without the lock under
// which the structure is changed: a deadline at or after it needs no Link.
func (n *Node[T]) At() clock.Instant { return clock.Instant(n.at.Load()) }

// SetAt is for a structure of one's own that the node is linked in; 0: not linked.
func (n *Node[T]) SetAt(at clock.Instant) { n.at.Store(int64(at)) }

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
