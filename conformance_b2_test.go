package bide_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// B, continued: timeouts, depth, std contexts in between.

// A bound that fails: the error says whose it was, how long, and is what everybody takes for a timeout.
var _ = register(27, "timeout_error", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		const limit, cleanup = 5 * time.Second, 2 * time.Second
		late := func(ctx context.Context) error {
			if err := bide.Sleep(ctx, time.Hour); err != nil {
				return errors.Join(err, bide.Shield(ctx, time.Minute, func(ctx context.Context) error { return bide.Sleep(ctx, cleanup) }))
			}
			return nil
		}
		name := bide.Name("fetch")
		for what, call := range map[string]func() error{
			"FailAfter": func() error { return bide.FailAfter(ctx, limit, late, name) },
			"FailAt":    func() error { return bide.FailAt(ctx, at(vc, elapsed(vc)+limit), late, name) },
			"Within": func() error {
				v, err := bide.Within(ctx, limit, func(ctx context.Context) (int, error) { return 7, late(ctx) }, name)
				c.Equal(v, 7, "value beside the error")
				return err
			},
			"Run": func() error {
				s, err := run(ctx, func(s *bide.Scope) error { return late(s) }, bide.Timeout(limit), name)
				c.standing(s, "s", true, true)
				return err
			},
			"Open": func() (err error) {
				s := bide.Open(ctx, bide.Deadline(at(vc, elapsed(vc)+limit)), name)
				defer s.Close(&err)
				return late(s)
			},
			"bounded after the opening": func() (err error) {
				s := bide.Open(ctx, name)
				defer s.Close(&err)
				c.True(s.SetTimeout(limit), "bounded")
				return late(s)
			},
			"moved": func() (err error) {
				s := bide.Open(ctx, bide.Timeout(time.Hour), name)
				defer s.Close(&err)
				c.True(s.SetTimeout(limit), "bounded again")
				return late(s)
			},
		} {
			took, err := c.Timed(vc, call)
			c.Equal(took, limit+cleanup, what+": took")
			e, ok := err.(*bide.TimeoutError)
			if !c.True(ok, "%s: a bare *TimeoutError: %v (%T)", what, err, err) {
				continue
			}
			c.Equal(e.Scope, "fetch", what+": Scope")
			c.Equal(e.Limit, limit, what+": Limit")
			c.Equal(e.Elapsed, limit+cleanup, what+": Elapsed")
			c.Is(err, context.DeadlineExceeded)
			c.Is(err, os.ErrDeadlineExceeded)
			c.IsNot(err, context.Canceled)
			c.True(os.IsTimeout(err), "os.IsTimeout")
			var ne net.Error
			c.True(errors.As(fmt.Errorf("get: %w", err), &ne) && ne.Timeout(), "a net.Error that is a timeout")
			var canceled *bide.Canceled
			c.True(!errors.As(err, &canceled), "no cancellation is left in it")
		}
		// A real error beside the cancellation is kept beside the verdict.
		err := bide.FailAfter(ctx, limit, func(ctx context.Context) error {
			vc.Advance(limit)
			return errors.Join(blk(ctx), failure)
		})
		c.Equal(c.TimeoutError(err).Limit, limit, "limit")
		c.Is(err, failure)
	})
})

// A Cancel before the deadline decides: also if the deadline passes before the exit, there is no timeout.
var _ = register(28, "canceled_before_the_deadline", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		late := &slow{Virtual: vc}
		for _, on := range []clock.Clock{vc, late} {
			for _, watched := range []bool{false, true} {
				body := func(ctx context.Context) error {
					if watched {
						ctx.Done()
					}
					bide.From(ctx).Cancel(failure)
					err := blk(ctx)
					c.Is(c.Canceled(err), failure)
					late.ahead.Add(int64(2 * time.Second))
					if on == clock.Clock(vc) {
						vc.Advance(2 * time.Second)
					}
					return err
				}
				c.NoError(bide.FailAfter(ctx, time.Second, body, bide.Clock(on)))
				s, err := run(ctx, func(s *bide.Scope) error { return body(s) }, bide.Timeout(time.Second), bide.Clock(on))
				c.NoError(err)
				c.standing(s, "s", true, true)
			}
		}
	})
})

