// Package syncs has synchronization primitives that can all be bounded and canceled: every call that may block takes a
// context first and returns an error. (Mutex.LockUntil takes an instant instead; Mutex.Locker, for code that wants a
// sync.Locker, has no bound.)
//
//	var mu syncs.Mutex
//
//	if err := mu.Lock(ctx); err != nil {
//		return err // not taken
//	}
//	defer mu.Unlock()
//
// # What holds for all of them
//
//   - A call looks at its context before it acts: under a canceled one it does nothing, however free the lock is.
//   - An error means that nothing was taken, and nothing is left behind. nil means that it was, even if the context
//     was canceled in the same instant; the next call will say so. A grant is never thrown away: one that meets a
//     canceled waiter goes to the next.
//   - Under a scope of package bide the error is its *Canceled; under any other context its Cause, if that matches its
//     Err, else its Err.
//   - A wait costs no goroutine and no timer, since the scope that bounds it has the one timer; and no allocation once
//     the pools are warm, outside of synctest bubbles.
//   - Primitives are ready when zero, are not to be copied once used, and panic when misused.
//   - They work in testing/synctest bubbles, where their waits are durable, and under any context.
package syncs
