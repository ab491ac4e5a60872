package bide

import (
	"context"
	"iter"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Ticks is a sequence for a loop whose body is to run every d, first after d, until ctx is canceled or the loop is
// left. The loop gets the instant that the tick was scheduled for, and how many ticks it has missed since the last one
// because its body took too long. Ticks go by the clock of the scope that ctx is or lies below. It panics if d is not
// positive.
//
// The loop does not say why it ended, so Check follows:
//
//	for range bide.Ticks(ctx, time.Minute) {
//		refresh(ctx)
//	}
//	return bide.Check(ctx)
//
// Options: timer.On, timer.Tolerance, and what becomes of late ticks: timer.Skip (the default), timer.Burst,
// timer.Delay.
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
