package syncs_test

import (
	"context"
	"math/rand/v2"
	"time"

	"bide.invalid/bide"
)

// underAlways is under, for calls that need not end by themselves: f's context ends when end is canceled.
func underAlways(r *rand.Rand, end context.Context, f func(ctx context.Context) error) error {
	short := time.Duration(r.IntN(200)) * time.Microsecond
	switch r.IntN(4) {
	case 0:
		return errIfCanceled(end, f)
	case 1:
		return errIfCanceled(end, func(ctx context.Context) error { return bide.FailAfter(ctx, short, f) })
	case 2:
		ctx, cancel := context.WithTimeout(end, short)
		defer cancel()
		return f(ctx)
	default:
		ctx, cancel := context.WithCancelCause(context.WithValue(end, key{}, 1))
		defer time.AfterFunc(short, func() { cancel(errMatches) }).Stop()
		return errIfCanceled(ctx, func(ctx context.Context) error { return bide.FailAfter(ctx, time.Hour, f) })
	}
}
