package bide

import (
	"context"
	"errors"
	"sync/atomic"

	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Nursery is a scope whose goroutines all end before it does: see [WithNursery]. Its methods are safe for concurrent
// use, also by its children.
//
// # State
//
// It is the word alive, and its transitions are enter and count. None is possible once it is 0: whoever makes it 0 is
// the last of all, and lets WithNursery go on. Where only services are left, they are told to end, perhaps several
// times, since a service may add a child.
type Nursery struct {
	scope     named
	alive     atomic.Uint64 // theBody, and aChild and aService for each, also for a child that waits for a slot
	limit     int           // of children at a time; 0: none
	supervise bool
	repanic   bool

	slots    int32 // taken, if there is a limit; from here on under mu
	mu       step.Mutex
	queue    park.List     // who waits for a slot
	services *Scope        // made by the first Service
	results  *results      // nil: none that counts
	ended    chan struct{} // made by WithNursery when it has to wait (a WaitGroup hides its park from synctest and -race)
}

// results are what children and body have brought.
type results struct {
	errs     []error // real ones, in order of completion
	leaf     error   // the first cancellation
	panicked *PanicError
}

var (
	errPanicked = errors.New("the body panicked, or called runtime.Goexit")
	errServed   = errors.New("the nursery's body and children have ended")
)

// WithNursery runs body, waits until it and every child that was started with [Nursery.Go] have ended, and returns
// their errors: a single one as it is, several joined by errors.Join. The *TimeoutError of the nursery's own bound
// comes first, then the others in the order of completion, and a cancellation from above last.
//
// body gets the nursery's own context, which is the one to use inside: the first real error, of a child or of the body,
// cancels it, so that all the others end. Their cancellations, and that of an explicit [Nursery.Cancel], are dropped
// here; one that comes from above passes on, once, however many children return it.
//
// What happened before Go happened before f; what a child did happened before the return of WithNursery.
//
// Waiting for the children is not a cancel point: children are canceled, never abandoned. Returning nil from body does
// not cancel them. A panic in a child ends the process, as in any goroutine. A panic in body cancels the children, and
// passes when they have ended; their errors are lost.
//
// Options: Name, Clock, Account, Labels, Timeout, Deadline, Idle, MoveOn, Stacks, Limit, Supervise, Repanic.
func WithNursery(ctx context.Context, body func(ctx context.Context, n *Nursery) error, opts ...Option) error {
	n := &Nursery{}
	n.alive.Store(theBody)
	n.scope.open(&callWithNursery, ctx, opts)
	for _, o := range opts {
		switch o.kind {
		case optLimit:
			n.limit = int(o.n)
		case optSupervise:
			n.supervise = true
		case optRepanic:
			n.repanic = true
		}
	}
	returned := false
	defer func() {
		if n.scope.state.Load()&closed != 0 {
			return
		}
		// The body panicked or called Goexit, or a method of its error panicked.
		n.scope.end(ByBody, errPanicked)
		if !returned {
			n.count(theBody)
		}
		n.wait()
		n.close()
	}()
	err := n.scope.do(func(ctx context.Context) error { return body(ctx, n) })
	returned = true
	n.finish(err)
	n.wait()
	r := n.results
	if r != nil && r.panicked != nil {
		n.close()
		panic(r.panicked)
	}
	if n.services != nil {
		n.services.close()
	}
	if r == nil {
		return n.scope.exit(nil)
	}
	leaf := n.scope.exit(r.leaf)
	if _, expired := leaf.(*TimeoutError); !expired {
		return join(append(r.errs, leaf)...)
	}
	return join(append([]error{leaf}, r.errs...)...)
}

// finish is the end of the body.
func (n *Nursery) finish(err error) {
	defer n.count(theBody) // also if a method of err panics
	n.file(err, ByBody, "")
}

func (n *Nursery) close() {
	if n.services != nil {
		n.services.close()
	}
	n.scope.close()
}

// Go runs f on a goroutine, as a child: with the nursery's context, or, if options are given, in a scope of its own
// below it. It never refuses while the nursery is open, even if that is canceled: then f runs to its first cancel
// point, so that what it owns is released. It panics once WithNursery has come to its end.
//
// In a nursery with a [Limit] it waits until fewer children than that run; calls are served in order. This wait cannot
// be canceled, so that f is never lost: in a canceled nursery the others end, and f runs to its first cancel point. If
// all children of a full nursery call Go at the same time, they wait for each other for ever. A bound that the options
// set begins when f may run, not while Go waits.
//
// Options: Name, Clock, Account, Labels, Timeout, Deadline, Idle, MoveOn, Stacks.
func (n *Nursery) Go(f func(context.Context) error, opts ...Option) {
	n.admit(&callGo, f)
	if n.limit > 0 {
		if err := n.await(context.Background()); err != nil {
			panic("bide: Go: " + err.Error()) // the background is never canceled
		}
	}
	n.start(&callGo, f, opts)
}

// TryGo is [Nursery.Go], unless the nursery's [Limit] is reached: then it does nothing and reports false.
func (n *Nursery) TryGo(f func(context.Context) error, opts ...Option) bool {
	n.admit(&callTryGo, f)
	if n.limit > 0 {
		n.mu.Lock()
		free := n.slot()
		n.mu.Unlock()
		if !free {
			n.count(aChild)
			return false
		}
	}
	n.start(&callTryGo, f, opts)
	return true
}

// Service runs f on a goroutine, as a child that the others depend on: a logger, a cache. Its context is canceled when
// the body and all ordinary children have ended, and not before: neither by the nursery's cancellation, nor from above.
// Returning that cancellation is no error; any other error counts as with Go. A service takes no slot of a [Limit].
//
// Options: Name, Clock, Account, Labels, Timeout, Deadline, Idle, MoveOn, Stacks.
func (n *Nursery) Service(f func(context.Context) error, opts ...Option) {
	n.admit(&callService, f)
	defer n.count(aChild) // it is one for the moment: who counts a service finds the scope of them all
	s := n.served()
	var own *Scope
	if len(opts) > 0 {
		own = newScope(opts)
		own.open(&callService, s, opts)
	}
	n.enter("Service", aService)
	go n.service(f, own)
}

// served is the scope of all services, made by the first.
func (n *Nursery) served() *Scope {
	n.mu.Lock()
	s := n.services
	n.mu.Unlock()
	if s != nil {
		return s
	}
	made := &Scope{}
	made.state.Store(made.init(&callServices, &n.scope.Scope))
	if registry.On() {
		made.tell() // before those below it, and without a lock: an observer may use the nursery, or whoever logs its panic
	}
	step.At("nursery.services")
	n.mu.Lock()
	if n.services == nil {
		n.services = made
	}
	s = n.services
	n.mu.Unlock()
	if s != made {
		made.close() // two were the first
	}
	return s
}

// Cancel cancels the nursery's scope, and with it the body and all children. WithNursery drops that, and returns nil if
// nothing else happened.
func (n *Nursery) Cancel(reason error) { n.scope.Cancel(reason) }

// Scope is the nursery's scope, the one that body and children without options run in. It must not be closed.
func (n *Nursery) Scope() *Scope { return &n.scope.Scope }
