package bide

import (
	"context"
	"errors"
	"strconv"
	"time"

	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// Race runs all of fs at the same time, and returns the value of the first that succeeds. The others are canceled and
// waited for; what they return does not count. If none succeeds, their errors are joined in the order of failure; if
// ctx is canceled, that is among them once.
func Race[T any](ctx context.Context, fs ...func(context.Context) (T, error)) (T, error) {
	mustAll("Race", fs)
	c := &contest[T]{}
	_ = WithNursery(ctx, func(ctx context.Context, n *Nursery) error {
		for _, f := range fs {
			c.enter(n, f)
		}
		return nil
	}, Supervise())
	return c.result(ctx)
}

// Hedge calls f, and calls it again beside the first when delay has passed, or when a call has failed, until one
// succeeds: up to n calls in all. It returns the value of the first that succeeds; the others are canceled and waited
// for. It must be harmless to call f more than once. If all fail, their errors are joined in the order of failure.
func Hedge[T any](ctx context.Context, delay time.Duration, n int, f func(context.Context) (T, error)) (T, error) {
	if n <= 0 {
		panic("bide: Hedge: the number of calls must be positive, not " + strconv.Itoa(n))
	}
	if f == nil {
		panic("bide: Hedge: nil function")
	}
	c := &contest[T]{}
	_ = WithNursery(ctx, func(ctx context.Context, nursery *Nursery) error {
		for i := range n {
			if i > 0 && !c.pause(ctx, delay) {
				break
			}
			c.enter(nursery, f)
		}
		return nil
	}, Supervise())
	return c.result(ctx)
}

// All runs all of fs at the same time, and returns their values in the order of the arguments. The first that fails
// cancels the others, which are waited for; the error is that of [WithNursery].
func All[T any](ctx context.Context, fs ...func(context.Context) (T, error)) ([]T, error) {
	mustAll("All", fs)
	vs := make([]T, len(fs))
	err := WithNursery(ctx, func(ctx context.Context, n *Nursery) error {
		for i, f := range fs {
			n.Go(func(ctx context.Context) (err error) {
				vs[i], err = f(ctx)
				return err
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return vs, nil
}

func mustAll[T any](call string, fs []func(context.Context) (T, error)) {
	if len(fs) == 0 {
		panic("bide: " + call + " of no functions")
	}
	for i, f := range fs {
		if f == nil {
			panic("bide: " + call + ": function " + strconv.Itoa(i) + " is nil")
		}
	}
}

// errWon is what the losers are canceled with.
var errWon = errors.New("another one was first")

// A contest has one winner.
type contest[T any] struct {
	mu     step.Mutex
	won    bool
	v      T
	errs   []error
	seen   int          // failures for which pause has let another call start
	waiter *park.Waiter // of pause
	token  park.Token
}

// enter starts a child that may win.
func (c *contest[T]) enter(n *Nursery, f func(context.Context) (T, error)) {
	n.Go(func(ctx context.Context) error {
		v, err := *new(T), ErrGoexit
		defer func() {
			if c.came(v, err) {
				n.Cancel(errWon)
			}
		}()
		v, err = f(ctx)
		return nil
	})
}

// came files how a child has ended, and reports whether it has won.
func (c *contest[T]) came(v T, err error) (first bool) {
	c.mu.Lock()
	switch {
	case err != nil:
		c.errs = append(c.errs, err)
	case !c.won:
		c.won, c.v, first = true, v, true
	}
	w, t := c.waiter, c.token
	c.mu.Unlock()
	if w != nil {
		w.Wake(t, park.Woken)
	}
	return first
}

// pause waits until delay has passed, or a call has failed for which no other was started; false: somebody has won, or
// ctx is canceled.
func (c *contest[T]) pause(ctx context.Context, delay time.Duration) bool {
	service, due := timer.Deadline("bide", "Hedge", timersOf(ctx), delay, nil)
	w := park.Get()
	o := park.Pending
	for o == park.Pending || o == park.Woken {
		t := w.ArmOn(service, due)
		c.mu.Lock()
		won, failed := c.won, len(c.errs) > c.seen
		if failed {
			c.seen++
		}
		c.waiter, c.token = w, t
		c.mu.Unlock()
		if won || failed {
			w.Withdraw(t)
			o = park.Expired
			if won {
				o = park.Canceled
			}
			break
		}
		o = w.Wait(ctx, t, park.KindNursery)
	}
	c.mu.Lock()
	c.waiter = nil
	c.mu.Unlock()
	park.Put(w)
	return o == park.Expired
}

// result is the winner's value, or what is left of everybody's errors.
func (c *contest[T]) result(ctx context.Context) (v T, _ error) {
	if c.won {
		return c.v, nil
	}
	dead := errNow(ctx)
	errs := c.errs
	if dead != nil {
		errs = nil
		for _, err := range c.errs {
			rest, _ := split(err, (*Canceled).made)
			errs = append(errs, rest)
		}
		errs = append(errs, dead)
	}
	return v, join(errs...)
}
