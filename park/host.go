package park

import (
	"context"
	"errors"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
)

// Key is the context key that a [Host] answers to.
type Key struct{}

// A Host is the side of a context that keeps the waiters parked under it, so that cancellation finds them without a
// channel and without a goroutine. bide's Scope has one.
//
// A context type has a host if its Value(Key{}) returns it, the same one all its life.
type Host interface {
	// Context is the context that the host speaks for.
	Context() context.Context

	// Check is Context().Err with the clock read: it notices, and carries out, an expiry whose timer has not run yet.
	// It returns the error that a blocking call under the context returns.
	Check() error

	// Attach files w and reports true; or it reports false and files nothing, because the context is canceled. From
	// Attach to Detach the host may resolve whatever token of w is armed, with Canceled; Context().Err is not nil any more
	// before it does, or takes w out.
	//
	// outer is nil, or a channel to watch beside the wake-up, because the context hangs below one that cannot call the
	// host. When it is closed the owner calls Check, which carries the cancellation out. It is nil for a waiter that has
	// a hook ([Waiter.Hooked]): its owner is busy with something else, and the host sees to it that it is called.
	//
	// Context: called by the owner of w, no lock held; w is in no host.
	Attach(w *Waiter, k Kind) (outer <-chan struct{}, ok bool)

	// Detach takes w out, if it is still in. When it has returned the host does not touch w again.
	//
	// Context: called by the owner, no lock held, the wake-up (if one was owed) received.
	Detach(w *Waiter)
}

// HostOf finds the host nearest above ctx. native: waiting under the host is waiting under ctx, which is the host's
// context, or has nothing but values between. If not native the host is good for bookkeeping only, and a wait watches
// ctx.Done().
//
// It asks by Value and compares, and does not look at types: a struct that embeds a host's context and overrides Done
// must be waited for by its Done.
func HostOf(ctx context.Context) (h Host, native bool) {
	h, ok := ctx.Value(Key{}).(Host)
	if !ok {
		return nil, false
	}
	c := h.Context()
	if c == ctx {
		return h, true
	}
	done := ctx.Done()
	return h, done != nil && done == c.Done()
}

// Err is what a blocking call returns under ctx before it acts: nil while ctx is live. It costs ctx.Err.
func Err(ctx context.Context) error {
	if ctx == nil {
		panic("bide/park: Err of a nil context")
	}
	if ctx.Err() == nil {
		return nil
	}
	return Reason(ctx)
}

// Reason is what a blocking call returns after the outcome Canceled: the host's error; or ctx's cause, if that matches
// ctx.Err (what a host further up was canceled with does); or ctx.Err. It is never nil, not even under a context that
// closes Done before it sets Err: what was not acquired must not look like success.
func Reason(ctx context.Context) error {
	if h, native := HostOf(ctx); native {
		if err := h.Check(); err != nil {
			return err
		}
	}
	err := ctx.Err()
	if err == nil {
		return context.Canceled
	}
	if c := context.Cause(ctx); c != nil && errors.Is(c, err) {
		return c
	}
	return err
}

// Waiters is a host's list of who is parked under it. It is guarded by the host's lock; the zero value is empty.
type Waiters struct{ l ilist.List[filed, *filed] }

// Add files w.
func (l *Waiters) Add(w *Waiter, k Kind) {
	w.kind = k
	l.l.PushBack((*filed)(w))
}

// Remove takes w out if it is in.
func (l *Waiters) Remove(w *Waiter) { l.l.Remove((*filed)(w)) }

// Each calls f with the kind of each wait that is filed. A kept waiter that is filed and does not wait is not one.
// Context of f: the host's lock is held.
func (l *Waiters) Each(f func(Kind)) {
	for w := l.l.Front(); w != nil; w = l.l.Next(w) {
		if _, armed := (*Waiter)(w).word.current(); armed {
			f(w.kind)
		}
	}
}

// Stamp keeps an instant in the waiter: for a host that wants to know in Detach when it was that Attach was called. Who
// keeps a waiter filed from one wait to the next detaches it after each where the host has stamped it.
func (w *Waiter) Stamp(at clock.Instant) { w.stamp = at }

// Stamped returns what the host's Attach was told, or has kept: the kind of the wait, and the stamp.
func (w *Waiter) Stamped() (Kind, clock.Instant) { return w.kind, w.stamp }

// Cancel takes waiters out and resolves those that are armed, up to len(buf). The host Unparks the first n of buf after
// unlocking, and calls again while n == len(buf). Preconditions: the host is marked canceled: nobody is added any more.
func (l *Waiters) Cancel(buf []*Waiter) (n int) {
	for n < len(buf) {
		f := l.l.PopFront()
		if f == nil {
			break
		}
		w := (*Waiter)(f)
		if t, armed := w.word.current(); armed && w.word.resolve(t, Canceled) {
			buf[n] = w
			n++
		}
	}
	return n
}
