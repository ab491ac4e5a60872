package bide_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// A. Cancel points, level triggering.

// A scope that nobody cancels leaves no trace: nil, nothing caught, no timer.
var _ = register(1, "no_cancel", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx, bide.Timeout(time.Hour))
		defer outer.Close(nil)
		outer.Done()
		before := c.Pending()
		c.Equal(before, 1, "pending: the outer scope's")
		nothing := func(ctx context.Context) error {
			for range 3 {
				c.NoError(bide.Check(ctx))
			}
			c.Equal(c.Pending(), before+1, "pending under a bound that was looked at")
			return bide.Sleep(ctx, time.Second)
		}
		for _, opts := range [][]bide.Option{{bide.Timeout(time.Minute)}, within(time.Minute), {bide.Deadline(at(vc, 30*time.Minute))}} {
			var s *bide.Scope
			took, err := c.Timed(vc, func() (err error) {
				s, err = run(outer, func(s *bide.Scope) error { return nothing(s) }, opts...)
				return err
			})
			c.NoError(err)
			c.Equal(took, time.Second, "took")
			c.standing(s, "s", false, false)
			c.Equal(c.Pending(), before, "pending at the end")
		}
		for _, call := range []func() error{
			func() error { return bide.FailAfter(outer, time.Minute, nothing) },
			func() error { return bide.Shield(outer, time.Minute, nothing) },
			func() error {
				moved, err := bide.MoveOnAfter(outer, time.Minute, nothing)
				c.True(!moved, "not moved on")
				return err
			},
			func() error {
				v, err := bide.Within(outer, time.Minute, func(ctx context.Context) (int, error) { return 7, nothing(ctx) })
				c.Equal(v, 7, "value")
				return err
			},
		} {
			_, err := c.Timed(vc, call)
			c.NoError(err)
			c.Equal(c.Pending(), before, "pending at the end")
		}
		c.NoError(outer.Check())
		s, err := run(outer, func(*bide.Scope) error { return nil })
		c.NoError(err)
		c.standing(s, "s without a bound", false, false)
		c.Equal(c.Pending(), before, "pending after a scope without a bound")
	})
})

// Cancellation is a state: in a canceled scope every wait fails, again and again, without parking.
var _ = register(2, "level_triggered", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, b := range blocks {
			s, err := run(ctx, func(s *bide.Scope) error {
				s.Cancel(failure)
				reason := s.Cause()
				for range 2 {
					// On the goroutine that drives everything: if it parked nobody would wake it.
					c.Equal(b.wait(s), reason, b.name)
				}
				return c.Canceled(b.wait(s))
			})
			c.NoError(err)
			c.standing(s, b.name, true, true)

			// The same if the first wait was parked when the cancellation came.
			s = bide.Open(ctx)
			first := c.Start(func() error { return b.wait(s) })
			first.Parked(b.name)
			s.Cancel(failure)
			e := c.Canceled(first.Returned(b.name))
			c.Equal(e.Source, bide.ByCancel, "source")
			c.Is(e, failure)
			c.Is(e, context.Canceled)
			c.IsNot(e, context.DeadlineExceeded)
			for range 2 {
				c.Equal(b.wait(s), error(e), b.name+", again")
			}
			s.Close(nil)
			c.Equal(elapsed(vc), time.Duration(0), "time that passed")
			c.Equal(c.Pending(), 0, "pending")
		}
	})
})

// The first cancellation stays, whether a second one is a Cancel or a deadline, and whether somebody looked in between.
var _ = register(3, "first_reason_stays", func(c *C) {
	type outerOf struct{}
	r1, r2 := errors.New("r1"), errors.New("r2")
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		cancel := func(s *bide.Scope, reason error) { s.Cancel(reason) }
		expire := func(*bide.Scope, error) { vc.Advance(2 * time.Second) }
		above := func(s *bide.Scope, reason error) { s.Value(outerOf{}).(*bide.Scope).Cancel(reason) }
		for _, t := range []struct {
			name          string
			first, second func(s *bide.Scope, reason error)
			source        bide.Source
			reason        error
		}{
			{"two Cancels", cancel, cancel, bide.ByCancel, r1},
			{"Cancel, and the deadline", cancel, expire, bide.ByCancel, r1},
			{"the deadline, and Cancel", expire, cancel, bide.ByDeadline, nil},
			{"Cancel, and one from above", cancel, above, bide.ByCancel, r1},
			{"from above, and Cancel", above, cancel, bide.ByCancel, r1},
			{"from above, and the deadline", above, expire, bide.ByCancel, r1},
			{"the deadline, and from above", expire, above, bide.ByDeadline, nil},
		} {
			for _, watched := range []bool{false, true} {
				for _, looked := range []bool{false, true} {
					outer := bide.Open(ctx)
					s := bide.Open(context.WithValue(outer, outerOf{}, outer), bide.Timeout(time.Second))
					if watched {
						s.Done()
					}
					t.first(s, r1)
					var cause error
					if looked {
						cause = s.Cause()
					}
					t.second(s, r2)
					e := c.Canceled(s.Cause())
					c.True(!looked || s.Cause() == cause, "%s: the same value", t.name)
					name := fmt.Sprintf("%s, watched %t, looked at %t", t.name, watched, looked)
					c.Equal(e.Source, t.source, name+": source")
					c.Equal(e.Reason, t.reason, name+": reason")
					c.Equal(blk(s), error(e), name+": error of a wait")
					c.Equal(s.Check(), error(e), name+": error of Check")
					c.Equal(context.Cause(s), error(e), name+": context.Cause")
					s.Close(nil)
					outer.Close(nil)
				}
			}
		}
	})
})

