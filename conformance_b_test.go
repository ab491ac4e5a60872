package bide_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// B. Nesting and attribution: whose cancellation is it?

// Of 1⊃2⊃3, 3 and then 2 are canceled: 3 passes the cancellation on, 2 absorbs it, 1 never hears of it.
var _ = register(14, "outermost_canceled_absorbs", func(c *C) {
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		for _, b := range blocks {
			var s2, s3 *bide.Scope
			s1, err := run(ctx, func(s1 *bide.Scope) error {
				var err error
				s2, err = run(s1, func(s2 *bide.Scope) error {
					var err error
					s3, err = run(s2, func(s3 *bide.Scope) error {
						s3.Cancel(failure)
						s2.Cancel(nil)
						err := b.wait(s3)
						c.Is(c.Canceled(err), failure) // canceled itself first, it keeps its own reason
						return err
					})
					c.Is(c.Canceled(err), failure)
					return err
				})
				c.NoError(err)
				c.NoError(s1.Check())
				return err
			})
			c.NoError(err)
			c.standing(s3, "s3", true, false)
			c.standing(s2, "s2", true, true)
			c.standing(s1, "s1", false, false)
		}
	})
})

// The outer bound is the earlier one: at its time the inner scope passes the cancellation on, the outer absorbs it.
var _ = register(15, "outer_bound_first", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var inner *bide.Scope
		took, err := c.Timed(vc, func() error {
			outer, err := run(ctx, func(outer *bide.Scope) (err error) {
				inner, err = run(outer, func(s *bide.Scope) error { return bide.Sleep(s, 20*time.Second) }, within(10*time.Second)...)
				c.Equal(elapsed(vc), 5*time.Second, "time when the inner scope is left")
				c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
				return err
			}, within(5*time.Second)...)
			c.standing(outer, "outer", true, true)
			return err
		})
		c.NoError(err)
		c.Equal(took, 5*time.Second, "took")
		c.standing(inner, "inner", false, false)
	})
})

// The inner bound is the earlier one: the inner scope absorbs it, and the code after it runs on in the outer.
var _ = register(16, "inner_bound_first", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		after := false
		took, err := c.Timed(vc, func() error {
			outer, err := run(ctx, func(outer *bide.Scope) error {
				inner, err := run(outer, func(s *bide.Scope) error { return bide.Sleep(s, 20*time.Second) }, within(5*time.Second)...)
				c.NoError(err)
				c.standing(inner, "inner", true, true)
				c.Equal(elapsed(vc), 5*time.Second, "time when the inner scope is left")
				c.NoError(bide.Sleep(outer, time.Second))
				after = true
				return nil
			}, within(10*time.Second)...)
			c.standing(outer, "outer", false, false)
			return err
		})
		c.NoError(err)
		c.True(after, "the code after the inner scope has run")
		c.Equal(took, 6*time.Second, "took")
	})
})

// Both bounds at one instant: the outer absorbs, the inner does not, in whatever order their timers run.
var _ = register(17, "bounds_at_the_same_instant", func(c *C) {
	const d = 5 * time.Second
	for _, b := range blocks {
		for _, late := range []bool{false, true} { // the outer one is bounded while the body waits
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				opts := within(d)
				if late {
					opts = []bide.Option{bide.MoveOn()}
				}
				outer := bide.Open(ctx, opts...)
				var inner *bide.Scope
				op := c.Start(func() (err error) {
					inner, err = run(outer, func(s *bide.Scope) error { return b.wait(s) }, within(d)...)
					c.Canceled(err)
					outer.Close(&err)
					return err
				})
				op.Parked(b.name)
				if late {
					c.True(outer.SetTimeout(d), "the outer scope is bounded")
				}
				vc.Advance(d)
				c.NoError(op.Returned(b.name))
				c.standing(outer, "outer", true, true)
				c.True(inner != nil && !inner.Caught(), "the inner scope caught nothing")
			})
		}
	}
	// The inner scope is left when its timer has run, and the outer's has not.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx, bide.MoveOn())
		inner := bide.Open(outer, within(d)...)
		var err error
		left := c.hooked(inner, func() {
			err = inner.Check()
			inner.Close(&err)
		})
		c.True(outer.SetTimeout(d), "the outer scope is bounded")
		vc.Advance(d)
		c.Canceled(left.Returned("the wait"))
		c.Equal(c.Canceled(err).Source, bide.ByDeadline, "what the inner scope passes on")
		c.True(!inner.Caught(), "the inner scope caught nothing")
		outer.Close(&err)
		c.NoError(err)
		c.standing(outer, "outer", true, true)
	})
})

