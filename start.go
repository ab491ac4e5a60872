package bide

import (
	"context"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// Start runs f as a child of n, and returns when f has called ready, with the value that f gave to ready; f goes on in
// the nursery. It is for a server that first has to listen: whoever starts it gets the address, or the error.
//
// Before f calls ready, it is Start's. If f returns early Start returns its error, or [ErrNotStarted] if that is nil,
// and the nursery does not fail. If ctx is canceled f is canceled, and Start waits for it and returns its error; if f
// calls ready nevertheless, ready reports false, f's scope is canceled, and f should end. (If it then returns nil, Start
// returns the value all the same.) Afterwards f is a child like any other, and a cancellation of ctx does not reach it.
// A second call of ready panics.
//
// The nursery does not end while a Start is under way. In a nursery with a [Limit] Start first waits until fewer
// children than that run, as long as ctx allows.
func Start[T any](ctx context.Context, n *Nursery, f func(ctx context.Context, ready func(T) bool) error) (T, error) {
	notNil("Start", ctx)
	if n == nil || f == nil {
		panic("bide: Start: nil nursery or function")
	}
	var zero T
	if err := park.Err(ctx); err != nil {
		return zero, err
	}
	n.enter("Start", aChild)
	if n.limit > 0 {
		if err := n.await(ctx); err != nil {
			return zero, err
		}
	}
	h := &handover[T]{starter: ctx, scope: &Scope{}, w: park.Get()}
	h.scope.open(&callStart, &n.scope.Scope, nil)
	h.token = h.w.Arm(clock.Forever)
	t := h.token
	go h.run(n, f)
	if h.w.Wait(ctx, t, park.KindNursery) == park.Canceled {
		h.refuse()
		h.wait()
	}
	park.Put(h.w)
	return h.v, h.err
}

// A handover is a child on its way from the one who starts it to the nursery.
//
//	pending    the child runs and is not ready, and the starter waits
//	handed     ready was called in time: the child is the nursery's
//	refused    the starter was canceled first, and waits for the child's end
//	over       the child has ended before it was handed
//
//	H1 pending → handed          ready, under a context of the starter that is live; the starter is woken
//	H2 pending → refused         the starter, or ready, finds that context canceled: the child's scope is, too
//	H3 pending, refused → over   the child has returned; the starter is woken when the result is there (done)
type handover[T any] struct {
	starter context.Context
	scope   *Scope // the child's

	mu    step.Mutex
	state handoverState
	set   bool // ready was called
	done  bool
	v     T
	err   error
	w     *park.Waiter // the starter's
	token park.Token
}

type handoverState uint8

const (
	pending handoverState = iota
	handed
	refused
	over
)

// ready: H1.
func (h *handover[T]) ready(v T) bool {
	live := park.Err(h.starter) == nil
	step.At("start.ready")
	h.mu.Lock()
	if h.set {
		h.mu.Unlock()
		panic("bide: Start: ready was called twice")
	}
	h.set = true
	if h.state != over {
		h.v = v
	}
	if h.state != pending || !live {
		h.mu.Unlock()
		h.refuse()
		return false
	}
	h.state = handed
	t := h.token
	h.mu.Unlock()
	h.w.Wake(t, park.Woken) // if the starter has been canceled in this moment it will look
	return true
}

// refuse: H2.
func (h *handover[T]) refuse() {
	h.mu.Lock()
	if h.state == pending {
		h.state = refused
	}
	cancels := h.state == refused
	h.mu.Unlock()
	if cancels { // the second one as well: a child whose ready reports false finds its scope canceled
		h.scope.cancelFrom(h.starter)
	}
}

// wait returns when the child was handed over or has ended.
func (h *handover[T]) wait() {
	h.mu.Lock()
	if h.state == handed || h.done {
		h.mu.Unlock()
		return
	}
	h.token = h.w.Arm(clock.Forever)
	t := h.token
	h.mu.Unlock()
	h.w.Wait(context.Background(), t, park.KindNursery)
}

// run is the child.
func (h *handover[T]) run(n *Nursery, f func(context.Context, func(T) bool) error) {
	err := ErrGoexit
	defer func() {
		if v := recover(); v != nil {
			err = n.caught(v)
		}
		defer n.count(aChild) // also if a method of err panics
		defer n.release()
		h.end(n, err)
	}()
	h.scope.wear()
	err = f(h.scope, h.ready)
}

// end: H3, or the end of a child of the nursery.
func (h *handover[T]) end(n *Nursery, err error) {
	h.mu.Lock()
	was := h.state
	if was != handed {
		h.state = over
	}
	h.mu.Unlock()
	if was == refused {
		h.scope.close() // the cancellation is the starter's, not its own
	} else {
		err = h.scope.exit(err)
	}
	if was == handed {
		n.file(err, BySibling, "")
		return
	}
	h.mu.Lock()
	h.done = true
	switch {
	case err != nil:
		var zero T
		h.v, h.err = zero, err
	case !h.set:
		h.err = ErrNotStarted
	}
	t := h.token
	h.mu.Unlock()
	h.w.Wake(t, park.Woken)
}