// A body may swallow its cancellation: then nothing is caught, but Cancel was called.
var _ = register(4, "body_drops_it", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s, err := run(ctx, func(s *bide.Scope) error {
			s.Cancel(failure)
			c.Canceled(blk(s))
			return nil
		})
		c.NoError(err)
		c.standing(s, "canceled s", true, false)
		for _, opts := range [][]bide.Option{within(time.Second), {bide.Timeout(time.Second)}} {
			s, err = run(ctx, func(s *bide.Scope) error {
				vc.Advance(time.Second)
				c.Canceled(blk(s))
				return nil
			}, opts...)
			c.NoError(err)
			c.standing(s, "expired s", true, false)
		}
	})
})

// A cancellation that nobody met ends with its scope: what is around waits as ever.
var _ = register(5, "canceled_after_the_last_point", func(c *C) {
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		for _, b := range blocks {
			parent := bide.Open(ctx)
			s, err := run(parent, func(s *bide.Scope) error {
				c.NoError(s.Check())
				s.Cancel(failure)
				return nil
			})
			c.NoError(err)
			c.standing(s, "s", true, false)
			c.NoError(parent.Check())
			op := c.Start(func() error { return b.wait(parent) })
			op.Parked(b.name + " in the parent")
			parent.Cancel(nil)
			c.Canceled(op.Returned(b.name))
			parent.Close(nil)
		}
	})
})

// In a canceled scope even what is free or ready is refused, and left as it was.
var _ = register(6, "canceled_means_no_effect", func(c *C) {
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		s := bide.Open(ctx)
		below := context.WithValue(s, struct{}{}, 0)
		std, stop := context.WithCancel(s)
		defer stop()
		s.Cancel(failure)
		for _, ctx := range []context.Context{s, below, std} {
			var m syncs.Mutex
			c.Canceled(m.Lock(ctx))
			c.True(m.TryLock(), "the mutex was left free")
			m.Unlock()

			var e syncs.Event
			e.Set()
			c.Canceled(e.Wait(ctx))
			c.True(e.IsSet(), "the event was left set")

			var f syncs.Future[int]
			f.Set(7)
			v, err := f.Wait(ctx)
			c.Canceled(err)
			c.Equal(v, 0, "value of a wait that failed")
			v, ok, err := f.Poll()
			c.True(v == 7 && ok && err == nil, "the future still has its value")

			i, err := syncs.WaitAny(ctx, &e, &f)
			c.Canceled(err)
			c.Equal(i, -1, "index")
		}
		s.Close(nil)
	})
})

// What lets go, wakes or changes a bound works in a canceled scope as everywhere: it is no cancel point.
var _ = register(8, "release_is_no_cancel_point", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var m syncs.Mutex
		var e syncs.Event
		var f syncs.Future[int]
		c.NoError(m.Lock(ctx))
		waiters := []*Op{
			c.Start(func() error { return m.Lock(ctx) }),
			c.Start(func() error { return e.Wait(ctx) }),
			c.Start(func() error { _, err := f.Wait(ctx); return err }),
		}
		for _, op := range waiters {
			op.Parked("a waiter outside of the scope")
		}
		ran := 0
		s, err := run(ctx, func(s *bide.Scope) error {
			inner := bide.Open(s)
			s.Cancel(failure)
			c.Canceled(blk(s))
			m.Unlock()
			e.Set()
			c.True(f.Set(7), "Set of the future")
			for _, op := range waiters {
				c.NoError(op.Returned("a waiter outside of the scope"))
			}
			m.Unlock() // the waiter's
			var err error
			inner.Close(&err)
			c.NoError(err)
			c.True(!s.SetDeadline(at(vc, time.Hour)), "SetDeadline says that it has done nothing")
			c.True(!s.SetTimeout(time.Hour), "SetTimeout says so too")
			s.Cancel(nil)
			bide.Open(s).Close(nil)
			return bide.WithNursery(s, func(_ context.Context, n *bide.Nursery) error {
				n.Go(func(ctx context.Context) error {
					ran++
					return bide.Check(ctx)
				})
				n.Cancel(nil)
				return nil
			})
		})
		c.NoError(err)
		c.Equal(ran, 1, "times that the nursery's child ran")
		c.standing(s, "s", true, true)
		c.Equal(c.Pending(), 0, "pending")
	})
})

