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
// Completion releases all who wait, in the order of their arrival; then the functions of OnDone are called, in the order
// of theirs.
//
// # Cancellation
//
// A Wait that returns the context's error has left the future as it was. What is to complete it goes on.
//
// # Close
//
// There is nothing to close. Fail, with [ErrClosed] for instance, tells those who wait that nothing will come.
//
// # Memory model
//
// The Set or Fail that completes the future synchronizes before the return of any Wait or Poll that reports it, and
// before the calls of the functions given to OnDone.
type Future[T any] struct {
	_     noCopy
	word  atomic.Uint32
	waits atomic.Int32 // calls of Wait that have waited and not returned

	mu    step.Mutex // before a timer shard's; nothing of a user is called with it held
	queue park.List
	calls []func(T, error)

	v   T // from F1 to F2 the writer's; from F2 on anybody's, to read
	err error
}

// The word of a Future.
//
//	claimed   a writer has won, and writes the value
//	complete  the value is there; claimed is not set any more
//	asked     somebody is in the queue, or functions are to be called
//
//	F1 open → claimed             Set, Fail: CAS; who finds it claimed or complete has lost
//	F2 claimed → complete         the winner, after the value: CAS, unless it is asked
//	F3 claimed, asked → complete  the winner, under mu: everybody in the queue is resolved before mu is free
//	F4 asked: set                 a Wait or OnDone, under mu, before it leaves its waiter or function; not once complete
//	F5 asked: cleared             the last to leave the queue, under mu, canceled, if there are no functions
//	F6 complete → open            Reset, under mu
//
//	I1 while mu is free, asked is set if and only if somebody is in the queue or there are functions
//	I2 complete and asked are not set together
const (
	claimed = 1 << iota
	complete
	asked
)

// Set completes the future with v, and reports whether it did: false if another Set or Fail was faster, whose value
// stays. That one may be about to write it down: after false a Poll may still find nothing, and a Wait has to wait for
// it, for a moment.
func (f *Future[T]) Set(v T) bool { return f.complete(v, nil) }

// Fail is Set with an error. It panics if err is nil.
func (f *Future[T]) Fail(err error) bool {
	if err == nil {
		panic("bide/syncs: Fail of a Future with a nil error")
	}
	var zero T
	return f.complete(zero, err)
}

func (f *Future[T]) complete(v T, err error) bool {
	for {
		s := f.word.Load()
		if s&(claimed|complete) != 0 {
			return false
		}
		step.At("future.claim")
		if f.word.CompareAndSwap(s, s|claimed) { // F1
			break
		}
	}
	f.v, f.err = v, err
	step.At("future.complete")
	if !f.word.CompareAndSwap(claimed, complete) { // F2
		f.publish(v, err)
	}
	return true
}

// publish: F3.
func (f *Future[T]) publish(v T, err error) {
	var woken park.Batch
	step.At("future.publish")
	f.mu.Lock()
	f.word.Store(complete)
	woken.Resolve(&f.queue, park.All)
	calls := f.calls
	f.calls = nil
	f.mu.Unlock()
	woken.Unpark()
	callAll(calls, v, err)
}

// callAll calls all of them, also if some panic or call Goexit.
func callAll[T any](calls []func(T, error), v T, err error) {
	i := 0
	defer func() {
		if i < len(calls) {
			callAll(calls[i:], v, err)
		}
	}()
	for i < len(calls) {
		i++
		calls[i-1](v, err)
	}
}

// Wait waits until the future is complete and returns its value and error; or it returns why ctx ended before. Under a
// canceled context it returns the context's error even if the future is complete.
func (f *Future[T]) Wait(ctx context.Context) (v T, err error) {
	notNil("Wait of a Future", ctx)
	if err := park.Err(ctx); err != nil {
		return v, err
	}
	if f.word.Load() == complete {
		return f.v, f.err
	}
	return f.wait(ctx)
}

func (f *Future[T]) wait(ctx context.Context) (v T, err error) {
	f.waits.Add(1)
	defer f.waits.Add(-1)
	if err := wait(ctx, f, park.KindFuture); err != nil {
		return v, err
	}
	return f.v, f.err
}

// Poll returns the value and error if the future is complete, without waiting.
func (f *Future[T]) Poll() (v T, ok bool, err error) {
	if f.word.Load() != complete {
		return v, false, nil
	}
	return f.v, true, f.err
}

// OnDone calls f with the value and the error when the future is complete: now, if it is, else on the goroutine of the
// Set or Fail, after all who wait were woken. f must not block. If it panics, or calls runtime.Goexit, nobody misses
// anything but the one who called Set, Fail or this OnDone. It cannot be taken back: a future that is never completed
// keeps f.
func (f *Future[T]) OnDone(call func(T, error)) {
	if call == nil {
		panic("bide/syncs: OnDone of a Future with a nil function")
	}
	step.At("future.ondone")
	f.mu.Lock()
	if f.ask() {
		f.calls = append(f.calls, call)
		f.mu.Unlock()
		return
	}
	v, err := f.v, f.err
	f.mu.Unlock()
	call(v, err)
}

// Reset opens a complete future again, and drops its value; of one that is open it changes nothing. It panics while
// somebody waits for the future, or has waited and not returned yet, and while it is being completed. It is for one who
// knows that nobody else uses the future now: a Poll or a Wait that need not wait is not noticed, and may return half of
// a value.
func (f *Future[T]) Reset() {
	if fault := f.reset(); fault != "" {
		panic("bide/syncs: Reset of a Future that " + fault)
	}
}

func (f *Future[T]) reset() (fault string) {
	step.At("future.reset")
	f.mu.Lock()
	defer f.mu.Unlock()
	switch s := f.word.Load(); {
	case f.waits.Load() != 0 || !f.queue.Empty():
		return "somebody waits for"
	case s&claimed != 0:
		return "is being completed"
	case s == complete:
		var zero T
		f.v, f.err = zero, nil
		f.word.Store(0) // F6
	}
	return ""
}

// ask: F4. It reports false if the future is complete.
//
// Preconditions: mu is held.
func (f *Future[T]) ask() bool {
	for {
		s := f.word.Load()
		if s == complete {
			return false
		}
		step.At("future.ask")
		if s&asked != 0 || f.word.CompareAndSwap(s, s|asked) {
			return true
		}
	}
}

func (f *Future[T]) look() park.Outcome {
	if f.word.Load() == complete {
		return park.Woken
	}
	return park.Pending
}

func (f *Future[T]) add(n *park.Node, w *park.Waiter, t park.Token, o park.Outcome) park.Outcome {
	step.At("future.add")
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ask() {
		return o
	}
	f.queue.PushBack(n, w, t, o)
	return park.Pending
}

func (f *Future[T]) remove(n *park.Node) {
	step.At("future.remove")
	f.mu.Lock()
	if f.queue.Remove(n) && f.queue.Empty() && len(f.calls) == 0 {
		f.word.And(^uint32(asked)) // F5
	}
	f.mu.Unlock()
}
