package syncs

import (
	"context"
	"sync/atomic"

	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Future is a value, or an error, that comes once. The zero Future is open. Embedded in something that exists
// anyway it allocates nothing.
//
// # Fairness
//
// Completion releases all who wait, in the order of their arrival.
//
// # Cancellation
//
// A Wait that returns the context's error has left the future as it was.
//
// # Close
//
// There is nothing to close. Fail, with [ErrClosed] for instance, tells those who wait that nothing will come.
//
// # Memory model
//
// The Set or Fail that completes the future synchronizes before the return of any Wait or Poll that reports it.
//
// # State
//
//	claim, and whether done is set
//
//	F1 open → claimed        Set, Fail: CAS; who loses leaves the value alone
//	F2 claimed → complete    the winner: value first, then the event
type Future[T any] struct {
	claim atomic.Bool
	done  Event
	v     T
	err   error
}

// Set completes the future with v, and reports whether it did: false if it was completed before, whose value stays.
func (f *Future[T]) Set(v T) bool { return f.complete(v, nil) }

// Fail completes the future with an error. It panics if err is nil.
func (f *Future[T]) Fail(err error) bool {
	if err == nil {
		panic("bide/syncs: Fail of a Future with a nil error")
	}
	var zero T
	return f.complete(zero, err)
}

func (f *Future[T]) complete(v T, err error) bool {
	step.At("future.claim")
	if !f.claim.CompareAndSwap(false, true) { // F1
		return false
	}
	f.v, f.err = v, err
	f.done.Set() // F2
	return true
}

// Wait waits until the future is complete and returns its value and error; or it returns why ctx ended before. Under a
// canceled context it returns the context's error even if the future is complete.
func (f *Future[T]) Wait(ctx context.Context) (v T, err error) {
	notNil("Wait of a Future", ctx)
	if err := park.Err(ctx); err != nil {
		return v, err
	}
	if !f.done.IsSet() {
		if err := wait(ctx, &f.done, park.KindFuture); err != nil {
			return v, err
		}
	}
	return f.v, f.err
}

// Poll returns the value and error if the future is complete, without waiting.
func (f *Future[T]) Poll() (v T, ok bool, err error) {
	if !f.done.IsSet() {
		return v, false, nil
	}
	return f.v, true, f.err
}

func (f *Future[T]) add(n *park.Node, w *park.Waiter, t park.Token, o park.Outcome) (ready bool) {
	return f.done.add(n, w, t, o)
}

func (f *Future[T]) remove(n *park.Node) { f.done.remove(n) }