// A Fail whose outer scope expires first passes the cancellation on: the verdict is not its own.
var _ = register(29, "fail_inside_an_earlier_bound", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, absorbs := range []bool{false, true} {
			took, err := c.Timed(vc, func() error {
				opts := []bide.Option{bide.Timeout(time.Second), bide.Name("outer")}
				if absorbs {
					opts = append(opts, bide.MoveOn())
				}
				outer, err := run(ctx, func(outer *bide.Scope) error {
					err := bide.FailAfter(outer, time.Minute, func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) }, bide.Name("inner"))
					c.Equal(err, outer.Cause(), "what the inner scope returns")
					var te *bide.TimeoutError
					c.True(!errors.As(err, &te), "no TimeoutError from the inner scope")
					return err
				}, opts...)
				c.standing(outer, "outer", true, true)
				return err
			})
			c.Equal(took, time.Second, "took")
			if absorbs {
				c.NoError(err)
			} else {
				c.Equal(c.TimeoutError(err).Scope, "outer", "whose bound it was")
			}
		}
	})
})

// Equal bounds, one in the other: one verdict, the outer's.
var _ = register(30, "fail_in_an_equal_fail", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, b := range blocks {
			took, err := c.Timed(vc, func() error {
				return bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
					err := bide.FailAfter(ctx, time.Second, b.wait, bide.Name("inner"))
					c.Canceled(err)
					return err
				}, bide.Name("outer"))
			})
			c.Equal(took, time.Second, "took")
			e, ok := err.(*bide.TimeoutError)
			if c.True(ok, "one bare *TimeoutError: %v", err) {
				c.Equal(e.Scope, "outer", "whose bound it was")
			}
		}
	})
})

// A success that comes late is a success, with its value.
var _ = register(31, "late_success_is_kept", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, watched := range []bool{false, true} {
			v, err := bide.Within(ctx, time.Second, func(ctx context.Context) (string, error) {
				if watched {
					ctx.Done()
				}
				vc.Advance(2 * time.Second)
				return "late", nil
			})
			c.NoError(err)
			c.Equal(v, "late", "value")
			c.NoError(bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
				if watched {
					c.Canceled(func() error { vc.Advance(time.Second); return blk(ctx) }())
				} else {
					vc.Advance(time.Second)
				}
				return nil
			}))
		}
	})
})

// An inner bound's verdict is a real error to every scope around, canceled or not, though it is a DeadlineExceeded.
var _ = register(32, "timeout_error_is_real_outside", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, wrap := range []func(te, e error) error{
			func(te, _ error) error { return te },
			func(te, _ error) error { return fmt.Errorf("fetch: %w", te) },
			func(te, e error) error { return errors.Join(e, te) },
		} {
			var te error
			outer, err := run(ctx, func(outer *bide.Scope) error {
				te = bide.FailAfter(outer, time.Second, func(ctx context.Context) error {
					vc.Advance(time.Second)
					return blk(ctx)
				}, bide.Name("inner"))
				c.TimeoutError(te)
				outer.Cancel(nil)
				te = wrap(te, blk(outer))
				return te
			})
			c.Is(err, context.DeadlineExceeded)
			c.Equal(c.TimeoutError(err).Scope, "inner", "whose bound it was")
			var e *bide.Canceled
			c.True(!errors.As(err, &e), "no cancellation is left beside it")
			c.True(outer.CancelCalled(), "outer was canceled")
			if !errors.As(te, &e) {
				c.Equal(err, te, "the very error")
				c.True(!outer.Caught(), "outer caught nothing")
			}
		}
	})
})