// A cancellation is on its way out of inner when outer is canceled: inner passes it on. Exactly one of the two absorbs,
// whenever outer is canceled.
var _ = register(18, "outer_canceled_on_the_way_out", func(c *C) {
	for _, b := range blocks {
		var inner *bide.Scope
		outer, err := run(context.Background(), func(outer *bide.Scope) (err error) {
			inner, err = run(outer, func(s *bide.Scope) error {
				defer outer.Cancel(nil)
				s.Cancel(failure)
				return b.wait(s)
			})
			c.Is(c.Canceled(err), failure)
			return err
		})
		c.NoError(err)
		c.standing(inner, "inner", true, false)
		c.standing(outer, "outer", true, true)
	}
	var by [2]int
	c.Rounds(3000, func(_ int, r *rand.Rand) {
		yields := [...]int{r.IntN(30), r.IntN(30)}
		var inner *bide.Scope
		var passed error
		done := make(chan struct{})
		outer, err := run(context.Background(), func(outer *bide.Scope) error {
			var ready atomic.Bool
			go func() {
				defer close(done)
				for !ready.Load() {
					runtime.Gosched()
				}
				yield(yields[0])
				outer.Cancel(nil)
			}()
			inner, passed = run(outer, func(s *bide.Scope) error {
				s.Cancel(failure)
				err := blk(s)
				ready.Store(true)
				yield(yields[1])
				return err
			})
			if passed == nil {
				by[0]++
			} else {
				by[1]++
			}
			return passed
		})
		<-done
		c.NoError(err)
		c.Equal(inner.Caught(), passed == nil, "inner has caught what it has not passed on")
		c.Equal(outer.Caught(), passed != nil, "outer has caught what inner has passed on")
	})
	c.Logf("absorbed by inner %d times, by outer %d times", by[0], by[1])
})

func yield(n int) {
	for range n {
		runtime.Gosched()
	}
}

// Only outer is canceled: inner was not, and passes it on.
var _ = register(19, "only_outer_canceled", func(c *C) {
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		for _, b := range blocks {
			for _, parked := range []bool{false, true} {
				var inner *bide.Scope
				outer := bide.Open(ctx)
				if !parked {
					outer.Cancel(failure)
				}
				op := c.Start(func() (err error) {
					inner, err = run(outer, func(s *bide.Scope) error { return b.wait(s) })
					c.Equal(err, outer.Cause(), "what the inner scope passes on")
					outer.Close(&err)
					return err
				})
				if parked {
					op.Parked(b.name)
					outer.Cancel(failure)
				}
				c.NoError(op.Returned(b.name))
				c.standing(inner, "inner", false, false)
				c.standing(outer, "outer", true, true)
			}
		}
	})
})

// canceledScopes calls f in scopes that are canceled in each of the ways that are absorbed, and check with the outcome.
func (c *C) canceledScopes(f func(s *bide.Scope, cancellation error) error, check func(s *bide.Scope, err error)) {
	c.Helper()
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, opts := range [][]bide.Option{nil, {bide.Timeout(time.Hour)}, within(time.Second)} {
			check(run(ctx, func(s *bide.Scope) error {
				if len(opts) < 2 {
					s.Cancel(nil)
				} else {
					vc.Advance(time.Second)
				}
				return f(s, blk(s))
			}, opts...))
		}
	})
}

// A real error from a canceled scope is what its scope returns, and nothing is caught.
var _ = register(20, "real_error_wins", func(c *C) {
	c.canceledScopes(func(s *bide.Scope, e error) error {
		c.Canceled(e)
		return failure
	}, func(s *bide.Scope, err error) {
		c.Equal(err, failure, "result")
		c.standing(s, "s", true, false)
	})
	// Also if the scope's expiry would have been a *TimeoutError.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			vc.Advance(time.Second)
			c.Canceled(blk(ctx))
			return failure
		})
		c.Equal(err, failure, "result of FailAfter")
	})
})

