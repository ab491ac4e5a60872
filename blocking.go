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

// Slot makes [Blocking] take one of l, under the context, and give it back when the function has really ended,
// abandoned or not. So the number of functions that nobody waits for any more is bounded, too.
func Slot(l Slots) Option {
	if l == nil {
		panic("bide: Slot: nil Slots")
	}
	return Option{kind: optSlot, of: l}
}

// Blocking calls f, which no cancellation can end: it reads a file, say, or calls C. Under a canceled context f is not
// started. Once it runs, Blocking waits for it, however long it takes, and returns its result. The context that f is
// given shows the cancellation.
//
// With [Abandon] f runs on a goroutine of its own. If the context is canceled, Blocking returns its error at once and
// leaves f behind: nobody sees f's result, and f itself has to release what it holds. A panic of f then ends the
// process.
//
// Options: Name, Clock, Account, Labels, Abandon, Slot.
func Blocking[T any](ctx context.Context, f func(context.Context) (T, error), opts ...Option) (v T, err error) {
	if f == nil {
		panic("bide: Blocking: nil function")
	}
	s := newScope(opts)
	s.open(&callBlocking, ctx, opts)
	var abandon bool
	var slots Slots
	for _, o := range opts {
		switch o.kind {
		case optAbandon:
			abandon = true
		case optSlot:
			slots = o.of.(Slots)
		}
	}
	err = s.run(func(ctx context.Context) error {
		err := park.Err(ctx)
		if err == nil && slots != nil {
			err = take(ctx, slots)
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

// take takes a slot. One that was granted when the context ended, or by who does not look at it, is given back: f is not
// to start any more.
func take(ctx context.Context, slots Slots) error {
	err := slots.Acquire(ctx, 1)
	if err != nil {
		return err
	}
	if err = park.Err(ctx); err != nil {
		slots.Release(1)
	}
	return err
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
