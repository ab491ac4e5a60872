package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

func TestLink(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		other := bide.Open(ctx, bide.Name("other"))
		std, cancel := context.WithCancelCause(context.Background())
		for name, x := range map[string]struct {
			ctx    context.Context
			cancel func()
		}{
			"a scope":            {other, func() { other.Cancel(failure) }},
			"a standard context": {std, func() { cancel(failure) }},
		} {
			s := bide.Open(ctx)
			unlinked := bide.Open(ctx)
			closed := bide.Open(ctx)
			s.Link(x.ctx)
			unlink := unlinked.Link(x.ctx)
			unlink()
			unlink()
			closed.Link(x.ctx)
			closed.Close(nil)
			op := c.Start(func() error { return blk(s) })
			op.Parked(name + ": linked")
			x.cancel()
			err := op.Returned(name + ": canceled")
			c.Canceled(err)
			c.Is(err, failure)
			c.NoError(unlinked.Check())
			s.Close(&err)
			c.NoError(err) // it is the scope's own end: nothing above it is canceled
			unlinked.Close(nil)

			late := bide.Open(ctx)
			late.Link(x.ctx)
			c.Is(late.Check(), failure) // at once
			late.Close(nil)
		}
		other.Close(nil)
		s := bide.Open(ctx)
		s.Link(context.Background())
		vc.Advance(time.Second)
		c.NoError(s.Check())
		s.Close(nil)
		c.Settle()
	})
	c.Panics(func() { bide.Open(context.Background()).Link(nil) }, "bide: Link: nil context") //nolint:staticcheck // on purpose
}