// Joined errors are split: the cancellations go, what is left keeps its shape, and a single one is bare.
var _ = register(21, "join_is_split", func(c *C) {
	f2, f3 := errors.New("f2"), errors.New("f3")
	join := errors.Join
	for _, t := range []struct {
		build func(e error) error
		want  error
	}{
		{func(e error) error { return join(failure, e) }, failure},
		{func(e error) error { return join(e, failure) }, failure},
		{func(e error) error { return join(e, e) }, nil},
		{func(e error) error { return join(e) }, nil},
		{func(e error) error { return join(failure, e, f2) }, join(failure, f2)},
		{func(e error) error { return join(join(failure, e), join(f2, join(e, f3))) }, join(failure, join(f2, f3))},
		{func(e error) error { return join(join(failure, f2), e) }, join(failure, f2)},
		{func(e error) error { return join(join(e, e), failure, join(e)) }, failure},
		{func(e error) error { return join(join(failure, f2), join(f3, e)) }, join(join(failure, f2), f3)},
		{func(e error) error { return join(join(failure, e), f2) }, join(failure, f2)},
	} {
		var built error
		c.canceledScopes(func(_ *bide.Scope, e error) error {
			built = t.build(e)
			return built
		}, func(s *bide.Scope, err error) {
			c.Equal(shapeOf(err), shapeOf(t.want), "what is left of "+shapeOf(built))
			c.standing(s, "s", true, true)
			if t.want == failure {
				c.Equal(err, failure, "the one that is left")
			}
		})
	}
	// Nothing to drop: the very error.
	whole := join(failure, join(f2, f3))
	c.canceledScopes(func(*bide.Scope, error) error { return whole }, func(s *bide.Scope, err error) {
		c.Equal(err, whole, "a Join without a cancellation")
		c.standing(s, "s", true, false)
	})
})

// shapeOf writes an error tree with brackets around what wraps several.
func shapeOf(err error) string {
	var e *bide.Canceled
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		text := fmt.Sprintf("%T[", err)
		for _, m := range many.Unwrap() {
			text += shapeOf(m) + " "
		}
		return text + "]"
	}
	if errors.As(err, &e) {
		return "C"
	}
	return fmt.Sprint(err)
}

// wrapped is a user's own wrapper.
type wrapped struct{ err error }

func (w wrapped) Error() string { return "wrapped: " + w.err.Error() }
func (w wrapped) Unwrap() error { return w.err }

// Wrapping a cancellation is annotation: it is absorbed all the same.
var _ = register(22, "wrapped_cancellation", func(c *C) {
	for _, wrap := range []func(e error) error{
		func(e error) error { return fmt.Errorf("header: %w", e) },
		func(e error) error { return fmt.Errorf("a: %w", fmt.Errorf("b: %w", fmt.Errorf("c: %w", e))) },
		func(e error) error { return wrapped{e} },
		func(e error) error { return &wrapped{fmt.Errorf("header: %w", e)} },
		func(e error) error { return fmt.Errorf("both: %w", errors.Join(e, wrapped{e})) },
	} {
		c.canceledScopes(func(_ *bide.Scope, e error) error { return wrap(e) }, func(s *bide.Scope, err error) {
			c.NoError(err)
			c.standing(s, "s", true, true)
		})
	}
})

// many is a user's own error that wraps several.
type many []error

func (m many) Error() string   { return fmt.Sprint([]error(m)) }
func (m many) Unwrap() []error { return m }

// Only what errors.Join made is split: any other error that wraps several, or is no wrapper at all, is real.
var _ = register(23, "other_multi_errors_are_real", func(c *C) {
	for _, mix := range []func(e error) error{
		func(e error) error { return fmt.Errorf("%w: %w", failure, e) },
		func(e error) error { return fmt.Errorf("%w: %w", e, e) },
		func(e error) error { return fmt.Errorf("save: %w", fmt.Errorf("%w: %w", failure, e)) },
		func(e error) error { return fmt.Errorf("save: %w", errors.Join(failure, e)) },
		func(e error) error { return &many{failure, e} },
		func(e error) error { return fmt.Errorf("lost: %v", e) },
		func(e error) error { return errors.New(e.Error()) },
	} {
		var built error
		c.canceledScopes(func(_ *bide.Scope, e error) error {
			built = mix(e)
			return built
		}, func(s *bide.Scope, err error) {
			c.Equal(err, built, "result")
			c.standing(s, "s", true, false)
		})
	}
})

