package bide

import (
	"context"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// FailAfter runs f under a bound of d: everything that f does with the context that it is given has that time together.
// If the bound has passed, and f returns the cancellation, the error is a [*TimeoutError]. A success that comes late is
// a success, and an error that is not a cancellation is returned as it is. With d zero or negative, f runs to its first
// cancel point.
//
// It costs one allocation, one more with the option Clock, and one reading of the clock; f is called directly.
//
// Options: Name, Clock, Account, Labels.
func FailAfter(ctx context.Context, d time.Duration, f func(context.Context) error, opts ...Option) error {
	s := newScope(opts)
	s.open(&callFailAfter, ctx, opts)
	s.bound(d)
	return s.run(f)
}

// FailAt is [FailAfter] for a point in time, of the scope's clock. The zero time is in the past.
func FailAt(ctx context.Context, t time.Time, f func(context.Context) error, opts ...Option) error {
	s := newScope(opts)
	s.open(&callFailAt, ctx, opts)
	s.boundAt(t)
	return s.run(f)
}

// Within is [FailAfter] for a function with a value. The value is f's also when there is an error.
func Within[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error), opts ...Option) (v T, err error) {
	s := newScope(opts)
	s.open(&callWithin, ctx, opts)
	s.bound(d)
	err = s.run(func(ctx context.Context) (err error) {
		v, err = f(ctx)
		return err
	})
	return v, err
}

// MoveOnAfter is [FailAfter] for work that may be given up: lateness is a result, not an error. moved reports that a
// cancellation of this scope was dropped: by the bound, or by a [Scope.Cancel] that f called. err is any other error of
// f.
func MoveOnAfter(ctx context.Context, d time.Duration, f func(context.Context) error, opts ...Option) (moved bool, err error) {
	s := newScope(opts)
	s.open(&callMoveOnAfter, ctx, opts)
	s.bound(d)
	err = s.run(f)
	return s.Caught(), err
}

// MoveOnAt is [MoveOnAfter] for a point in time, of the scope's clock. The zero time is in the past.
func MoveOnAt(ctx context.Context, t time.Time, f func(context.Context) error, opts ...Option) (moved bool, err error) {
	s := newScope(opts)
	s.open(&callMoveOnAt, ctx, opts)
	s.boundAt(t)
	err = s.run(f)
	return s.Caught(), err
}

// Shield runs f out of reach of ctx's cancellation and deadline, for cleanup that must be finished. When grace is over
// f is canceled; if f returns that cancellation, the error is a [*TimeoutError] with the shield's Name, so a cleanup
// that was cut is not silent. A plain defer would lose that error: join it to the result, as below. With a grace of
// zero or less, f runs to its first cancel point. Values of ctx are visible inside. After Shield ctx is as canceled as
// before. Only the hard end of a [Scope.Stop] reaches in: it ends f as if the grace were over.
//
// Options: Name, Clock, Account, Labels.
//
//	defer func() { err = errors.Join(err, bide.Shield(ctx, 2*time.Second, peer.Goodbye)) }()
func Shield(ctx context.Context, grace time.Duration, f func(context.Context) error, opts ...Option) error {
	s := newScope(opts)
	s.open(&callShield, ctx, opts)
	s.bound(grace)
	return s.run(f)
}

// Run runs f in a scope that f is given: it can cancel it, move its deadline, and ask how it stands.
//
// Options: Name, Clock, Account, Labels, Timeout, Deadline, Idle, MoveOn, Stacks.
func Run(ctx context.Context, f func(*Scope) error, opts ...Option) error {
	s := newScope(opts)
	s.open(&callRun, ctx, opts)
	return s.run(func(context.Context) error { return f(s) })
}

// Check is a cancel point for code that computes and does not wait. It returns nil while ctx is live, and then the
// reason why it is canceled: under a scope a [*Canceled]. It costs as much as ctx.Err, and sees a deadline as soon.
func Check(ctx context.Context) error {
	notNil("Check", ctx)
	if s, ok := ctx.(*Scope); ok {
		return s.Check()
	}
	return park.Err(ctx)
}

// Check is [Check] of the scope.
func (s *Scope) Check() error {
	if s.Err() == nil {
		return nil
	}
	return s.reason()
}

// Sleep sleeps for d, on the clock of the scope that ctx is or lies below. It returns nil after d, never before. If ctx
// is canceled it returns the reason at once, also if both come at the same instant. With d zero or negative it only
// looks at ctx. A sleep is up to a millisecond late; with timer.Tolerance(0) it is precise.
//
// Options: timer.On, timer.Tolerance.
func Sleep(ctx context.Context, d time.Duration, opts ...timer.Option) error {
	notNil("Sleep", ctx)
	if err := park.Err(ctx); err != nil || d <= 0 {
		return err
	}
	service, due := timer.Deadline("bide", "Sleep", timersOf(ctx), d, opts)
	return sleep(ctx, service, due)
}

// sleep sleeps until due, on a service's clock.
func sleep(ctx context.Context, service *timer.Service, due clock.Instant) error {
	var w *park.Waiter
	if service.Clock() == clock.Monotonic() {
		w = park.GetUntil(due)
	} else {
		w = park.Get()
	}
	t := w.ArmOn(service, due)
	o := w.Wait(ctx, t, park.KindSleep)
	park.Put(w)
	if o == park.Expired {
		return errNow(ctx) // a scope above that ends at the same instant comes first
	}
	return park.Reason(ctx)
}

// errNow is park.Err of a ctx that may have ended in this moment: also if it is a scope whose timer has not run yet.
func errNow(ctx context.Context) error {
	if h, _ := park.HostOf(ctx); h != nil {
		_ = h.Check()
	}
	return park.Err(ctx)
}

// timersOf is the service of the clock that ctx is on.
func timersOf(ctx context.Context) *timer.Service {
	if s := From(ctx); s != nil {
		return s.timers()
	}
	return timer.Default()
}

// String says what the scope is and how it stands, for logs.
func (s *Scope) String() string {
	return "bide.Scope" + s.quoted() + s.standing()
}

func (s *Scope) quoted() string {
	if n := s.Name(); n != "" {
		return " " + n
	}
	return ""
}

func (s *Scope) standing() string {
	st := s.state.Load()
	text := " (active"
	switch {
	case st&closed != 0:
		text = " (exited"
	case st&canceled != 0:
		text = " (canceled by " + s.cause.Load().Source.String()
	}
	if due := s.due.Load(); due != clock.Forever {
		left := due.Sub(s.now()).Round(time.Millisecond)
		if left > 0 {
			text += ", deadline " + left.String() + " from now"
		} else {
			text += ", deadline " + (-left).String() + " ago"
		}
	}
	return text + ")"
}
