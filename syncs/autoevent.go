package syncs

import (
	"context"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// An AutoEvent is an [Event] that resets itself: one Set releases one Wait, now or later. The zero AutoEvent is not set.
// Sets are not counted: several that come before a Wait are as one. (A [Semaphore] counts.)
//
// A Wait takes what it waits for, so an AutoEvent is not a [Waitable].
//
// # Fairness
//
// Waiters are released in the order of their arrival; each is handed its Set, which nobody can take in between.
//
// # Cancellation
//
// A Wait that returns an error has left the event as it was. A Set that meets a canceled waiter goes to the next, or
// stays for the Wait to come.
//
// # Close
//
// There is nothing to close. To let everybody go for good takes an [Event].
//
// # Memory model
//
// A Set synchronizes before the return of the Wait or TryWait that it releases, and so do all that came before and
// found it set.
type AutoEvent struct {
	_    noCopy
	word atomic.Uint32

	mu    step.Mutex // before a timer shard's; nothing of a user is called with it held
	queue park.List
}

// The word of an AutoEvent.
//
//	lowered  not set, nobody waits
//	raised   set, nobody waits
//	lined    not set, somebody is in the queue
//
//	A1 lowered → raised          Set: CAS
//	A2 raised → lowered          Wait, TryWait, Reset: CAS
//	A3 lowered → lined           a Wait, under mu, before it queues itself: CAS
//	A4 lined → lined, lowered    Set, under mu: the first waiter is resolved; lowered if it was the last
//	A5 lined → raised            Set, under mu: everybody who was queued has been canceled
//	A6 lined → lowered           the last to leave the queue, under mu, canceled
//
//	I1 while mu is free, the word is lined if and only if the queue is not empty
//	I2 lined changes only under mu
const (
	lowered = iota
	raised
	lined
)

// Set releases the first who waits, or else the next who will. It is idempotent while nobody waits.
func (e *AutoEvent) Set() {
	for {
		switch e.word.Load() {
		case raised:
			step.At("autoevent.again")
			if e.word.CompareAndSwap(raised, raised) { // a store, for whoever takes the Set to see what came before this one
				return
			}
		case lowered:
			step.At("autoevent.raise")
			if e.word.CompareAndSwap(lowered, raised) { // A1
				return
			}
		default:
			if e.hand() {
				return
			}
		}
	}
}

// hand: A4 or A5. It reports false if nobody is queued any more.
func (e *AutoEvent) hand() bool {
	step.At("autoevent.hand")
	e.mu.Lock()
	if e.word.Load() != lined {
		e.mu.Unlock()
		return false
	}
	w, _ := e.queue.Resolve()
	switch {
	case w == nil:
		e.word.Store(raised) // A5
	case e.queue.Empty():
		e.word.Store(lowered) // A4
	}
	e.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
	return true
}

// Reset makes the event not set. It is idempotent.
func (e *AutoEvent) Reset() { e.word.CompareAndSwap(raised, lowered) } // A2

// IsSet reports whether the event is set. If somebody waits it is not.
func (e *AutoEvent) IsSet() bool { return e.word.Load() == raised }

// TryWait takes the Set if the event is set, and reports whether it has.
func (e *AutoEvent) TryWait() bool { return e.word.CompareAndSwap(raised, lowered) } // A2

// Wait waits until the event is set and resets it, or returns why ctx ended before. It returns nil if and only if it has
// taken a Set.
func (e *AutoEvent) Wait(ctx context.Context) error {
	notNil("Wait of an AutoEvent", ctx)
	if err := park.Err(ctx); err != nil {
		return err
	}
	if e.TryWait() {
		return nil
	}
	w := park.Get()
	err := e.wait(ctx, w)
	park.Put(w) // not deferred: a waiter that a panic passed by may be filed in the context
	return err
}

func (e *AutoEvent) wait(ctx context.Context, w *park.Waiter) error {
	n := &w.Nodes(1)[0]
	t, ok := e.enqueue(w, n)
	if ok {
		return nil
	}
	o := safeWait(ctx, w, t, park.KindEvent, func(o park.Outcome) {
		if o == park.Woken {
			e.Set() // goes on
		} else {
			e.dequeue(n)
		}
	})
	if o == park.Woken {
		return nil
	}
	e.dequeue(n)
	return park.Reason(ctx)
}

// enqueue takes the Set after all (ok), or arms w and queues it.
func (e *AutoEvent) enqueue(w *park.Waiter, n *park.Node) (t park.Token, ok bool) {
	step.At("autoevent.enqueue")
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.word.Load() != lined && !e.word.CompareAndSwap(lowered, lined) { // A3
		step.At("autoevent.take")
		if e.TryWait() {
			return t, true
		}
	}
	t = w.Arm(clock.Forever)
	e.queue.PushBack(n, w, t, park.Woken)
	return t, false
}

// dequeue takes out a waiter that was not woken.
func (e *AutoEvent) dequeue(n *park.Node) {
	step.At("autoevent.dequeue")
	e.mu.Lock()
	if e.queue.Remove(n) && e.queue.Empty() {
		e.word.Store(lowered) // A6
	}
	e.mu.Unlock()
}