// foreignErrors are cancellations that packages context, net and net/http have made: the real values.
func foreignErrors(c *C) map[string]error {
	c.Helper()
	found := map[string]error{}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	expired, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.Fatal(err)
	}
	defer l.Close()
	_, found["a dial that was canceled"] = new(net.Dialer).DialContext(canceled, "tcp", l.Addr().String())
	_, found["a dial that was late"] = new(net.Dialer).DialContext(expired, "tcp", l.Addr().String())
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		c.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Unix(1, 0))
	_, found["a read that was late"] = conn.Read(make([]byte, 1))
	_, found["a write that was late"] = conn.Write(make([]byte, 1))

	for name, ctx := range map[string]context.Context{"canceled": canceled, "late": expired} {
		req, err := http.NewRequestWithContext(ctx, "GET", "http://"+l.Addr().String(), nil)
		if err != nil {
			c.Fatal(err)
		}
		_, found["a request that was "+name] = new(http.Client).Do(req)
	}
	for name, err := range found {
		var op *net.OpError
		var u *url.Error
		c.True(errors.As(err, &op) || errors.As(err, &u), "%s: an error of package net or url: %v (%T)", name, err, err)
	}
	for _, bare := range []error{context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded} {
		found[bare.Error()] = bare
	}
	return found
}

// A foreign cancellation, bare or in the errors of net and net/http, is absorbed by a canceled scope; elsewhere it is
// somebody else's timeout, and returned as it is.
var _ = register(24, "foreign_cancellations", func(c *C) {
	for name, foreign := range foreignErrors(c) {
		for _, foreign := range []error{foreign, fmt.Errorf("get: %w", foreign)} {
			c.canceledScopes(func(*bide.Scope, error) error { return foreign }, func(s *bide.Scope, err error) {
				c.True(err == nil, "absorbed: %s, not %v", name, err)
				c.standing(s, name, true, true)
			})
			c.canceledScopes(func(_ *bide.Scope, e error) error { return errors.Join(foreign, e, failure) }, func(s *bide.Scope, err error) {
				c.Equal(err, failure, "what is left beside "+name)
			})
			s, err := run(context.Background(), func(*bide.Scope) error { return foreign }, bide.Timeout(time.Hour))
			c.Equal(err, foreign, "result of a live scope")
			c.standing(s, name+" in a live scope", false, false)
		}
	}
})

// A cancellation of one scope that another, live one returns is not that one's to absorb.
var _ = register(25, "saved_and_returned_elsewhere", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var saved []error
		for _, opts := range [][]bide.Option{nil, within(time.Second)} {
			_, err := run(ctx, func(s *bide.Scope) error {
				if opts == nil {
					s.Cancel(failure)
				} else {
					vc.Advance(time.Second)
				}
				saved = append(saved, blk(s))
				return nil
			}, opts...)
			c.NoError(err)
		}
		for _, e := range saved {
			c.Canceled(e)
			for _, returned := range []error{e, fmt.Errorf("then: %w", e), errors.Join(e, failure)} {
				var inner *bide.Scope
				outer, err := run(ctx, func(outer *bide.Scope) (err error) {
					inner, err = run(outer, func(*bide.Scope) error { return returned }, bide.Timeout(time.Hour))
					return err
				})
				c.Equal(err, returned, "result")
				c.standing(inner, "inner", false, false)
				c.standing(outer, "outer", false, false)
				c.Equal(bide.FailAfter(ctx, time.Hour, func(context.Context) error { return returned }), returned, "result of FailAfter")
			}
		}
	})
})

// A Canceled that user code makes is a real error.
var _ = register(26, "user_built_canceled_is_real", func(c *C) {
	c.canceledScopes(func(_ *bide.Scope, e error) error {
		return &bide.Canceled{Source: bide.ByCancel}
	}, func(s *bide.Scope, err error) {
		c.Canceled(err)
		c.standing(s, "s", true, false)
	})
	// So is a copy of one that was made here.
	c.canceledScopes(func(_ *bide.Scope, e error) error {
		copied := *c.Canceled(e)
		return errors.Join(e, &copied)
	}, func(s *bide.Scope, err error) {
		c.True(err != s.Cause(), "not the scope's own")
		c.True(err != nil, "the copy is left")
		c.standing(s, "s", true, true)
	})
})
