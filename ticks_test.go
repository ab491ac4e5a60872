package bide_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

type tick struct {
	scheduled time.Duration
	missed    int
	came      time.Duration
}

// ticks collects n ticks; the loop's body takes as long as work says.
func ticks(ctx context.Context, vc *clock.Virtual, d time.Duration, work []time.Duration, opts ...timer.Option) (got []tick) {
	for at, missed := range bide.Ticks(ctx, d, opts...) {
		got = append(got, tick{at.Sub(0), missed, elapsed(vc)})
		if len(got) > len(work) {
			break
		}
		bide.Sleep(ctx, work[len(got)-1])
	}
	return got
}

func TestTicks(t *testing.T) {
	c := &C{T: t}
	for name, x := range map[string]struct {
		opts []timer.Option
		want []tick
	}{
		"skip":  {nil, []tick{{10, 0, 10}, {20, 0, 20}, {50, 2, 55}, {60, 0, 60}}},
		"burst": {[]timer.Option{timer.Burst()}, []tick{{10, 0, 10}, {20, 0, 20}, {30, 0, 55}, {40, 0, 55}}},
		"delay": {[]timer.Option{timer.Delay()}, []tick{{10, 0, 10}, {23, 0, 23}, {68, 0, 68}, {78, 0, 78}}},
	} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var got []tick
			c.Timed(vc, func() error {
				got = ticks(ctx, vc, 10, []time.Duration{3, 35, 0}, x.opts...)
				return nil
			})
			c.Equal(got, x.want, name)
		})
	}
}

// TestTicksEnd: with the context, at once, and with the loop; a context that is canceled before has no tick.
func TestTicksEnd(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		n := 0
		op := c.Start(func() error {
			for range bide.Ticks(s, time.Second) {
				n++
			}
			return bide.Check(s)
		})
		op.Parked("ticking")
		vc.Advance(time.Second)
		op.Parked("after one")
		s.Cancel(failure)
		c.Canceled(op.Returned("canceled"))
		c.Equal(n, 1, "ticks")
		for range bide.Ticks(s, time.Second) {
			t.Error("a tick under a canceled context")
		}
		c.Equal(c.Pending(), 0, "timers")
		s.Close(nil)

		seq := bide.Ticks(ctx, time.Second) // may be ranged over twice, from then on
		for range 2 {
			start := elapsed(vc)
			c.Timed(vc, func() error {
				for at := range seq {
					c.Equal(at.Sub(0)-start, time.Second, "first tick")
					break
				}
				return nil
			})
		}
	})
}

func TestTicksBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, n := time.Now(), 0
		for range bide.Ticks(t.Context(), time.Hour, timer.Tolerance(0)) {
			if n++; n == 3 {
				break
			}
		}
		if d := time.Since(start); d != 3*time.Hour {
			t.Errorf("three ticks in %v", d)
		}
	})
}

func TestTicksMisuse(t *testing.T) {
	c := &C{T: t}
	c.Panics(func() { bide.Ticks(context.Background(), 0) }, "bide: Ticks: the period must be positive, not 0s")
	c.Panics(func() { bide.Ticks(context.Background(), 1, timer.Inline()) }, "bide: Ticks has no use for Inline")
	c.Panics(func() { bide.Ticks(nil, 1) }, "bide: Ticks: nil context") //nolint:staticcheck // on purpose
}