// Check is nil or the cancellation; it arms the deadline and is cheap from then on. The verdict at the exit is the
// clock's, even if the timer is late.
var _ = register(9, "check", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx, bide.Timeout(time.Second))
		c.NoError(s.Check())
		c.NoError(bide.Check(context.WithValue(s, struct{}{}, 0)))
		c.Equal(c.Pending(), 1, "pending after the first calls")
		vc.Advance(time.Second - 1)
		c.NoError(s.Check())
		vc.Advance(1)
		c.Equal(c.Canceled(s.Check()).Source, bide.ByDeadline, "source")
		c.Equal(bide.Check(s), s.Cause(), "the function's error")
		s.Close(nil)
		c.NoError(bide.Check(context.Background()))

		late := &slow{Virtual: vc}
		expire := func() { late.ahead.Store(late.ahead.Load() + int64(time.Hour)) }
		on := bide.Clock(late)

		// The first call sees a deadline whose timer has not run.
		s = bide.Open(ctx, bide.Timeout(time.Second), on)
		expire()
		c.Equal(c.Canceled(s.Check()).Source, bide.ByDeadline, "source of the first Check")
		s.Close(nil)

		// Later ones do not read the clock; the exit does.
		body := func(ctx context.Context) error {
			for range 3 {
				c.NoError(bide.Check(ctx))
			}
			expire()
			reads := late.reads.Load()
			for range 100 {
				c.NoError(bide.Check(ctx))
			}
			c.Equal(late.reads.Load(), reads, "readings of the clock")
			return context.DeadlineExceeded
		}
		e := c.TimeoutError(bide.FailAfter(ctx, time.Second, body, on))
		c.Equal(e.Limit, time.Second, "limit")
		c.Equal(e.Elapsed, time.Hour, "elapsed")
		moved, err := bide.MoveOnAfter(ctx, time.Second, body, on)
		c.True(moved && err == nil, "moved on, %v", err)
		s, err = run(ctx, func(s *bide.Scope) error { return body(s) }, within(time.Second, on)...)
		c.NoError(err)
		c.standing(s, "s", true, true)
		// Without a cancellation in the result there is nothing to decide.
		c.NoError(bide.FailAfter(ctx, time.Second, func(ctx context.Context) error { _ = body(ctx); return nil }, on))
		vc.Advance(time.Hour) // the alarm that nobody needed
	})
})

// Sleeping for nothing, or less, is a cancel point and no wait.
var _ = register(10, "sleep_zero", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, d := range []time.Duration{0, -1, -time.Hour, math.MinInt64} {
			s := bide.Open(ctx, bide.Timeout(time.Hour))
			s.Done()
			before := c.service.Stats()
			for range 3 {
				c.NoError(bide.Sleep(s, d)) // on the goroutine that drives everything
			}
			c.Equal(c.service.Stats(), before, "what the timer service has done for it")
			s.Cancel(failure)
			c.Is(c.Canceled(bide.Sleep(s, d)), failure)
			s.Close(nil)
			c.Equal(elapsed(vc), time.Duration(0), "time that passed")
			c.Equal(c.Pending(), 0, "pending")
			c.NoError(bide.Sleep(context.Background(), d))
		}
	})
})

