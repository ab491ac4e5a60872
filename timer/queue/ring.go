package queue

// A ring is a list of items, by way of their nodes. The root is a node without an owner, so an item is taken out
// without knowing which ring it is in, and the owner of the node behind the last is nil. See init.
type ring struct{ root Node[*Item] }

func (r *ring) init() { r.root.prev, r.root.next = &r.root, &r.root }

// front is the first item; nil: the ring is empty.
func (r *ring) front() *Item { return r.root.next.Owner }

func (r *ring) push(x *Item) { r.pushAfter(r.root.prev, x) }

// pushAfter puts x behind a node of the ring, or in front if that is the root.
func (r *ring) pushAfter(n *Node[*Item], x *Item) {
	x.prev, x.next = n, n.next
	n.next.prev = &x.Node
	n.next = &x.Node
}

// take moves everything from another ring to the end of this one.
func (r *ring) take(from *ring) {
	first, last := from.root.next, from.root.prev
	if first == &from.root {
		return
	}
	first.prev, last.next = r.root.prev, &r.root
	r.root.prev.next = first
	r.root.prev = last
	from.init()
}

func unlink(x *Item) {
	x.prev.next, x.next.prev = x.next, x.prev
	x.prev, x.next = nil, nil
}
