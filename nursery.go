package bide

import (
	"context"
	"errors"
	"sync"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Nursery is a scope whose goroutines all end before it does: see [WithNursery]. Its methods are safe for concurrent
// use, also by its children.
type Nursery struct {
	scope Scope

	mu     sync.Mutex
	live   int          // children, and the body
	ended  bool         // the last of them has ended: nobody may be added
	waiter *park.Waiter // the body's, once it waits for the children
	token  park.Token
	errs   []error // real ones, in order of completion
	leaf   error   // the first cancellation
}

var errPanicked = errors.New("the body panicked, or called runtime.Goexit")

// WithNursery runs body, waits until it and every child that was started with [Nursery.Go] have ended, and returns
// their errors: a single one as it is, several joined. First the *TimeoutError of the nursery's own bound, then the
// others in the order of completion, and a cancellation from above last.
//
// body gets the nursery's own context, which is the one to use inside: the first real error, of a child or of the body,
// cancels it, so that all the others end. Their cancellations, and that of an explicit [Nursery.Cancel], are dropped
// here; one that comes from above passes on, once, however many children return it.
//
// What happened before Go happened before f; what a child did happened before the return of WithNursery.
//
// Waiting for the children is not a cancel point: they are canceled, not abandoned. Returning from body does not cancel
// them. A panic in a child ends the process, as in any goroutine; a panic in body is let through after the children,
// which it cancels, have ended, and their errors are lost. Options: Name, Clock, Timeout, Deadline, MoveOn.
func WithNursery(ctx context.Context, body func(ctx context.Context, n *Nursery) error, opts ...Option) error {
	n := &Nursery{live: 1}
	n.scope.open(&callWithNursery, ctx, opts)
	returned := false
	defer func() {
		if n.scope.state.Load()&closed != 0 {
			return
		}
		// The body panicked or called Goexit, or a method of its error panicked.
		n.scope.end(ByBody, errPanicked)
		if !returned {
			n.end(nil, ByBody, "")
		}
		n.wait()
		n.scope.close()
	}()
	err := body(&n.scope, n)
	returned = true
	n.end(err, ByBody, "")
	n.wait()
	leaf := n.scope.exit(n.leaf)
	if _, expired := leaf.(*TimeoutError); !expired {
		return join(append(n.errs, leaf)...)
	}
	return join(append([]error{leaf}, n.errs...)...)
}

// Go runs f on a goroutine, as a child: with the nursery's context, or, if options are given, in a scope of its own
// below it. It never refuses while the nursery is open, even if that is canceled: then f runs to its first cancel
// point, so that what it owns is released. It panics once WithNursery has come to its end. Options: Name, Clock,
// Timeout, Deadline, MoveOn.
func (n *Nursery) Go(f func(context.Context) error, opts ...Option) {
	if f == nil {
		panic("bide: Go: nil function")
	}
	var s *Scope
	if len(opts) > 0 {
		s = &Scope{}
		s.open(&callGo, &n.scope, opts)
	}
	n.mu.Lock()
	if n.ended {
		n.mu.Unlock()
		panic("bide: Go on a nursery that has ended" + n.scope.quoted())
	}
	n.live++
	n.mu.Unlock()
	go n.child(f, s)
}

func (n *Nursery) child(f func(context.Context) error, s *Scope) {
	err := ErrGoexit
	name := ""
	defer func() {
		// A panic ends the process here, with the stack of f still in place. (It is not handed to WithNursery's
		// caller: that would hide it until every sibling has ended; see golang/go#53757.)
		if v := recover(); v != nil {
			panic(v)
		}
		n.end(err, BySibling, name)
	}()
	if s == nil {
		err = f(&n.scope)
		return
	}
	name = s.Name()
	err = s.run(f)
}

// end counts off a child, or the body. A real error cancels the nursery; while that is canceled, what is a cancellation
// in err is not real.
func (n *Nursery) end(err error, source Source, name string) {
	defer n.count() // also if a method of err panics
	leaf := firstLeaf(err)
	if leaf != nil && n.scope.look(true) {
		err, _ = split(err, (*Canceled).made)
	} else {
		leaf = nil // whatever it says, nothing was canceled: it is real
	}
	step.At("nursery.file")
	n.mu.Lock()
	if err != nil {
		n.errs = append(n.errs, err)
	}
	if n.leaf == nil {
		n.leaf = leaf
	}
	n.mu.Unlock()
	if err != nil { // only now: what the others return because of it comes after it
		reason := err
		if name != "" {
			reason = &childError{name, err}
		}
		n.scope.end(source, reason)
	}
}

// count counts off one of the living, and wakes the body if it was the last.
func (n *Nursery) count() {
	step.At("nursery.end")
	n.mu.Lock()
	n.live--
	n.ended = n.live == 0
	w, t := n.waiter, n.token
	last := n.ended && w != nil
	n.mu.Unlock()
	if last {
		step.At("nursery.last")
		w.Wake(t, park.Woken)
	}
}

// wait returns when the last child has ended.
func (n *Nursery) wait() {
	step.At("nursery.wait")
	n.mu.Lock()
	if n.ended {
		n.mu.Unlock()
		return
	}
	w := park.Get()
	n.waiter, n.token = w, w.Arm(clock.Forever)
	t := n.token
	n.mu.Unlock()
	w.Wait(context.Background(), t, park.KindNursery)
	park.Put(w)
}

// Cancel cancels the nursery's scope, and with it the body and all children. WithNursery drops that, and returns nil if
// nothing else happened.
func (n *Nursery) Cancel(reason error) { n.scope.Cancel(reason) }

// Scope is the nursery's scope, the one that body and children without options run in. It must not be closed.
func (n *Nursery) Scope() *Scope { return &n.scope }
