package bide

import (
	"context"
	"iter"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Ticks comes every d, first after d, until ctx is canceled or the loop is left: with the instant that the tick was
// scheduled for, and with the number of ticks since the last one for which the loop was too late. It is on the clock of
// the scope that ctx is or lies below, and panics if d is not positive.
//
//	for range bide.Ticks(ctx, time.Minute) {
//		refresh(ctx)
//	}
//	return bide.Check(ctx)
//
// Options: timer.On, timer.Tolerance, and what becomes of late ticks: timer.Skip (the default), timer.Burst, timer.Delay.
func Ticks(ctx context.Context, d time.Duration, opts ...timer.Option) iter.Seq2[clock.Instant, int] {
	notNil("Ticks", ctx)
	timer.Periodic("bide", "Ticks", timersOf(ctx), d, opts) // panics here, not in the loop
	return func(yield func(clock.Instant, int) bool) {
		p := timer.Periodic("bide", "Ticks", timersOf(ctx), d, opts)
		for Check(ctx) == nil && sleep(ctx, p.Service(), p.Due()) == nil {
			if !yield(p.Claim()) {
				return
			}
			p.Next()
		}
	}
}
