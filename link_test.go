package bide_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// A noting context says how many are linked to it: package context asks for its AfterFunc.
type noting struct {
	context.Context
	linked atomic.Int32
}

func (n *noting) AfterFunc(func()) (stop func() bool) {
	n.linked.Add(1)
	return func() bool { n.linked.Add(-1); return true }
}

func (*noting) Value(any) any { return nil } // or it goes by the context within

// A scope that has ended is not linked to the other context any more.
func TestLinkEndsBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		other := &noting{Context: ctx}
		s := bide.Open(context.Background())
		s.Link(other)
		unlink := s.Link(other)
		if n := other.linked.Load(); n != 2 {
			t.Fatalf("%d are linked", n)
		}
		unlink()
		if n := other.linked.Load(); n != 1 {
			t.Errorf("%d are linked, one was unlinked", n)
		}
		s.Close(nil)
		synctest.Wait()
		if n := other.linked.Load(); n != 0 {
			t.Errorf("%d are linked to a scope that has ended", n)
		}
	})
}