// A scope whose body has returned nil returns nil, whatever happened around it.
var _ = register(33, "nil_under_a_canceled_parent", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, expired := range []bool{false, true} {
			var inner *bide.Scope
			outer, err := run(ctx, func(outer *bide.Scope) error {
				var err error
				inner, err = run(outer, func(s *bide.Scope) error {
					if expired {
						vc.Advance(time.Second)
					} else {
						outer.Cancel(failure)
					}
					c.Canceled(s.Check())
					return nil
				})
				c.NoError(err)
				c.NoError(bide.FailAfter(outer, time.Second, func(context.Context) error { return nil }))
				c.NoError(bide.Shield(outer, time.Second, func(context.Context) error { return nil }))
				return nil
			}, within(time.Second)...)
			c.NoError(err)
			c.standing(inner, "inner", false, false)
			c.standing(outer, "outer", true, false)
		}
	})
})

// Canceling the outermost of 5000 nested scopes cancels all before it returns, without recursion, and at a cost that is
// linear in what is alive below.
var _ = register(34, "very_deep_nesting_real_time", func(c *C) {
	const depth = 5000
	nest := func(ctx context.Context, n int) (scopes []*bide.Scope) {
		for range n {
			s := bide.Open(ctx)
			scopes, ctx = append(scopes, s), s
		}
		scopes[n-1].Done() // observes them all
		return scopes
	}
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		scopes := nest(ctx, depth)
		frames := func() int { return runtime.Callers(0, make([]uintptr, 10*depth)) }
		var deep, canceled atomic.Int64
		op := c.hooked(scopes[depth-1], func() { deep.Store(int64(frames())) })
		here := frames()
		scopes[0].Cancel(failure)
		for i, s := range scopes {
			if s.Err() == context.Canceled && s.Cause() == scopes[0].Cause() && s.CancelCalled() == (i == 0) {
				canceled.Add(1)
			}
		}
		c.Equal(canceled.Load(), int64(depth), "scopes that are canceled when Cancel has returned")
		c.True(deep.Load() > 0 && deep.Load() < int64(here+50), "%d frames on the canceller's stack, from %d", deep.Load(), here)
		err := op.Returned("the wait")
		c.Is(c.Canceled(err), failure)
		for i := depth - 1; i >= 0; i-- {
			scopes[i].Close(&err)
		}
		c.NoError(err)
		c.True(scopes[0].Caught() && !scopes[1].Caught(), "the outermost absorbs")
	})

	// Those that nobody has looked at yet find out when they are asked.
	ctx := context.Background()
	top := bide.Open(ctx)
	ctx = top
	for range depth {
		ctx = bide.Open(ctx)
	}
	top.Cancel(failure)
	c.Equal(bide.Check(ctx), top.Cause(), "error of the innermost scope, asked for the first time")

	// Two cancellers: also for the second everything below is canceled when Cancel has returned.
	c.Rounds(5000, func(_ int, r *rand.Rand) {
		scopes := nest(context.Background(), 4)
		below := append(nest(scopes[0], 1), scopes...)
		var all sync.WaitGroup
		for range 2 {
			n := r.IntN(3)
			all.Go(func() {
				yield(n)
				scopes[0].Cancel(failure)
				for _, s := range below {
					c.Equal(s.Err(), context.Canceled, "Err of a scope below")
				}
			})
		}
		all.Wait()
	})

	// Linear: with 16 times as many it costs, for each, about the same; it would cost 16 times as much if it were
	// quadratic. Real time, but no bound on it: the cheapest of some rounds, since the machine may be busy.
	each := func(n int) time.Duration {
		best := time.Hour
		for range 5 {
			scopes := nest(context.Background(), n)
			runtime.GC()
			start := time.Now()
			scopes[0].Cancel(nil)
			best = min(best, time.Since(start)/time.Duration(n))
		}
		return best
	}
	small, large := each(depth/4), each(4*depth)
	for try := 0; try < 10 && large >= 8*(small+50*time.Nanosecond); try++ { // a busy machine is not quadratic each time
		small, large = each(depth/4), each(4*depth)
	}
	c.True(large < 8*(small+50*time.Nanosecond), "%v for each of %d, %v for each of %d", small, depth/4, large, 4*depth)

	// Alive: a scope keeps nothing of what was closed below it.
	top = bide.Open(context.Background())
	top.Done()
	var closed [100]weak.Pointer[bide.Scope]
	for i := range closed {
		s := bide.Open(top)
		s.Done()
		closed[i] = weak.Make(s)
		s.Close(nil)
	}
	runtime.GC()
	left := 0
	for _, p := range closed {
		if p.Value() != nil {
			left++
		}
	}
	c.True(left <= 1, "%d of %d closed scopes are kept by the one above them", left, len(closed))
	top.Close(nil)
})

