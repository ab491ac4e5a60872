package bide

import (
	"context"

	"bide.invalid/bide/clock"
)

// Link makes the scope end with ctx, too: it is canceled when ctx is, with ctx's cause, a moment later; at once if ctx is
// canceled already. It does not pass on ctx's deadline to [Remaining], nor values. unlink takes that back; closing the
// scope does, too. The scope absorbs it as its own end, if nothing above is canceled.
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
