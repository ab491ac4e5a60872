// Package bide gives Go programs timeouts and cancellation that compose: a bound around a block covers everything in
// it, whoever wrote it, and nobody has to compute how much time is left and hand it on.
//
//	err := bide.FailAfter(ctx, 10*time.Second, func(ctx context.Context) error {
//		if err := mu.Lock(ctx); err != nil { // a syncs.Mutex: bounded, too
//			return err
//		}
//		defer mu.Unlock()
//		return upload(ctx, file) // any function that takes a context
//	})
//
// # Scopes
//
// A [Scope] is a context.Context for one block of work: it is opened when the block begins, and closed when it ends.
// Scopes nest as blocks do: a scope that is opened with another one's context lies below it, and is canceled with it. A
// scope may have a deadline, its bound.
//
//	FailAfter      a bound; lateness is an error
//	MoveOnAfter    a bound; lateness is a result
//	Run, Open      the general forms, as a function and as a handle
//	Shield         for cleanup: cancellation from outside does not reach it
//	WithNursery    a scope with goroutines, none of which outlives it
//
// How they work together:
//
//   - A cancel point is a call that takes a context and fails if that is canceled. Cancellation is a state: once a
//     scope is canceled every cancel point in it fails, now and later, until the scope is left or a Shield is entered.
//   - Code in a canceled scope returns the cancellation, a [*Canceled], as an error. One scope absorbs it at its end:
//     the outermost one that is canceled. It drops the error, or, if its bound was the reason, returns a
//     [*TimeoutError] instead. Scopes further in pass the error on. So an inner scope never hides that an outer one has
//     ended, and an outer one never hides that an inner one was late.
//   - The first cancellation counts: a scope that was canceled by [Scope.Cancel] is not late, whatever the clock says
//     afterwards.
//   - Success is kept. A call that has acquired something returns nil even if the cancellation came in the same
//     instant; a function that returns nil has not failed, however late.
//
// # Stopping
//
// [Scope.Stop] ends a scope in two phases. First the channel [Draining] is closed everywhere below it: time to finish
// what was begun, and to take no new work. When the grace is over everything is canceled, shields as well, and a report
// lists what was still running. [Main] does that for a program when it gets a signal.
//
// # Errors
//
// Code inside a canceled scope gets a [*Canceled], and returns it as any error, bare or wrapped with %w. Code around a
// bound gets a [*TimeoutError]. A *TimeoutError, and a *Canceled by a deadline, match context.DeadlineExceeded; other
// *Canceled match context.Canceled. A *TimeoutError matches os.ErrDeadlineExceeded as well.
//
// # With package context
//
// A Scope is accepted wherever a context is, and may lie below any context. Children that package context makes of it
// cost no goroutine, are canceled before Cancel returns, and report the scope's *Canceled as their context.Cause. A
// scope below such a child is told a moment later (see [Scope.Cancel]). A scope right below a context that is not a
// scope asks that context's Err, and is linked to it only when somebody below has to be told.
//
// # Duties of the caller
//
//   - In a block, use the context that the block was given: name it ctx, so that it hides the outer one.
//   - Close a scope of Open in the function's first defer, with a named result.
//   - Do not drop a *Canceled: return it. The scope that is responsible drops it.
//   - Waits that ignore the context (a plain channel, sync.Mutex) are not bounded by anything here.
//
// # Concurrency
//
// Everything is safe for concurrent use, except that a scope is closed once. No goroutine waits for a bound, with one
// exception: below a context type that package context does not know there is one for each scope that has to be told,
// as for any context made there. Goroutines run for timers that come due, for AfterFunc, and for the children of
// nurseries. An idle program has none.
//
// # In synctest bubbles, and in tests
//
// Scopes work in testing/synctest bubbles. As with package context, a scope must not be canceled from outside of the
// bubble that waits under it, and a Done channel that was first asked for inside must not be closed from outside: the
// runtime ends the program. [Clock] puts a scope on a virtual clock.
package bide
