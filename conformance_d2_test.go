package bide_test

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// D. Shields: the hard end of a Stop, the only thing that crosses one.

// Waits that are parked in a shield get their cancellation at the hard end, and not before; the shield says that it was
// cut, and the stopped scope absorbs the rest. (That an ordinary cancellation does not cross is item 55.)
var _ = register(56, "hard_end_crosses_shields", func(c *C) {
	const grace = 10 * time.Second
	stopped := func(err error) *bide.Canceled {
		e := c.Canceled(err)
		c.Equal(e.Source, bide.ByShutdown, "source")
		c.Equal(e.Reason, failure, "reason")
		c.Equal(e.Scope, "stopped", "whose cancellation it is")
		return e
	}
	// How the shield lies below the stopped scope, and what had happened to that before.
	ways := []struct {
		name   string
		inside func(s *bide.Scope) context.Context
		before func(s *bide.Scope)
	}{
		{"right below", func(s *bide.Scope) context.Context { return s }, nil},
		{"below a canceled scope", func(s *bide.Scope) context.Context { return s }, func(s *bide.Scope) { s.Cancel(nil) }},
		{"below two scopes and a value", func(s *bide.Scope) context.Context {
			return context.WithValue(c.open(c.open(s)), struct{}{}, 0)
		}, nil},
		{"below two canceled scopes", func(s *bide.Scope) context.Context { return c.open(c.open(s)) }, func(s *bide.Scope) { s.Cancel(nil) }},
		{"below a closed scope", func(s *bide.Scope) context.Context {
			between := bide.Open(s)
			between.Done()
			between.Close(nil)
			return between
		}, nil},
		{"below a std context", func(s *bide.Scope) context.Context {
			ctx, stop := context.WithCancel(s)
			s.AfterFunc(stop)
			return ctx
		}, nil},
		{"below another shield", func(s *bide.Scope) context.Context {
			outer := make(chan context.Context)
			go bide.Shield(s, time.Hour, func(ctx context.Context) error {
				outer <- ctx
				return blk(ctx)
			})
			return <-outer
		}, nil},
	}
	for _, w := range ways {
		for _, b := range blocks {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				s := bide.Open(ctx, bide.Name("stopped"))
				inside := w.inside(s)
				below := c.Start(func() error { return b.wait(s) })
				op := c.Start(func() error {
					return bide.Shield(inside, time.Hour, func(ctx context.Context) error {
						err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
							n.Go(b.wait)
							return b.wait(ctx)
						})
						c.Equal(b.wait(ctx), err, "the next point inside")
						stopped(err)
						return err
					}, bide.Name("goodbye"))
				})
				op.Parked(w.name + ": " + b.name)
				if w.before != nil {
					w.before(s)
				}
				s.Stop(grace, failure)
				op.Parked("in the grace")
				if w.before == nil {
					below.Parked("a wait outside of the shield, in the grace")
					c.NoError(s.Check())
				}
				vc.Advance(grace - 1)
				op.Parked("just before the hard end")
				vc.Advance(1)
				err := op.Returned("at the hard end")
				if e, ok := err.(*bide.TimeoutError); c.True(ok, "a bare *TimeoutError: %v", err) {
					c.Equal(e.Scope, "goodbye", "name")
					c.Equal(e.Limit, grace, "limit")
					c.Equal(e.Elapsed, grace, "elapsed")
					c.True(e.Cut != nil, "cut")
					stopped(e.Cut)
				}
				err = below.Returned("the wait outside of the shield")
				if w.before == nil {
					stopped(err)
				}
				s.Close(&err)
				c.NoError(err) // absorbed: as an explicit Cancel is
				c.standing(s, "stopped", true, true)
				c.Equal(c.Pending(), 0, "pending")
			})
		}
	}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // not looked at, and not entered yet
		s := bide.Open(ctx, bide.Name("stopped"))
		s.Stop(grace, failure)
		err := bide.Shield(s, time.Hour, func(ctx context.Context) error {
			vc.Advance(grace)
			return bide.Check(ctx)
		}, bide.Name("looks late"))
		c.Equal(c.TimeoutError(err).Scope, "looks late", "name")
		for _, b := range blocks {
			err = bide.Shield(s, time.Hour, b.wait, bide.Name("too late"))
			e := c.TimeoutError(err)
			c.Equal(e.Scope, "too late", "name")
			c.Equal(e.Limit, time.Duration(0), "limit")
			c.NoError(bide.Shield(s, time.Hour, func(context.Context) error { return nil })) // a success is kept
		}
		s.Close(nil)
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // its own bound comes first, and keeps its meaning
		for _, d := range []time.Duration{grace - 1, grace} {
			s := bide.Open(ctx)
			s.Stop(grace, failure)
			took, err := c.Timed(vc, func() error {
				return bide.Shield(s, d, func(ctx context.Context) error {
					err := blk(ctx)
					c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
					return err
				})
			})
			c.Equal(took, d, "took")
			c.Equal(c.TimeoutError(err).Limit, d, "limit")
			c.True(c.TimeoutError(err).Cut == nil, "not cut")
			s.Close(nil)
		}
	})
})
