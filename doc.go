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
// A [Scope] is a context.Context that ends with the block it was opened for. [FailAfter] makes an error of being late,
// [MoveOnAfter] a result; [Run] and [Open] are the general forms, [Shield] the exception for cleanup, and
// [WithNursery] the scope of several goroutines, none of which outlives it.
//
//   - A cancel point is a call that takes a context and fails if that is canceled. Cancellation is a state: once a
//     scope is canceled every cancel point in it fails, now and later, until the scope is left or a Shield is entered.
//   - It is decided at the end of the scope who absorbs a cancellation: the outermost scope that is canceled. What
//     comes out of the others passes on. So an inner bound never swallows an outer one's end, and vice versa.
//   - The first source counts: a scope that was canceled by hand is not late, whatever the clock says afterwards.
//   - Success is kept. A call that has acquired something returns nil even if the cancellation came in the same
//     instant; a body that returns nil has not failed, however late.
//   - A bound fails by default, with a [*TimeoutError]; an explicit Cancel is absorbed where it was called.
//
// # Stopping
//
// [Scope.Stop] ends a scope in two phases: [Draining] is closed below it, and whoever has work ends it, or takes no more;
// when the grace is over everything is canceled, shields as well, and a report names who was left. [Main] does that for a
// program when it is sent a signal.
//
// # Errors
//
// Code under a canceled scope gets a [*Canceled] and returns it, or wraps it with %w, as any error. Code around a bound
// gets a [*TimeoutError]. Both match context.DeadlineExceeded where that is their meaning; *TimeoutError matches
// os.ErrDeadlineExceeded as well.
//
// # With package context
//
// A Scope is accepted wherever a context is, and may lie below any context. Children that package context makes of it
// cost no goroutine, are canceled before Cancel returns, and report the scope's *Canceled as their context.Cause; a
// scope below such a child is told a moment later (see [Scope.Cancel]). A
// scope right below a context that is not a scope asks that one's Err, and is linked to it only when somebody below has
// to be told.
//
// # Duties of the caller
//
//   - In a block, use the context that the block was given: name it ctx, so that it hides the outer one.
//   - A scope of Open is closed, by a first defer, with a named result.
//   - Do not drop a *Canceled: return it. The scope that is responsible drops it.
//   - Waits that ignore the context (a plain channel, sync.Mutex) are not bounded by anything here.
//
// # Concurrency
//
// Everything is safe for concurrent use, except that a scope is closed once. No goroutine lives as long as a bound does,
// with one exception: below a context type that package context does not know, one for each scope that has to be told,
// as for any context made there. Short ones are started by timers that come due, by AfterFunc, and for the children of
// nurseries. An idle program has none.
//
// # In synctest bubbles, and in tests
//
// Scopes work in testing/synctest bubbles. As with package context, a scope must not be canceled from outside of the
// bubble that waits under it, and a Done channel that was first asked for inside must not be closed from outside: the
// runtime ends the program. [Clock] puts a scope on a virtual clock.
package bide
