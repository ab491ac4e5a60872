package netio

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A side is one direction of a connection: the waiter of its operations, and the deadline by which they are poked.
//
// The waiter is
//
//	out       in no context's list
//	hosted    filed in host
//	linked    filed in link, which context.AfterFunc calls
//
//	F1 out → hosted    the first operation under a scope
//	F2 out → linked    the first under a context that has no scope
//	F3 hosted → out    an operation under something else; or after each one, if the scope keeps accounts
//	F4 linked → out    likewise
//	F5 → out           the connection was closed: by Close, or by whoever has the turn then
//
// and beside that, idle or armed with the token of the operation under way. Whoever ends a context takes the waiter out
// of its list, and if it is armed, resolves the token, and pokes: the hook sets a deadline in the past.
//
//	I1 the waiter, host, link and once belong to whoever has the turn
//	I2 poked is set only between an operation's arm and its end: a hook runs before the wake-up that end receives
//	I3 while poked is set the connection's deadline is in the past, whatever the user sets
//
// The handshake: an operation stores the token, then looks at the context; who ends the context stores its state, then
// looks at the token. One of them sees the other.
type side struct {
	turn  turn
	shut  atomic.Bool // the connection is closed; set before the turn is tried
	kind  park.Kind
	w     *park.Waiter
	host  park.Host
	scope *bide.Scope // host's, if that was the context: to be compared at once
	link  *link
	once  bool // host counts the time of each wait

	set         func(time.Time) error // the connection's
	unsupported error                 // what set said at first

	mu    step.Mutex // below every lock of a host's
	poked bool
	user  time.Time // the deadline that the user has set
}

// longAgo is in the past also where time starts in 2000.
var longAgo = time.Unix(1, 0)

func (s *side) init(k park.Kind, set func(time.Time) error) {
	s.kind, s.set = k, set
	if err := set(time.Time{}); err != nil && !errors.Is(err, net.ErrClosed) {
		s.unsupported = err
	}
	s.w = park.New(s.poke)
}

// begin waits for the turn and arms the waiter under ctx. nil: the operation may begin, and end is called behind it.
func (s *side) begin(ctx context.Context) (t park.Token, err error) {
	if s.unsupported != nil {
		return t, s.unsupported
	}
	if err := s.turn.take(ctx, s.kind); err != nil {
		return t, err
	}
	if scope, ok := ctx.(*bide.Scope); !ok || scope != s.scope {
		if !s.file(ctx) {
			s.release()
			return t, park.Reason(ctx)
		}
	}
	t = s.w.Arm(clock.Forever)
	if ctx.Err() != nil {
		if s.w.Withdraw(t) != park.Self {
			s.unpoke()
		}
		s.release()
		return t, park.Reason(ctx)
	}
	return t, nil
}

// end is behind the operation, which has returned *err.
func (s *side) end(ctx context.Context, t park.Token, err *error) {
	poked := s.w.Withdraw(t) != park.Self
	if poked {
		s.unpoke()
	}
	s.release()
	if *err != nil && isTimeout(*err) {
		*err = s.why(ctx, poked, *err)
	}
}

// why is the error of an operation whose deadline has passed.
func (s *side) why(ctx context.Context, poked bool, err error) error {
	if !poked {
		// A deadline of the user's may be the scope's, and come before the scope's timer has run: ask the clock.
		if h, native := park.HostOf(ctx); native {
			_ = h.Check()
		}
		poked = ctx.Err() != nil
	}
	if poked {
		return park.Reason(ctx)
	}
	return err
}

// unpoke undoes what poke did, before anybody else has the turn.
func (s *side) unpoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poked = false
	s.set(s.user) // an error: closed meanwhile
}

// poke is the waiter's hook.
func (s *side) poke(park.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poked = true
	s.set(longAgo)
}

// setDeadline is the user's.
func (s *side) setDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.poked {
		if err := s.set(t); err != nil {
			return err
		}
	}
	s.user = t
	return nil
}

// file has the waiter filed under ctx, and nowhere else. It reports false if ctx is canceled.
func (s *side) file(ctx context.Context) bool {
	h, native := park.HostOf(ctx)
	if native && h == s.host {
		return true
	}
	var done <-chan struct{}
	if !native {
		if done = ctx.Done(); s.link != nil && s.link.done == done {
			return true
		}
	}
	s.unfile()
	if native {
		s.w.Stamp(clock.Forever)
		if _, ok := h.Attach(s.w, s.kind); !ok { // F1
			return false
		}
		_, at := s.w.Stamped()
		s.host, s.once = h, at != clock.Forever
		s.scope, _ = ctx.(*bide.Scope)
	} else if done != nil {
		s.link = newLink(ctx, s.w, s.kind) // F2
	}
	return true
}

// unfile: F3, F4. Preconditions: the waiter is not armed.
func (s *side) unfile() {
	if s.host != nil {
		s.host.Detach(s.w)
		s.host, s.scope, s.once = nil, nil, false
	}
	if s.link != nil {
		s.link.cut(s.w)
		s.link = nil
	}
}

// release gives the turn to the next.
func (s *side) release() {
	if s.once {
		s.unfile()
	}
	s.turn.give()
	if s.shut.Load() {
		s.leave()
	}
}

// close is called when the connection is closed.
func (s *side) close() {
	s.shut.Store(true)
	s.leave()
}

// leave: F5, unless somebody else has the turn, and does it when he gives that.
func (s *side) leave() {
	if s.turn.tryTake() {
		s.unfile()
		s.turn.give()
	}
}

// A link is the list of one waiter, for a context that keeps none.
type link struct {
	done <-chan struct{}
	stop func() bool
	mu   step.Mutex
	list park.Waiters
}

func newLink(ctx context.Context, w *park.Waiter, k park.Kind) *link {
	l := &link{done: ctx.Done()}
	l.list.Add(w, k)
	l.stop = context.AfterFunc(ctx, l.cancel)
	return l
}

func (l *link) cancel() {
	var buf [1]*park.Waiter
	l.mu.Lock()
	n := l.list.Cancel(buf[:])
	l.mu.Unlock()
	for _, w := range buf[:n] {
		w.Unpark()
	}
}

// cut takes w out. Behind it, cancel does not touch w any more.
func (l *link) cut(w *park.Waiter) {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list.Remove(w)
}

// isTimeout reports whether err is what an operation returns whose deadline has passed.
func isTimeout(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
