package netio

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A side is one direction of a connection: the waiter of its operations, and the deadline by which they are poked. Who
// has claimed the waiter has the turn (turn.go), and it is armed with the token of the operation under way, or
//
//	held      resolved, and not free: by whoever ended the context, or by hold
//
// The waiter is
//
//	out       in no context's list
//	hosted    filed in host
//	linked    filed in link, which context.AfterFunc calls
//
//	F1 out → hosted    the first operation under a scope
//	F2 out → linked    the first under a context that has no scope
//	F3 hosted → out    an operation under something else; or after one that was canceled, or each one, if the scope
//	                   keeps accounts
//	F4 linked → out    likewise
//	F5 → out           the connection was closed: by Close, or by whoever has the turn then
//
// Whoever ends a context takes the waiter out of its list, and if it is armed, resolves the token, and pokes: the hook
// sets a deadline in the past.
//
//	I1 host, scope, link, once and ready belong to whoever has the turn
//	I2 poked is set only while the waiter is claimed: a hook runs before the wake-up that end receives. That is before
//	   the next operation begins; one under another context holds the waiter first, and undoes what came till then
//	I3 while poked is set the connection's deadline is in the past, whatever the user sets; but its Close may set another
//	I4 its owner files the waiter, or takes it out, only while it is held: no operation is under way
//
// The handshake: an operation stores the token, then looks at the context; who ends the context stores its state, then
// looks at the token. One of them sees the other.
type side struct {
	w     *park.Waiter
	scope *bide.Scope   // host, if that was a context: to be compared at once
	flags atomic.Uint32 // wanted, shut: who has the turn looks at them behind it
	kind  park.Kind
	once  bool // host counts the time of each wait
	host  park.Host
	link  *link
	ready bool // the handshake is over, and deadlines are supported

	hello       handshaker            // nil: there is none
	set         func(time.Time) error // the connection's
	unsupported error                 // what set said at first

	mu      step.Mutex // below every lock of a host's
	poked   bool
	closing bool      // the deadline is that of the connection's own Close
	user    time.Time // the deadline that the user has set
}

// A handshaker is a TLS connection. Its first Read or Write does the handshake, which reads and writes: a deadline for
// one direction does not end it.
type handshaker interface {
	HandshakeContext(context.Context) error
}

// held is what an owner resolves its own token with, to go on without being poked.
const held = park.User

// longAgo is in the past also where time starts in 2000.
var longAgo = time.Unix(1, 0)

func (s *side) init(k park.Kind, set func(time.Time) error) {
	s.kind, s.set = k, set
	// That it is closed already, on the other side perhaps, as with net.Pipe, the operations say.
	if err := set(time.Time{}); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		s.unsupported = err
	}
	s.w = park.New(s.poke)
}

// begin waits for the turn, with the waiter filed under ctx. nil: the operation may begin, and end is called behind it.
func (s *side) begin(ctx context.Context) (t park.Token, err error) {
	t, ok := s.w.Claim()
	if !ok {
		if t, err = s.wait(ctx); err != nil {
			return t, err
		}
	}
	if scope, ok := ctx.(*bide.Scope); !ok || scope != s.scope || scope.Err() != nil {
		return s.beginSlow(ctx, t)
	}
	return t, nil
}

// beginSlow is begin where the waiter may have to be filed, or ctx is canceled. If ctx panics nothing is left of it.
func (s *side) beginSlow(ctx context.Context, t park.Token) (_ park.Token, err error) {
	begun := false
	defer func() {
		if begun {
			return
		}
		if t != (park.Token{}) {
			s.hold(t)
		}
		s.release()
	}()
	if ctx == nil {
		panic("bide/netio: an operation under a nil context")
	}
	if h, done := hostOf(ctx); !s.ready || !s.filed(h, done) {
		s.hold(t)
		t = park.Token{}
		if err := s.move(ctx, h, done); err != nil {
			return t, err
		}
		t = s.w.Arm(clock.Forever)
	}
	if ctx.Err() != nil {
		return t, park.Reason(ctx)
	}
	if scope, ok := ctx.(*bide.Scope); ok {
		s.scope = scope
	}
	begun = true
	return t, nil
}

// move does what comes before the first operation of all, and before the first under ctx. Preconditions: held.
func (s *side) move(ctx context.Context, h park.Host, done <-chan struct{}) error {
	if s.unsupported != nil {
		return s.unsupported
	}
	if !s.ready && s.hello != nil {
		if err := park.Err(ctx); err != nil {
			return err
		}
		if err := s.hello.HandshakeContext(ctx); err != nil {
			return because(ctx, err)
		}
	}
	s.ready = true
	s.unfile()
	if !s.file(ctx, h, done) {
		return park.Reason(ctx)
	}
	return nil
}

// end is behind the operation, which has returned *err.
func (s *side) end(ctx context.Context, t park.Token, err *error) {
	poked := false
	switch {
	case s.once:
		poked = s.hold(t)
		s.release()
	case s.w.Withdraw(t) == park.Self:
		s.pass()
	default:
		poked = true
		s.unpoke()
		s.release()
	}
	if *err != nil && isTimeout(*err) {
		*err = s.why(ctx, poked, *err)
	}
}

// hold keeps the turn, and nobody pokes any more. It reports whether somebody has, and undoes it.
func (s *side) hold(t park.Token) (poked bool) {
	if s.w.Resolve(t, held) {
		return false
	}
	s.w.Withdraw(t)
	s.unpoke()
	return true
}

// release gives the turn away, and takes the waiter out: under what has ended nothing more is done. Preconditions: held.
func (s *side) release() {
	s.unfile()
	s.w.Free()
	s.pass()
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
	if !s.closing {
		s.set(s.user) // an error: closed meanwhile
	}
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

// hostOf is what the waiter is filed under for ctx: a host, or else what closes done; neither if ctx cannot end.
func hostOf(ctx context.Context) (h park.Host, done <-chan struct{}) {
	if h, native := park.HostOf(ctx); native {
		return h, nil
	}
	return nil, ctx.Done()
}

// filed reports whether the waiter is filed there, and nowhere else.
func (s *side) filed(h park.Host, done <-chan struct{}) bool {
	return h == s.host && (s.link == nil && done == nil || s.link != nil && s.link.done == done)
}

// file files the waiter there. It reports false if ctx is canceled. Preconditions: held, out.
func (s *side) file(ctx context.Context, h park.Host, done <-chan struct{}) bool {
	if h != nil {
		s.w.Stamp(clock.Forever)
		if _, ok := h.Attach(s.w, s.kind); !ok { // F1
			return false
		}
		_, at := s.w.Stamped()
		s.host, s.once = h, at != clock.Forever
	} else if done != nil {
		s.link = newLink(ctx, s.w, s.kind) // F2
	}
	return true
}

// unfile: F3, F4. Preconditions: held.
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

// closes is called before the connection's own Close, which may write under a deadline: a TLS connection does.
func (s *side) closes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
}

// close is called when the connection is closed.
func (s *side) close() {
	step.At("netio.shut")
	s.flags.Or(shut)
	s.pass()
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
	step.At("netio.linked")
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

// isTimeout reports whether err is what an operation returns whose deadline has passed. That the peer does not answer any
// more (ETIMEDOUT) is no deadline of ours, and is not to be lost behind a cancellation.
func isTimeout(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var e net.Error
	return errors.As(err, &e) && e.Timeout() && !errors.As(err, new(syscall.Errno))
}
