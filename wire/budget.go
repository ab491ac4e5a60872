package wire

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A Budget says how much of the time that is left the next hop gets: all but Slack, and at most MaxPerTry. The zero Budget
// hands on all.
type Budget struct {
	Slack     time.Duration // kept back, so that the next hop gives up first, and its answer, which says why, arrives
	MinWork   time.Duration // with less than that the next hop is not asked
	MaxPerTry time.Duration // 0: no bound
}

// Next is what a hop that is asked now, under ctx, gets: time.Duration(clock.Forever) if there is no bound. It is never
// 0: if less is left than the next hop needs, or nothing, the error is a [*BudgetError] with its name; under a canceled
// ctx it is the context's own.
func (b Budget) Next(ctx context.Context, hop string) (time.Duration, error) {
	if b.Slack < 0 || b.MinWork < 0 || b.MaxPerTry < 0 {
		panic("bide/wire: a Budget with a negative duration")
	}
	d := bide.Remaining(ctx)
	if err := park.Err(ctx); err != nil {
		return 0, err
	}
	if d != time.Duration(clock.Forever) {
		if d <= b.Slack || d-b.Slack < b.MinWork {
			return 0, &BudgetError{Hop: hop, Left: d, Need: time.Duration(clock.Instant(b.Slack).Add(b.MinWork))}
		}
		d -= b.Slack
	}
	if b.MaxPerTry > 0 {
		d = min(d, b.MaxPerTry)
	}
	return d, nil
}

// A BudgetError says that a hop was not asked, since it would have had too little time. errors.Is finds
// [context.DeadlineExceeded] in it, and yet no scope takes it for a cancellation. It is a net.Error.
type BudgetError struct {
	Hop  string        // who was not asked
	Left time.Duration // what was left
	Need time.Duration // the least that would have done: Slack and MinWork
}

// Error says it with the hop's name:
//
//	bide/wire: stock.example was not asked: 12ms left, 120ms needed
func (e *BudgetError) Error() string {
	hop := e.Hop
	if hop == "" {
		hop = "the next hop"
	}
	return "bide/wire: " + hop + " was not asked: " + e.Left.String() + " left, " + e.Need.String() + " needed"
}

// Unwrap is context.DeadlineExceeded. It is a list since an error that wraps one alone would be dropped as a
// cancellation by a scope that has expired in the meantime.
func (e *BudgetError) Unwrap() []error { return budgetErrors }

var budgetErrors = []error{context.DeadlineExceeded}

// Timeout is true.
func (e *BudgetError) Timeout() bool { return true }

// Temporary is true, as for context.DeadlineExceeded.
func (e *BudgetError) Temporary() bool { return true }
