package park

import (
	"math"

	"bide.invalid/bide/internal/step"
)

// All is the n of those who wake everybody.
const All = math.MaxInt

// A Batch collects waiters that are resolved under a lock, however many, to be unparked after it. Nothing is allocated:
// they are linked through their nodes. The zero Batch is empty.
//
// Whoever takes the lock next finds nobody of the batch in the list, though it may be that nobody of them runs yet. A
// primitive whose second caller may not return before everybody is awake keeps its lock until after Unpark, or makes
// that caller wait.
type Batch struct{ first, last *Node }

// Resolve takes nodes out of l, from the front, until it has resolved n of those who can still be woken, each with the
// outcome it was filed with. It reports how many it has resolved. The caller holds the lock that guards l.
func (b *Batch) Resolve(l *List, n int) (resolved int) { return b.resolve(l, n, Pending) }

// ResolveAs is Resolve with the outcome o for each: [Closed], when the primitive is closed.
func (b *Batch) ResolveAs(l *List, n int, o Outcome) (resolved int) {
	o.mustEnd("ResolveAs")
	return b.resolve(l, n, o)
}

func (b *Batch) resolve(l *List, n int, as Outcome) (resolved int) {
	for ; resolved < n; resolved++ {
		node := l.resolve(as)
		if node == nil {
			break
		}
		b.add(node)
	}
	return resolved
}

// add takes a node whose waiter was resolved. The link is not the list's: an owner that takes itself out of the list
// finds that it is not in, whenever it looks.
func (b *Batch) add(n *Node) {
	if b.first == nil {
		b.first = n
	} else {
		b.last.next = n
	}
	b.last = n
}

// Unpark delivers the wake-ups, in the order of the Resolves, and leaves the batch empty. Better called with no lock
// held that the waiters want.
func (b *Batch) Unpark() {
	for b.first != nil {
		n := b.first
		b.first, n.next = n.next, nil // before the wake-up: then the node is its owner's again
		step.At("batch.unpark")
		n.w.Unpark()
	}
	b.last = nil
}
