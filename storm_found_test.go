package bide_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// What the storm of trees, and reading the code as an enemy, have found.

// Below a context of another kind, the first thing that happened counts, however late somebody looks.
func TestFirstCauseBelowStd(t *testing.T) {
	for _, test := range []struct {
		name            string
		above, own      time.Duration // when each is due
		looks           int           // before anything has happened
		jump            time.Duration // how far the clock goes at once
		source          bide.Source
		scope           string
		called, pending bool
	}{
		{"nobody has looked; its own was first", 8, 4, 0, 10, bide.ByDeadline, "inner", true, false},
		{"looked once; its own was first", 8, 4, 1, 10, bide.ByDeadline, "inner", true, false},
		{"nobody has looked; the one above was first", 4, 8, 0, 10, bide.ByDeadline, "outer", false, false},
		{"looked once; the one above was first", 4, 8, 1, 10, bide.ByDeadline, "outer", false, false},
		{"looked twice; the one above was first", 4, 8, 2, 10, bide.ByDeadline, "outer", false, false},
	} {
		c := &C{T: t}
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			outer := bide.Open(ctx, bide.Timeout(test.above), bide.Name("outer"))
			std, stop := context.WithCancel(outer)
			defer stop()
			inner := bide.Open(std, bide.Timeout(test.own), bide.Name("inner"))
			for range test.looks {
				c.NoError(inner.Check())
			}
			vc.Advance(test.jump)
			e := c.Canceled(inner.Check())
			c.Equal(e.Source, test.source, test.name+": source")
			c.Equal(e.Scope, test.scope, test.name+": scope")
			c.Equal(inner.CancelCalled(), test.called, test.name+": CancelCalled")
			inner.Close(nil)
			outer.Close(nil)
		})
	}
}

// A scope that is linked to one that was canceled long ago is canceled now: what came before, below it or above, and was
// not looked at yet, stays.
func TestLinkLate(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		other := bide.Open(ctx, bide.Name("other"))
		other.Cancel(failure)
		linked := bide.Open(ctx)
		below := bide.Open(linked, bide.Timeout(2), bide.Name("below"))
		later := bide.Open(linked, bide.Timeout(20), bide.Name("later"))
		vc.Advance(5)
		linked.Link(other)
		c.Is(linked.Check(), failure)
		c.Equal(c.Canceled(below.Check()).Scope, "below", "its deadline was first")
		c.Is(later.Check(), failure)

		outer := bide.Open(ctx, bide.Name("outer"))
		outer.Cancel(nil)
		inner := bide.Open(outer)
		inner.Link(other)
		c.Equal(c.Canceled(inner.Check()).Scope, "outer", "what is above was first")
		for _, s := range []*bide.Scope{inner, outer, later, below, linked, other} {
			s.Close(nil)
		}
	})
}

// A scope that is linked to one outside of its shield absorbs what comes from there: it is its own end.
func TestLinkAcrossShield(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.Run(ctx, func(outer *bide.Scope) error {
			return bide.Shield(outer, time.Hour, func(ctx context.Context) error {
				err := bide.Run(ctx, func(s *bide.Scope) error {
					s.Link(outer)
					outer.Cancel(failure)
					c.Settle()
					err := s.Check()
					c.Is(err, failure)
					return err
				})
				c.NoError(err)
				return bide.Check(ctx)
			})
		})
		c.NoError(err)
	})
}

// Taking away a bound that is not there bounds nothing: the Limit of one that comes later is counted from that moment.
func TestLimitAfterNoBound(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.Run(ctx, func(s *bide.Scope) error {
			c.True(s.SetDeadline(time.Time{}), "removed")
			vc.Advance(time.Minute)
			c.True(s.SetTimeout(time.Second), "set")
			vc.Advance(time.Second)
			return s.Check()
		})
		c.Equal(c.TimeoutError(err).Limit, time.Second, "limit")
	})
}

// Of two hard ends that have come unnoticed the first one cuts a shield, also if the shield's own bound lies between.
func TestFirstHardEndCuts(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx, bide.Name("outer"))
		outer.Stop(7, nil)
		inner := bide.Open(outer, bide.Name("inner"))
		inner.Stop(15, nil)
		std, stop := context.WithCancel(inner)
		inner.Close(nil)
		err := bide.Shield(std, 11, func(ctx context.Context) error {
			c.NoError(bide.Check(ctx))
			vc.Advance(20)
			return bide.Check(ctx)
		})
		c.True(c.TimeoutError(err).Cut != nil, "%v: cut by the Stop", err)
		stop()
		outer.Close(nil)
	})
}

// Who waits for the slot of a child that fails finds the nursery canceled.
func TestSlotOfTheFailed(t *testing.T) {
	for range 2000 {
		c := &C{T: t}
		err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(context.Context) error { return failure })
			n.Go(func(ctx context.Context) error {
				c.True(bide.Check(ctx) != nil, "canceled")
				return nil
			})
			return nil
		}, bide.Limit(1))
		c.Is(err, failure)
		if c.Failed() {
			break
		}
	}
}

// A clock whose next reading can be held up.
type held struct {
	*clock.Virtual
	entered, leave chan struct{} // nil: it is not
}

func (h *held) Now() clock.Instant {
	if c := h.entered; c != nil {
		h.entered = nil
		close(c)
		<-h.leave
	}
	return h.Virtual.Now()
}

// A look at a scope below a context of another kind, while somebody else is on the way to observing it: its deadline is
// in no timer yet, so the look has to see it.
func TestLookWhileObserved(t *testing.T) {
	c := &C{T: t}
	h := &held{Virtual: clock.NewVirtual()}
	std, stop := context.WithCancel(context.Background())
	defer stop()
	s := bide.Open(std, bide.Clock(h), bide.Timeout(time.Second))
	c.NoError(s.Check())
	h.Advance(2 * time.Second)
	entered, leave := make(chan struct{}), make(chan struct{})
	h.entered, h.leave = entered, leave
	first := c.Start(s.Check)
	<-entered // under the scope's lock
	go func() {
		for range 1000 {
			runtime.Gosched() // meanwhile the second look is on its way
		}
		close(leave)
	}()
	c.Is(s.Check(), context.DeadlineExceeded)
	c.Is(first.Wait(), context.DeadlineExceeded)
	s.Close(nil)
	c.Equal(timer.For(h).Stats().Pending, 0, "pending")
}
