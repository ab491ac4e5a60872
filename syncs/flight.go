package syncs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Flight makes one call of a function serve everybody who asks for the same key while it runs. The zero Flight is
// ready. It remembers nothing: who asks after the call has returned has it made again.
//
// # Fairness
//
// All who are there when the call returns get its result, in the order of their arrival.
//
// # Cancellation
//
// A caller whose context ends leaves, with its error, and the others do not notice. The function runs on a goroutine of
// its own, under a context that has the values of the first caller's, and is canceled when the last caller has left.
// Who asks after that has a new call made at once, and does not wait for the canceled one to end.
//
// # Close
//
// There is nothing to close: without callers nothing is kept.
//
// # Panics
//
// If the function panics, every caller that is still there panics with a [*PanicError], which has the value and the
// stack; if none is, the process ends, as by a panic in any goroutine. If the function calls runtime.Goexit, the callers
// get an error. Nobody is left waiting.
//
// # Memory model
//
// The return of the function synchronizes before the return of every Do that it serves.
//
// # State
//
// Under mu: the calls by key, and for each how many are in Do for it.
//
//	K1 · → flying       Do, for a key that nothing flies for: one caller
//	K2 flying           Do: one caller more
//	K3 flying           a caller leaves, not the last one
//	K4 flying → lost    the last caller leaves: out of the map, and canceled
//	K5 flying → landed  the function has returned: out of the map, everybody is resolved
//	K6 lost → landed    the function has returned, and nobody is there
//
//	I1 in the map if and only if flying: there is a caller
type Flight[K comparable, V any] struct {
	_ noCopy

	mu    step.Mutex
	calls table[K, *flown[V]]
}

// flown is one call.
type flown[V any] struct {
	callers int // 0: lost
	queue   park.List
	landed  bool
	cancel  context.CancelFunc // written by the first caller before it waits

	// written before the callers are resolved
	v        V
	err      error
	panicked *PanicError
}

// A PanicError is what a caller panics with whose work, done on another goroutine, has panicked.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the goroutine that panicked
}

// Error is the value and the stack.
func (p *PanicError) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap is the value, if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

var errGoexitInFlight = errors.New("bide/syncs: the function of a Flight has ended its goroutine")

// Do returns what f returns, or what another caller's f does that runs already for k; or it returns why ctx ended
// before. Callers who share a call share its value. f must not call Do for k, since it would wait for itself.
func (g *Flight[K, V]) Do(ctx context.Context, k K, f func(context.Context) (V, error)) (v V, err error) {
	notNil("Do of a Flight", ctx)
	if f == nil {
		panic("bide/syncs: Do of a Flight with a nil function")
	}
	if err := park.Err(ctx); err != nil {
		return v, err
	}
	w := park.Get()
	n := &w.Nodes(1)[0]
	step.At("flight.do")
	c, t, first := g.board(k, w, n)
	if first {
		shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
		c.cancel = cancel
		go g.fly(k, c, shared, f)
	}
	o := safeWait(ctx, w, t, park.KindFlight, func(o park.Outcome) {
		if o != park.Woken {
			g.leave(k, c, n)
		}
	})
	if o != park.Woken {
		g.leave(k, c, n)
	}
	park.Put(w) // not deferred: a waiter that a panic passed by is not put back
	switch {
	case o != park.Woken:
		return v, park.Reason(ctx)
	case c.panicked != nil:
		panic(c.panicked)
	}
	return c.v, c.err
}

// board makes w wait for the call for k, which may have to be made.
func (g *Flight[K, V]) board(k K, w *park.Waiter, n *park.Node) (c *flown[V], t park.Token, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock() // looking up a key may panic: an interface that holds a slice
	c = g.calls.m[k]
	if c == nil { // K1
		c, first = &flown[V]{}, true
		g.remember(k, c)
	}
	c.callers++ // K2
	t = w.Arm(clock.Forever)
	c.queue.PushBack(n, w, t, park.Woken)
	return c, t, first
}

// remember: Preconditions: mu held.
func (g *Flight[K, V]) remember(k K, c *flown[V]) {
	if isSelf(k, k) { // not a NaN, which would never be found again
		g.calls.set(k, c)
	}
}

func isSelf[K comparable](a, b K) bool { return a == b }

// forget: Preconditions: mu held.
func (g *Flight[K, V]) forget(k K, c *flown[V]) {
	if g.calls.m[k] == c {
		g.calls.drop(k)
	}
}

// fly calls f.
func (g *Flight[K, V]) fly(k K, c *flown[V], ctx context.Context, f func(context.Context) (V, error)) {
	defer c.cancel()
	var v V
	err := errGoexitInFlight
	returned := false
	defer func() {
		var panicked *PanicError
		if !returned {
			if r := recover(); r != nil {
				panicked = &PanicError{Value: r, Stack: debug.Stack()}
			}
		}
		if told := g.land(k, c, v, err, panicked); panicked != nil && told == 0 {
			panic(panicked)
		}
	}()
	v, err = f(ctx)
	returned = true
}

// land gives the result to all callers who are there, and returns how many they are.
func (g *Flight[K, V]) land(k K, c *flown[V], v V, err error, panicked *PanicError) (told int) {
	var woken park.Batch
	step.At("flight.land")
	g.mu.Lock()
	g.forget(k, c) // K5; after K4 there is nothing to forget: K6
	c.landed = true
	c.v, c.err, c.panicked = v, err, panicked
	told = woken.Resolve(&c.queue, park.All)
	g.mu.Unlock()
	woken.Unpark()
	return told
}

// leave is for a caller that was canceled.
func (g *Flight[K, V]) leave(k K, c *flown[V], n *park.Node) {
	step.At("flight.leave")
	g.mu.Lock()
	c.queue.Remove(n)
	c.callers-- // K3
	last := c.callers == 0 && !c.landed
	if last {
		g.forget(k, c) // K4
	}
	invariant.True(c.callers >= 0, "syncs: a Flight has lost count of its callers")
	g.mu.Unlock()
	if last {
		c.cancel()
	}
}
