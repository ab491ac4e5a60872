package bide

import (
	"context"
	"sync"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// The bridge makes a Scope a first-class context: children made by package context, directly or below values, cost no
// goroutine, are canceled before Cancel returns, and report the scope's *Canceled as their Cause.
//
// Package context links a child into its parent directly only if the parent's Value, asked with a private key, answers
// a real cancelCtx whose Done is the parent's. So Done makes one, below a private parent type whose AfterFunc method
// catches the function by which package context cancels its child; the cancelCtx's channel is the scope's Done, and
// Value answers with it. Calling the function cancels it, with the error and the cause that the private parent reports
// at that moment.
//
// The key is learned by asking context.Cause about a probe. All this holds for Go 1.26 and 1.27, and is no promise of
// theirs: bridgeWorks tries it once, and if it ever fails Done is a channel of ours, and children link themselves by
// [Scope.AfterFunc], which package context knows as well: canceled a moment later, and below values at the cost of a
// goroutine each.
type bridge struct {
	// under the scope's mu; done and std are read without it once the scope is bridged
	done <-chan struct{}
	std  context.Context // nil in the fallback
	call func()          // cancels std
}

// Done is closed when the scope is canceled or closed. Blocking calls of this module do without it; it is for select
// statements and for package context, whose children link themselves to the scope as they do to each other.
func (s *Scope) Done() <-chan struct{} {
	if s.state.Load()&bridged == 0 {
		s.connect(bridgeWorks())
	}
	return s.extra.Load().done
}

func (s *Scope) connect(works bool) {
	s.attend()
	step.At("scope.connect")
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.Load()
	if st&bridged != 0 {
		return
	}
	x := s.more()
	if works {
		std, cancel := context.WithCancel((*bridgeParent)(s))
		_ = cancel // x.call cancels it, with our error and cause
		x.std, x.done = std, std.Done()
	} else {
		own := make(chan struct{})
		s.makeRare().own = own
		x.done = own
	}
	if st&(canceled|closed) != 0 {
		x.fire(s)
	}
	s.or(bridged)
}

// fire closes Done. Preconditions: s.mu held, s canceled or closed.
func (x *extra) fire(s *Scope) {
	switch {
	case x.call != nil:
		if c := s.reason(); c != abandoned { // leaving normally has no cause worth an allocation
			s.bury(c)
		}
		x.call()
		x.call = nil
	case x.done != nil && x.std == nil && s.state.Load()&fired == 0:
		close(x.rare.Load().own)
	default:
		return // Done was not asked for
	}
	s.or(fired)
}

// bury makes dead: a canceled context with c as its cause. Preconditions: mu held.
func (s *Scope) bury(c *Canceled) context.Context {
	r := s.makeRare()
	if r.dead == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(c)
		r.dead = ctx
	}
	return r.dead
}

// Value is the context's value for key. Values pass through shields.
func (s *Scope) Value(key any) any {
	switch key {
	case park.Key{}:
		return (*host)(s)
	case stdKey:
		return s.stdValue()
	}
	for {
		if s.state.Load()&extended != 0 {
			return s.extra.Load().rare.Load().labeled.Value(key)
		}
		p, ok := s.parent.(*Scope)
		if !ok {
			return s.parent.Value(key)
		}
		s = p // a loop: thousands of nested scopes are fine
	}
}

// stdValue is what package context gets for its private key: never what is above, since the cancellation and the cause
// there are not this scope's.
func (s *Scope) stdValue() any {
	st := s.state.Load()
	if st&bridged != 0 {
		if std := s.extra.Load().std; std != nil {
			return std.Value(stdKey)
		}
	}
	if st&canceled == 0 {
		return nil
	}
	step.At("scope.bury")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bury(s.cause.Load()).Value(stdKey)
}

// bridgeParent is the Scope as the parent of its own cancelCtx. Its methods are called by package context while mu is
// held.
type bridgeParent Scope

var never = make(chan struct{})

func (b *bridgeParent) Deadline() (time.Time, bool) { return time.Time{}, false }
func (b *bridgeParent) Done() <-chan struct{}       { return never }
func (b *bridgeParent) Err() error {
	if b.state.Load()&(canceled|closed) == 0 {
		return nil
	}
	return (*Scope)(b).reason().sentinel()
}
func (b *bridgeParent) AfterFunc(f func()) func() bool {
	b.extra.Load().call = f
	return func() bool { return false }
}
func (b *bridgeParent) Value(key any) any {
	if r := b.extra.Load().rare.Load(); key == stdKey && r != nil && r.dead != nil {
		return r.dead.Value(key)
	}
	return nil
}

// stdKey is the key that package context asks for its own.
var stdKey = func() any {
	var p probe
	context.Cause(&p)
	return p.key
}()

// probe is a canceled context that remembers what it was asked for.
type probe struct {
	bridgeParent
	key any
}

func (p *probe) Err() error        { return context.Canceled }
func (p *probe) Value(key any) any { p.key = key; return nil }

// bridgeWorks tries the bridge, once.
var bridgeWorks = sync.OnceValue(tryBridge)

func tryBridge() bool {
	if stdKey == nil {
		return false
	}
	s := Open(context.Background())
	s.connect(true)
	if s.extra.Load().call == nil {
		return false
	}
	type key struct{}
	ctx, stop := context.WithCancel(context.WithValue(s, key{}, 0))
	defer stop()
	reason := s.canceled(ByDeadline, nil)
	s.cancel(reason, 0, clock.Forever)
	ok := ctx.Err() == context.DeadlineExceeded && context.Cause(ctx) == error(reason) && context.Cause(s) == error(reason)
	s.Close(nil)
	return ok
}
