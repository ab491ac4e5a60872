package bide

import "context"

// Link makes the scope end with ctx, too: it is canceled when ctx is, with ctx's cause, a moment later if that is not a
// scope; at once if ctx is canceled already. It does not pass on ctx's deadline to [Remaining], nor values. unlink takes
// that back; closing the scope does, too.
func (s *Scope) Link(ctx context.Context) (unlink func()) {
	notNil("Link", ctx)
	if ctx.Err() != nil {
		s.cancelFrom(ctx)
		return func() {}
	}
	if ctx.Done() == nil {
		return func() {}
	}
	stop := context.AfterFunc(ctx, func() { s.cancelFrom(ctx) })
	ended := s.AfterFunc(func() { stop() })
	return func() {
		stop()
		ended()
	}
}
