package bidetest

import (
	"context"
	"sync/atomic"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/registry"
)

// CancelPoints runs f in a scope of its own, as [bide.Run] does, and returns how many cancel points it has passed: each
// look at Err, Check or Cause of that scope, or of one that f has opened below it, shields included, is one.
//
// Every blocking call of this module looks before it acts, so one that need not wait is one point; one that waits, or
// is canceled, may look again, and count for more. Calls that cannot be canceled (Unlock, TryLock, Go) are none. Not
// seen are looks at contexts of another kind: a call under context.WithTimeout(ctx) asks that one.
func CancelPoints(ctx context.Context, f func(ctx context.Context) error) (n int, err error) {
	var points atomic.Int64
	err = bide.Run(ctx, func(s *bide.Scope) error {
		seen(s).OnPoint(func(p registry.Point) {
			if p.Wait == "" {
				points.Add(1)
			}
		})
		return f(s)
	})
	return int(points.Load()), err
}
