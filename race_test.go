package bide_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// try is a function for Race: it takes d, and then returns v and err; canceled before, the cancellation.
func try(d time.Duration, v int, err error) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if err := bide.Sleep(ctx, d); err != nil {
			return 0, err
		}
		return v, err
	}
}

func TestRace(t *testing.T) {
	errA, errB := errors.New("a"), errors.New("b")
	for name, x := range map[string]struct {
		fs   []func(context.Context) (int, error)
		v    int
		err  func(error) bool
		took time.Duration
	}{
		"first":             {[]func(context.Context) (int, error){try(2, 2, nil), try(1, 1, nil), try(3, 3, nil)}, 1, isNil, 1},
		"failures are past": {[]func(context.Context) (int, error){try(1, 0, errA), try(2, 0, errB), try(3, 3, nil)}, 3, isNil, 3},
		"all fail": {[]func(context.Context) (int, error){try(2, 0, errA), try(1, 0, errB)}, 0,
			func(err error) bool { return err.Error() == "b\na" && errors.Is(err, errA) && errors.Is(err, errB) }, 2},
		"one fails": {[]func(context.Context) (int, error){try(2, 0, errA)}, 0, func(err error) bool { return err == errA }, 2},
		"goexit": {[]func(context.Context) (int, error){func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, try(2, 2, nil)},
			2, isNil, 2},
		"a loser that takes its time": {[]func(context.Context) (int, error){try(1, 1, nil), func(ctx context.Context) (int, error) {
			bide.Sleep(ctx, time.Hour)
			return 5, bide.Shield(ctx, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, 9) })
		}}, 1, isNil, 10},
	} {
		c := &C{T: t}
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var v int
			took, err := c.Timed(vc, func() (err error) { v, err = bide.Race(ctx, x.fs...); return err })
			if v != x.v || !x.err(err) || took != x.took {
				t.Errorf("%s: %d, %v after %v", name, v, err, took)
			}
		})
	}
}

func isNil(err error) bool { return err == nil }

// TestRaceCanceled: one cancellation comes out, and what real errors there were.
func TestRaceCanceled(t *testing.T) {
	c := &C{T: t}
	errA := errors.New("a")
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		op := c.Start(func() error {
			_, err := bide.Race(s, try(1, 0, errA), try(time.Hour, 1, nil), try(time.Hour, 1, nil))
			return err
		})
		op.Parked("racing")
		vc.Advance(1)
		op.Parked("one has failed")
		s.Cancel(failure)
		err := op.Returned("canceled")
		c.Equal(c.Canceled(err).Reason, failure, "reason")
		c.Is(err, errA)
		s.Close(&err)
		c.Equal(err, errA, "what the scope leaves")

		s = bide.Open(ctx)
		s.Cancel(nil)
		v, err := bide.Race(s, func(context.Context) (int, error) { return 7, nil })
		c.NoError(err) // a success is kept
		c.Equal(v, 7, "value")
		s.Close(nil)
	})
}

// TestRaceAtDeadline: those that the deadline has ended have not failed for reasons of their own, though the scope's
// timer has not run yet.
func TestRaceAtDeadline(t *testing.T) {
	c := &C{T: t}
	w := &wall{Virtual: clock.NewVirtual()}
	s := bide.Open(context.Background(), bide.Clock(w), bide.Timeout(time.Second))
	f := func(ctx context.Context) (int, error) {
		_ = ctx.Done()
		w.late(time.Second)
		return 0, os.ErrDeadlineExceeded
	}
	_, err := bide.Race(s, f, f)
	c.Equal(err, s.Cause(), "once")
	s.Close(nil)
}

func TestAll(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var vs []int
		took, err := c.Timed(vc, func() (err error) {
			vs, err = bide.All(ctx, try(3, 1, nil), try(1, 2, nil), try(2, 3, nil))
			return err
		})
		c.NoError(err)
		c.Equal(vs, []int{1, 2, 3}, "in order")
		c.Equal(took, time.Duration(3), "at the same time")

		took, err = c.Timed(vc, func() (err error) {
			vs, err = bide.All(ctx, try(time.Hour, 1, nil), try(1, 2, failure))
			return err
		})
		c.Equal(err, failure, "the first that fails")
		c.True(vs == nil, "no values")
		c.Equal(took, time.Duration(1), "the others are canceled")
	})
}

func TestHedge(t *testing.T) {
	const delay = 10
	for name, x := range map[string]struct {
		calls []func(context.Context) (int, error)
		v     int
		err   error
		took  time.Duration
		began []time.Duration
	}{
		"at once":        {[]func(context.Context) (int, error){try(5, 1, nil), try(5, 2, nil)}, 1, nil, 5, []time.Duration{0}},
		"the second":     {[]func(context.Context) (int, error){try(100, 1, nil), try(5, 2, nil), try(5, 3, nil)}, 2, nil, 15, []time.Duration{0, 10}},
		"a failure":      {[]func(context.Context) (int, error){try(3, 0, failure), try(5, 2, nil), try(5, 3, nil)}, 2, nil, 8, []time.Duration{0, 3}},
		"late failure":   {[]func(context.Context) (int, error){try(12, 0, failure), try(100, 2, nil), try(4, 3, nil)}, 3, nil, 16, []time.Duration{0, 10, 12}},
		"no more calls":  {[]func(context.Context) (int, error){try(100, 1, nil), try(200, 2, nil)}, 1, nil, 100, []time.Duration{0, 10}},
		"all of them":    {[]func(context.Context) (int, error){try(1, 0, failure), try(1, 0, nil)}, 0, nil, 2, []time.Duration{0, 1}},
		"failed at last": {[]func(context.Context) (int, error){try(1, 0, failure)}, 0, failure, 1, []time.Duration{0}},
	} {
		c := &C{T: t}
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var v int
			var began []time.Duration
			took, err := c.Timed(vc, func() (err error) {
				v, err = bide.Hedge(ctx, delay, len(x.calls), func(ctx context.Context) (int, error) {
					i := len(began)
					began = append(began, elapsed(vc))
					return x.calls[i](ctx)
				})
				return err
			})
			c.Equal(v, x.v, name+": value")
			c.Equal(err, x.err, name+": error")
			c.Equal(took, x.took, name+": took")
			c.Equal(began, x.began, name+": calls began at")
		})
	}
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		op := c.Start(func() error { _, err := bide.Hedge(s, delay, 3, try(time.Hour, 1, nil)); return err })
		op.Parked("the first call runs")
		s.Cancel(failure)
		c.Canceled(op.Returned("canceled"))
		s.Close(nil)
	})
}

func TestRaceMisuse(t *testing.T) {
	ctx := context.Background()
	c := &C{T: t}
	c.Panics(func() { bide.Race[int](ctx) }, "bide: Race of no functions")
	c.Panics(func() { bide.Race(ctx, try(1, 1, nil), nil) }, "bide: Race: function 1 is nil")
	c.Panics(func() { bide.All[int](ctx) }, "bide: All of no functions")
	c.Panics(func() { bide.All[int](ctx, nil) }, "bide: All: function 0 is nil")
	c.Panics(func() { bide.Hedge[int](ctx, 1, 1, nil) }, "bide: Hedge: nil function")
	c.Panics(func() { bide.Hedge(ctx, 1, 0, try(1, 1, nil)) }, "bide: Hedge: the number of calls must be positive, not 0")
}
