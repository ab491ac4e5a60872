package bidetest

import (
	"context"
	"math"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/registry"
)

// Bounded runs f in a scope of its own, as [bide.Run] does, and returns its error; the test fails for each wait under
// that scope, or one that f has opened below, that has no bound: no deadline of that scope or of one above it, up to a
// shield, and none of its own, as [bide.Sleep] has. It tells what is waited for, and from which line.
//
// Seen is who has to wait: a lock that is free bounds nobody. Not seen are waits that cannot be canceled (a nursery's for
// its children, whose own waits are), those under a context of another kind, and what does not wait in this module, as a
// channel. Of a netio.Conn the first operation under each scope is seen.
func Bounded(t TB, ctx context.Context, f func(ctx context.Context) error) error {
	t.Helper()
	return bide.Run(ctx, func(s *bide.Scope) error {
		seen(s).OnPoint(func(p registry.Point) {
			if p.Wait != "" && !p.Bounded && bide.Remaining(p.At.Context()) == math.MaxInt64 {
				t.Errorf("bidetest: Bounded: a wait (%s) without a bound, in %s", p.Wait, here())
			}
		})
		return f(s)
	})
}
