package park

import (
	"context"

	"bide.invalid/bide/internal/step"
)

// WaitRecv is [Waiter.Wait], and waits for a value from c as well, or for c to be closed: whichever comes first. It is
// one select; a nil c is [Waiter.Wait].
//
// received: v and ok are what a receive from c returned, and they are the caller's, whatever o says: nobody else will
// get that value. The wait was then withdrawn, as by [Waiter.Withdraw], so o is Self; or it is the outcome of whoever
// ended the wait in the same instant, and the caller has both: a grant that takes something it gives back; a
// cancellation it leaves to its next call.
//
// Not received: nothing was taken from c, and o is what Wait returns.
//
// Of what is there already when the wait begins, any may be found first; a call that prefers one looks for it before.
func WaitRecv[T any](ctx context.Context, w *Waiter, t Token, k Kind, c <-chan T) (v T, ok, received bool, o Outcome) {
	h, native := HostOf(ctx)
	var done <-chan struct{}
	if native {
		outer, attached := h.Attach(w, k)
		if !attached {
			return v, false, false, w.end(t, Canceled)
		}
		done = outer
	} else {
		done = ctx.Done()
	}
	step.At("park.recv")
	select {
	case <-w.ch:
		o = w.word.outcome()
	case v, ok = <-c:
		received = true
		o = w.end(t, Self)
	case <-done:
		if native {
			h.Check()
		}
		o = w.end(t, Canceled)
	}
	if native {
		h.Detach(w)
	}
	return v, ok, received, o
}
