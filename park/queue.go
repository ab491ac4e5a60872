package park

import "bide.invalid/bide/internal/ilist"

// A Node is a waiter's place in a [List]. Nodes are the waiter's own, so that queueing allocates nothing; a node is in
// one list at a time.
type Node struct {
	links ilist.Links[Node]
	next  *Node // in a Batch
	w     *Waiter
	t     Token
	o     Outcome
}

// Links is for the list.
func (n *Node) Links() *ilist.Links[Node] { return &n.links }

// Nodes returns n nodes of w, for a wait that is queued in n places at once; 1 is free. They stay valid until Put, and
// the caller takes them out of every list before the next wait.
func (w *Waiter) Nodes(n int) []Node {
	if n <= len(w.node) {
		return w.node[:n]
	}
	if cap(w.more) < n {
		w.more = make([]Node, n)
	}
	w.more = w.more[:n] // Put looks at these
	return w.more
}

// A List is a queue of waiters, for a primitive to embed: it is guarded by the primitive's lock, and the zero List is
// empty. Each node remembers the token it was filed with, and what outcome its waiter is to be woken with.
type List struct{ l ilist.List[Node, *Node] }

// PushBack files w, waiting with t, at the end; woken through n, its outcome is o.
func (l *List) PushBack(n *Node, w *Waiter, t Token, o Outcome) {
	n.w, n.t, n.o = w, t, o
	l.l.PushBack(n)
}

// PushFront files it before the first.
func (l *List) PushFront(n *Node, w *Waiter, t Token, o Outcome) {
	n.w, n.t, n.o = w, t, o
	l.l.PushFront(n)
}

// Remove takes n out, and reports whether it was in.
func (l *List) Remove(n *Node) bool { return l.l.Remove(n) }

// Empty reports whether nobody is filed. Waiters that were canceled are, until they have taken themselves out.
func (l *List) Empty() bool { return l.l.Empty() }

// Resolve takes out the first node whose waiter can still be woken, and all before it, and resolves that one with o, the
// outcome it was filed with. The caller Unparks w, better after unlocking; nil: nobody was left. For several at once
// there is [Batch].
func (l *List) Resolve() (w *Waiter, o Outcome) {
	if n := l.resolve(Pending); n != nil {
		return n.w, n.o
	}
	return nil, Pending
}

// resolve is Resolve, with the outcome as unless that is Pending. Until the caller's Unpark the node stays as it is.
func (l *List) resolve(as Outcome) *Node {
	for n := l.l.PopFront(); n != nil; n = l.l.PopFront() {
		// The token is read under the lock that guards the list: a moment later the node may be another wait's.
		o := n.o
		if as != Pending {
			o = as
		}
		if n.w.Resolve(n.t, o) {
			return n
		}
	}
	return nil
}
