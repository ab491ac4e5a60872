package syncs

import (
	"context"

	"bide.invalid/bide/park"
)

// safeWait is w.Wait for a wait that is given something. If ctx panics in it, or ends the goroutine, the wait is
// withdrawn and undo called with how it ended: to give back what it was given, or to take it out of its queue. (The
// waiter is then not for the pool.)
func safeWait(ctx context.Context, w *park.Waiter, t park.Token, k park.Kind, undo func(o park.Outcome)) (o park.Outcome) {
	returned := false
	defer func() {
		if !returned {
			undo(w.Withdraw(t))
		}
	}()
	o = w.Wait(ctx, t, k)
	returned = true
	return o
}
