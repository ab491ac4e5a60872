package bide

import (
	"context"

	"bide.invalid/bide/clock"
)

// Link makes the scope end with ctx, too: the scope is canceled a moment after ctx, with ctx's cause; at once if ctx is
// canceled already. ctx's deadline does not count for [Remaining], and its values are not seen. unlink undoes it, and
// so does closing the scope. If nothing above is canceled the scope absorbs this cancellation, as one by
// [Scope.Cancel].
func (s *Scope) Link(ctx context.Context) (unlink func()) {
	notNil("Link", ctx)
	end := func() {
		if s.look(true) {
			return // something came before, that nobody may have looked at yet
		}
		c := *s.causeOf(ctx)
		c.on, c.when = s.timers(), s.now() // below s it is compared with deadlines
		s.cancel(mint(&c), 0, clock.Forever)
	}
	if ctx.Err() != nil {
		end()
		return func() {}
	}
	if ctx.Done() == nil {
		return func() {}
	}
	stop := context.AfterFunc(ctx, end)
	ended := s.AfterFunc(func() { stop() })
	return func() {
		stop()
		ended()
	}
}
