package syncs

import (
	"context"

	"bide.invalid/bide/park"
)

// Recv is a receive from a channel as a source, one in a call of [WaitAny] or [WaitAll]. If the call names it, or
// returns nil, a value was received, or c is closed: then it is in *v, and *ok says whether it was sent, as with
// v, ok = <-c. Else nothing was taken from c. v and ok may be nil: a value that is not wanted is dropped.
//
// It allocates the source, which can be used again, though not by two calls at a time.
//
// There is one in a call because a value cannot be given back: two receives that end in the same instant would leave
// one value to nobody.
func Recv[T any](c <-chan T, v *T, ok *bool) Waitable {
	r := &recv[T]{c: c, v: v, ok: ok}
	r.receiver = r
	return &r.channel
}

// A channel is a recv of some type: one that a type switch can name.
type channel struct{ receiver }

type receiver interface {
	look() park.Outcome
	// wait is w.Wait, and Self if something was received.
	wait(ctx context.Context, w *park.Waiter, t park.Token, k park.Kind) park.Outcome
}

// A channel has no queue of ours: whoever waits does so for it too, in one select.
func (c *channel) add(*park.Node, *park.Waiter, park.Token, park.Outcome) park.Outcome {
	return park.Pending
}

func (c *channel) remove(*park.Node) {}

type recv[T any] struct {
	channel // its receiver is the recv itself
	c       <-chan T
	v       *T
	ok      *bool
}

func (r *recv[T]) look() park.Outcome {
	select {
	case v, ok := <-r.c:
		r.store(v, ok)
		return park.Woken
	default:
		return park.Pending
	}
}

func (r *recv[T]) wait(ctx context.Context, w *park.Waiter, t park.Token, k park.Kind) park.Outcome {
	v, ok, received, o := park.WaitRecv(ctx, w, t, k, r.c)
	if !received {
		return o
	}
	r.store(v, ok)
	return park.Self
}

func (r *recv[T]) store(v T, ok bool) {
	if r.v != nil {
		*r.v = v
	}
	if r.ok != nil {
		*r.ok = ok
	}
}