// Sleeping for ever, or beyond the end of the clock, has no timer and ends by cancellation only.
var _ = register(11, "sleep_for_ever", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		vc.Advance(time.Hour)
		for _, d := range []time.Duration{
			time.Duration(clock.Forever),
			math.MaxInt64 - 1,
			math.MaxInt64 - time.Hour + 1,
			math.MaxInt64 - time.Hour,
		} {
			s := bide.Open(ctx)
			op := c.Start(func() error { return bide.Sleep(s, d) })
			op.Parked("a sleep for ever")
			c.Equal(c.Pending(), 0, "pending")
			c.True(!vc.Jump(), "nothing is scheduled")
			s.Cancel(failure)
			c.Is(c.Canceled(op.Returned("the sleep")), failure)
			s.Close(nil)
		}
		// The last instant before the end is one.
		s := bide.Open(ctx)
		op := c.Start(func() error { return bide.Sleep(s, math.MaxInt64-time.Hour-1) })
		op.Parked("a sleep until the last instant")
		c.Equal(c.Pending(), 1, "pending")
		vc.Advance(100 * 365 * 24 * time.Hour)
		op.Parked("a sleep until the last instant, after 100 years")
		s.Cancel(failure)
		c.Is(c.Canceled(op.Returned("the sleep")), failure)
		s.Close(nil)
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		op := c.Start(func() error { return bide.Sleep(s, time.Duration(clock.Forever)) })
		op.Parked("a sleep for ever")
		vc.Advance(math.MaxInt64 - 1)
		op.Parked("a sleep for ever, nearly there")
		s.Cancel(failure)
		c.Canceled(op.Returned("the sleep"))
		s.Close(nil)
	})
})

// A sleep that ends at the very instant of a bound around it is canceled, whatever was scheduled first.
var _ = register(12, "own_timeout_never_masks_the_scope", func(c *C) {
	const d = 5 * time.Second
	same := func(op *Op, what string) {
		c.Helper()
		err := op.Returned(what)
		if c.True(err != nil, "%s: an error", what) {
			c.Equal(c.Canceled(err).Source, bide.ByDeadline, what+": source")
			c.Is(err, context.DeadlineExceeded)
		}
	}
	views := []struct {
		name string
		view func(s *bide.Scope) context.Context
	}{
		{"below the scope", func(s *bide.Scope) context.Context { return s }},
		{"below a value", func(s *bide.Scope) context.Context { return context.WithValue(s, struct{}{}, 0) }},
		{"below further scopes", func(s *bide.Scope) context.Context { return c.open(c.open(s)) }},
		{"below a std context", func(s *bide.Scope) context.Context {
			ctx, stop := context.WithCancel(s)
			s.AfterFunc(stop)
			return ctx
		}},
	}
	for _, v := range views {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			// The bound is scheduled first.
			s := bide.Open(ctx, within(d)...)
			in := v.view(s)
			s.Done()
			op := c.Start(func() error { return bide.Sleep(in, d) })
			op.Parked(v.name)
			vc.Advance(d)
			same(op, v.name)
			s.Close(nil)
			// A timer that is late does not help the sleep.
			late := &slow{Virtual: vc}
			s = bide.Open(ctx, bide.Clock(late), bide.Timeout(d))
			in = v.view(s)
			op = c.Start(func() error { return bide.Sleep(in, d-1) })
			op.Parked(v.name)
			late.ahead.Store(1)
			vc.Advance(d - 1)
			same(op, v.name+", whose scope has ended by the clock")
			s.Close(nil)
		})
	}
	// The sleep is scheduled first.
	c.Rounds(100, func(_ int, r *rand.Rand) {
		for _, v := range views {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				s := bide.Open(ctx, bide.MoveOn())
				in := v.view(s)
				op := c.Start(func() error { return bide.Sleep(in, d) })
				op.Parked(v.name)
				c.True(s.SetTimeout(d), "bounded while somebody waits")
				go vc.Advance(d)
				for range r.IntN(4) {
					runtime.Gosched()
				}
				same(op, v.name+", sleep first")
				s.Close(nil)
			})
		}
	})
})

// A sleep that its scope cuts short is over at the scope's deadline, and its timer is gone.
var _ = register(13, "sleep_cut_short", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx, bide.Timeout(time.Hour))
		defer outer.Close(nil)
		outer.Done()
		var inside atomic.Int64
		took, err := c.Timed(vc, func() error {
			s, err := run(outer, func(s *bide.Scope) error {
				err := bide.Sleep(s, 5*time.Second)
				c.Equal(elapsed(vc), 3*time.Second, "time of the cancellation")
				c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
				inside.Store(int64(c.Pending()))
				return err
			}, within(3*time.Second)...)
			c.standing(s, "s", true, true)
			return err
		})
		c.NoError(err)
		c.Equal(took, 3*time.Second, "took")
		c.Equal(inside.Load(), int64(1), "pending when the sleep has returned: the outer scope's")
		c.Equal(c.Pending(), 1, "pending at the end")
		c.True(vc.Jump(), "the outer scope's timer is there")
		c.NoError(outer.Check())
	})
})
