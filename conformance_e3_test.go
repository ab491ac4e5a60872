package bide_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// E. Binding, reuse, cross-goroutine, continued: the wrong order.

// closed closes s, and returns what becomes of err.
func closed(s *bide.Scope, err error) error {
	s.Close(&err)
	return err
}

// The outer scope is closed while the inner one is open: that ends everything inside, and is an error of the outer one's.
var _ = register(68, "misnested", func(c *C) {
	looks := map[string]func(s *bide.Scope){
		"two looks":     func(s *bide.Scope) { _, _ = s.Err(), s.Err() },
		"Done":          func(s *bide.Scope) { s.Done() },
		"a child's":     func(s *bide.Scope) { bide.Run(s, func(k *bide.Scope) error { k.Done(); return nil }) },
		"its own end":   func(s *bide.Scope) { s.Done(); s.Cancel(failure) },
		"its own bound": func(s *bide.Scope) { s.Done(); s.SetTimeout(0) },
	}
	for name, look := range looks {
		for _, was := range []error{nil, failure} {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				outer := bide.Open(ctx)
				inner := bide.Open(outer)
				look(inner)
				err := closed(outer, was)
				c.Is(err, bide.ErrMisnested)
				if was != nil {
					c.Is(err, was)
				} else {
					c.Equal(err, bide.ErrMisnested, name+": alone")
				}
				c.True(inner.Err() != nil, "%s: the inner scope is canceled", name)
				c.NoError(closed(inner, nil))
			})
		}
	}

	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // waits inside, at every depth
		outer := bide.Open(ctx)
		inner := bide.Open(outer)
		op := c.Start(func() error { return blk(inner) })
		deep := c.Start(func() error {
			return bide.FailAfter(inner, time.Hour, func(ctx context.Context) error {
				return bide.FailAfter(ctx, time.Hour, blk)
			})
		})
		op.Parked("under inner")
		deep.Parked("below inner")
		c.Equal(closed(outer, nil), bide.ErrMisnested, "error")
		err := op.Returned("under inner")
		c.Equal(c.Canceled(err).Source, bide.ByAbandoned, "source")
		c.Equal(c.Canceled(deep.Returned("below inner")).Source, bide.ByAbandoned, "source, deep")
		c.Equal(c.Canceled(inner.Cause()).Source, bide.ByAbandoned, "cause")
		c.Equal(closed(inner, err), err, "inner's own Close has nothing to add, and nothing to drop")
		c.Equal(c.Pending(), 0, "timers")
	})

	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx) // the right order
		inner := bide.Open(outer)
		inner.Done()
		c.NoError(closed(inner, nil))
		c.NoError(closed(outer, nil))

		outer = bide.Open(ctx) // nobody knows of the inner one: it is canceled when it looks
		inner = bide.Open(outer)
		c.NoError(closed(outer, nil))
		c.Equal(c.Canceled(blk(inner)).Source, bide.ByAbandoned, "source")
		c.NoError(closed(inner, nil))

		outer = bide.Open(ctx) // canceled before: then what is inside is already
		inner = bide.Open(outer)
		inner.Done()
		outer.Cancel(failure)
		c.NoError(closed(outer, blk(inner)))
		c.Equal(c.Canceled(inner.Cause()).Reason, failure, "reason")
		c.NoError(closed(inner, nil))

		outer = bide.Open(ctx) // a shield goes on
		c.NoError(bide.Shield(outer, time.Hour, func(ctx context.Context) error {
			_ = bide.Check(ctx)
			c.NoError(closed(outer, nil))
			return bide.Check(ctx)
		}))

		outer = bide.Open(ctx) // nowhere to report it
		inner = bide.Open(outer)
		inner.Done()
		outer.Close(nil)
		c.True(inner.Err() != nil, "canceled")
		c.NoError(closed(inner, nil))

		// A block keeps what its function has returned.
		c.NoError(bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error {
			inner = bide.Open(ctx)
			inner.Done()
			return nil
		}))
		c.Equal(c.Canceled(inner.Cause()).Source, bide.ByAbandoned, "cause")
		c.NoError(closed(inner, nil))

		// All that a nursery opens is closed before it ends.
		outer = bide.Open(ctx)
		c.Equal(closed(outer, bide.WithNursery(outer, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(blk, bide.Timeout(time.Hour))
			n.Service(blk, bide.Name("log"))
			_, err := bide.Start(ctx, n, func(ctx context.Context, ready func(int) bool) error { ready(1); return blk(ctx) })
			c.NoError(err)
			c.Settle()
			return failure
		})), failure, "a nursery's error")
	})

	c.Rounds(500, func(round int, r *rand.Rand) { // both at once: either order, and nothing else
		outer := bide.Open(context.Background())
		inner := bide.Open(outer)
		inner.Done()
		var first, second error
		race(r, 50, func() { outer.Close(&first) }, func() { inner.Close(&second) })
		c.True(first == nil || first == bide.ErrMisnested, "the outer one's error: %v", first)
		c.NoError(second)
		c.True(errors.Is(inner.Err(), context.Canceled), "closed")
	})
})
