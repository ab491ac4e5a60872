package bide_test

import (
	"context"
	"runtime"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// J. What cannot be canceled.

// slots is a counting semaphore of the form that Slot takes.
type slots chan struct{}

func (s slots) Acquire(ctx context.Context, n int64) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return bide.Check(ctx)
	}
}

func (s slots) Release(n int64) { <-s }

// Blocking waits for what it calls, or, if told so, leaves it behind with its slot.
var _ = register(111, "blocking", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // not abandoned: the result counts, the cancellation comes later
		s := bide.Open(ctx)
		leave := make(chan struct{})
		var shown error
		var v int
		op := c.Start(func() (err error) {
			v, err = bide.Blocking(s, func(ctx context.Context) (int, error) {
				<-leave
				shown = bide.Check(ctx)
				return 5, nil
			}, bide.Name("file"))
			return err
		})
		op.Parked("in f")
		s.Cancel(failure)
		op.Parked("canceled, and still in f")
		close(leave)
		c.NoError(op.Returned("f has ended"))
		c.Equal(v, 5, "value")
		c.Equal(c.Canceled(shown).Reason, failure, "f's context shows it")
		_, err := bide.Blocking(s, func(context.Context) (int, error) { c.Error("called under a canceled context"); return 0, nil })
		c.Equal(c.Canceled(err).Reason, failure, "entry is a cancel point")
		s.Close(nil)
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // abandoned
		s := bide.Open(ctx)
		l := make(slots, 1)
		leave, ended := make(chan struct{}), false
		opts := []bide.Option{bide.Abandon(), bide.Slot(l)}
		op := c.Start(func() error {
			v, err := bide.Blocking(s, func(context.Context) (int, error) {
				<-leave
				ended = true
				return 5, failure
			}, opts...)
			c.Equal(v, 0, "value of what was abandoned")
			return err
		})
		op.Parked("in f")
		c.Equal(len(l), 1, "slots taken")
		s.Cancel(failure)
		c.Canceled(op.Returned("abandoned"))
		c.True(!ended && len(l) == 1, "f still runs, and has its slot")
		second := c.Start(func() error {
			return bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
				_, err := bide.Blocking(ctx, func(context.Context) (int, error) { c.Error("called without a slot"); return 0, nil }, opts...)
				return err
			})
		})
		second.Parked("no slot")
		vc.Advance(time.Second)
		c.TimeoutError(second.Returned("no slot in time"))
		close(leave)
		c.Settle()
		c.True(ended && len(l) == 0, "the slot is free when f has really ended")
		v, err := bide.Blocking(ctx, func(context.Context) (int, error) { return 6, failure }, opts...)
		c.Equal(v, 6, "value of what ended in time")
		c.Equal(err, failure, "its error")
		_, err = bide.Blocking(ctx, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, opts...)
		c.Equal(err, bide.ErrGoexit, "Goexit")
		c.Equal(len(l), 0, "slots taken")
		s.Close(nil)
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // a panic gives the slot back
		l := make(slots, 1)
		c.Panics(func() {
			bide.Blocking(ctx, func(context.Context) (int, error) { panic("f's") }, bide.Slot(l))
		}, "f's")
		c.Equal(len(l), 0, "slots taken")
	})
	c.Panics(func() { bide.Blocking[int](context.Background(), nil) }, "bide: Blocking: nil function")
	c.Panics(func() { bide.Slot(nil) }, "bide: Slot: nil Slots")
	c.Panics(func() { bide.Run(context.Background(), nil, bide.Abandon()) }, "bide: Run has no use for Abandon")
})
