package bide

import (
	"context"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Slots are what [Slot] takes one of: a *syncs.Semaphore, or anything of that form.
type Slots interface {
	Acquire(ctx context.Context, n int64) error
	Release(n int64)
}

// Abandon lets [Blocking] leave its function behind when the context is canceled.
func Abandon() Option { return Option{kind: optAbandon} }

// Slot makes [Blocking] take one of l, under the context, and give it back when the function has really ended, abandoned or
// not. So the number of functions that nobody waits for any more is bounded, too.
func Slot(l Slots) Option {
	if l == nil {
		panic("bide: Slot: nil Slots")
	}
	return Option{kind: optSlot, slots: l}
}

// Blocking calls f, which cannot be canceled: it reads a file, or is in C. A canceled context is seen before it starts; once it
// runs it is waited for, however long it takes, and its result is kept, though the context that it is given shows the
// cancellation.
//
// With [Abandon] f runs on a goroutine of its own, and if the context is canceled Blocking returns that at once: nobody
// will see f's result, and what it holds is its own to release. A panic of f ends the process then. Options: Name, Clock,
// Abandon, Slot.
func Blocking[T any](ctx context.Context, f func(context.Context) (T, error), opts ...Option) (v T, err error) {
	if f == nil {
		panic("bide: Blocking: nil function")
	}
	s := &Scope{}
	s.open(&callBlocking, ctx, opts)
	var abandon bool
	var slots Slots
	for _, o := range opts {
		switch o.kind {
		case optAbandon:
			abandon = true
		case optSlot:
			slots = o.slots
		}
	}
	err = s.run(func(ctx context.Context) error {
		err := park.Err(ctx)
		if err == nil && slots != nil {
			err = slots.Acquire(ctx, 1)
		}
		switch {
		case err != nil:
			return err
		case abandon:
			v, err = leave(ctx, f, slots)
		default:
			v, err = hold(ctx, f, slots)
		}
		return err
	})
	return v, err
}

// hold calls f and gives the slot back.
func hold[T any](ctx context.Context, f func(context.Context) (T, error), slots Slots) (T, error) {
	if slots != nil {
		defer slots.Release(1)
	}
	return f(ctx)
}

// leave calls f on a goroutine, and waits for it as long as ctx allows.
func leave[T any](ctx context.Context, f func(context.Context) (T, error), slots Slots) (v T, err error) {
	r := &struct { // allocated: f may outlive the call
		v   T
		err error
	}{err: ErrGoexit}
	w := park.Get()
	t := w.Arm(clock.Forever)
	go func() {
		defer w.Wake(t, park.Woken) // a token that is not the waiter's any more wakes nobody
		r.v, r.err = hold(ctx, f, slots)
	}()
	o := w.Wait(ctx, t, park.KindOther)
	park.Put(w)
	if o == park.Woken {
		return r.v, r.err
	}
	return v, park.Reason(ctx)
}