// A std context between two scopes is canceled: the inner scope passes that on, with its cause; the outer has no part
// in it.
var _ = register(35, "std_context_in_between", func(c *C) {
	c.Bubble(func(ctx context.Context) {
		cause := errors.New("cause")
		for _, b := range blocks {
			for how, middle := range map[string]func(s context.Context) (ctx context.Context, end func()){
				"canceled": func(s context.Context) (context.Context, func()) {
					ctx, cancel := context.WithCancel(s)
					return ctx, cancel
				},
				"canceled with a cause": func(s context.Context) (context.Context, func()) {
					ctx, cancel := context.WithCancelCause(s)
					return ctx, func() { cancel(cause) }
				},
				"expired": func(s context.Context) (context.Context, func()) {
					ctx, cancel := context.WithTimeout(s, time.Second)
					return ctx, func() { time.Sleep(time.Second); cancel() }
				},
				"expired with a cause, below a value": func(s context.Context) (context.Context, func()) {
					ctx, cancel := context.WithTimeoutCause(context.WithValue(s, io.EOF, 1), time.Second, cause)
					return context.WithValue(ctx, io.EOF, 2), func() { time.Sleep(time.Second); cancel() }
				},
			} {
				for _, deeper := range []bool{false, true} {
					c.between(ctx, how, b, middle, deeper)
				}
			}
		}
	})
})

func (c *C) between(ctx context.Context, how string, b block, middle func(context.Context) (context.Context, func()), deeper bool) {
	c.Helper()
	var inner *bide.Scope
	outer := bide.Open(ctx)
	std, end := middle(outer)
	wait := b.wait
	if deeper { // a scope below the one that has a std context above
		wait = func(ctx context.Context) error {
			s, err := run(ctx, func(s *bide.Scope) error { return b.wait(s) })
			c.standing(s, "the innermost", false, false)
			return err
		}
	}
	op := c.Start(func() (err error) {
		inner, err = run(std, func(s *bide.Scope) error { return wait(s) })
		return err
	})
	op.Parked(how)
	end()
	err := op.Returned(how)
	e := c.Canceled(err)
	c.Equal(e.Source, bide.ByContext, how+": source")
	c.Is(err, context.Cause(std))
	c.Is(err, std.Err())
	c.standing(inner, "inner", false, false)
	c.NoError(outer.Check())
	passed := err
	outer.Close(&err)
	c.Equal(err, passed, how+": what the outer scope returns")
	c.standing(outer, "outer", false, false)

	// Nobody was parked: the first look, and the exit, find it out.
	for _, look := range []func(s *bide.Scope) error{
		func(s *bide.Scope) error { return s.Check() },
		func(s *bide.Scope) error { return b.wait(s) },
		func(s *bide.Scope) error { return std.Err() },
	} {
		s, err := run(std, func(s *bide.Scope) error {
			if deeper {
				s = bide.Open(s)
			}
			return look(s)
		})
		c.Is(err, std.Err())
		c.standing(s, "a scope that was opened later", false, false)
		c.Is(s.Cause(), context.Cause(std))
	}

	// What comes through from a canceled scope above is that one's.
	outer = bide.Open(ctx)
	std, end = middle(outer)
	op = c.Start(func() (err error) {
		inner, err = run(std, func(s *bide.Scope) error { return wait(s) })
		return err
	})
	op.Parked(how)
	outer.Cancel(failure)
	err = op.Returned(how + ", by the outer scope")
	c.Equal(err, outer.Cause(), "what the inner scope passes on")
	c.standing(inner, "inner", false, false)
	outer.Close(&err)
	c.NoError(err)
	end()
}
