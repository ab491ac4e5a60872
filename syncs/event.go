package syncs

import (
	"context"
	"sync/atomic"

	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// An Event is set or not, and can be waited for. The zero Event is not set. It stays set until Reset; a Set that is
// followed by a Reset at once still releases everybody who waited. For one that releases one waiter at a time there is
// [AutoEvent].
//
// # Fairness
//
// Set releases all who wait, in the order of their arrival.
//
// # Cancellation
//
// A Wait that returns an error has left the event as it was.
//
// # Close
//
// There is nothing to close: an event that nobody waits for is garbage like any other.
//
// # Memory model
//
// A Set synchronizes before the return of any Wait that it releases, and of any Wait or IsSet after it that finds the
// event set; also one that has found it set before.
//
// # State
//
//	set  a flag, read anywhere, stored under mu
//
//	E1 not set → set    Set, under mu: everybody in the queue is resolved before mu is free
//	E2 set → not set    Reset, under mu
//
//	I1 while mu is free and the event is set, nobody is queued
type Event struct {
	_   noCopy
	set atomic.Bool

	mu    step.Mutex
	queue park.List
}

// Set sets the event and releases everybody who waits. It is idempotent.
func (e *Event) Set() {
	if e.set.CompareAndSwap(true, true) { // a store, for whoever finds it set to see what came before this Set as well
		return
	}
	var woken park.Batch
	step.At("event.set")
	e.mu.Lock()
	e.set.Store(true) // E1
	woken.Resolve(&e.queue, park.All)
	e.mu.Unlock()
	woken.Unpark()
}

// Reset makes the event not set. It is idempotent.
func (e *Event) Reset() {
	step.At("event.reset")
	e.mu.Lock()
	e.set.Store(false) // E2
	e.mu.Unlock()
}

// IsSet reports whether the event is set.
func (e *Event) IsSet() bool { return e.set.Load() }

// Wait waits until the event is set, or returns why ctx ended before. Under a canceled context it returns the error
// even if the event is set.
func (e *Event) Wait(ctx context.Context) error {
	notNil("Wait of an Event", ctx)
	if err := park.Err(ctx); err != nil {
		return err
	}
	if e.set.Load() {
		return nil
	}
	return wait(ctx, e, park.KindEvent)
}

func (e *Event) look() park.Outcome {
	if e.set.Load() {
		return park.Woken
	}
	return park.Pending
}

func (e *Event) add(n *park.Node, w *park.Waiter, t park.Token, o park.Outcome) park.Outcome {
	step.At("event.add")
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.set.Load() {
		return o
	}
	e.queue.PushBack(n, w, t, o)
	return park.Pending
}

func (e *Event) remove(n *park.Node) {
	step.At("event.remove")
	e.mu.Lock()
	e.queue.Remove(n)
	e.mu.Unlock()
}
