package bide

import (
	"context"
	"errors"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// Cancel cancels the scope and everything below it, except for shields and what is below them: every blocking call in
// it fails, now and later, with a [*Canceled] that carries the reason, which may be nil. The first cancellation counts,
// a second one changes nothing. On a closed scope Cancel has no effect but that [Scope.CancelCalled] reports true.
//
// When it has returned everything below is canceled, and waits have been woken, though their goroutines may not have
// run yet. Where a context of another kind lies between two scopes, the Err and Check of the scope right below that
// context see it at once, but package context closes that scope's Done, and cancels what lies below it, a moment later.
//
// What happened before Cancel happened before the return of a wait that it ends.
func (s *Scope) Cancel(reason error) {
	s.or(called)
	s.end(ByCancel, reason)
}

// end cancels s, if nothing came before that nobody has looked at yet.
func (s *Scope) end(source Source, reason error) {
	c := s.canceled(source, reason)
	if s.look(true) {
		c = s.reason() // and see it through
	}
	s.cancel(c, 0, clock.Forever)
}

// CancelCalled reports whether the scope itself was canceled, by Cancel or by its own deadline, and not only from
// above.
func (s *Scope) CancelCalled() bool { return s.state.Load()&called != 0 }

// Caught reports whether Close dropped a cancellation.
func (s *Scope) Caught() bool { return s.state.Load()&caught != 0 }

// Cause is what canceled the scope, a [*Canceled], or nil; on a scope that was closed and never canceled, one by
// [ByAbandoned]. It is an error, so that comparing it with nil means what it looks like.
func (s *Scope) Cause() error {
	if s.Err() == nil {
		return nil
	}
	return s.reason()
}

// cancelFrom cancels s because ctx, a context that is not a scope, is canceled.
func (s *Scope) cancelFrom(ctx context.Context) { s.inherit(s.causeOf(ctx)) }

// causeOf is what ctx, which is canceled, was canceled with; if that is not known to be a scope's, a Canceled by
// context.
func (s *Scope) causeOf(ctx context.Context) *Canceled {
	cause := context.Cause(ctx)
	if c, ok := cause.(*Canceled); ok && c.made() {
		return c
	}
	c := s.canceled(ByContext, cause)
	c.late, c.on = errors.Is(ctx.Err(), context.DeadlineExceeded), nil // when that was is not known
	return c
}

// cancel cancels s and everything below with c: S3. If s is canceled already, or its deadline is after asOf, nothing
// happens; but it returns only when whoever was first has canceled everything below.
//
// It walks without recursion, and allocates nothing while the path of scopes that have children stays short.
func (s *Scope) cancel(c *Canceled, bits uint32, asOf clock.Instant) {
	var open *Ledger // whom an expiry finds waiting
	if bits&expired != 0 {
		open = &c.verdict.Ledger // c is new, and of this scope alone
	}
	c, below := s.mark(c, bits, asOf, open)
	if !below {
		return
	}
	var few [16]*Scope
	path := append(few[:0], s) // the pushing of each is held
	for len(path) > 0 {
		p := path[len(path)-1]
		step.At("scope.pop")
		p.mu.Lock()
		k := p.kids.PopFront()
		p.mu.Unlock()
		if k == nil {
			p.extra.Load().pushing.Unlock()
			path = path[:len(path)-1]
			continue
		}
		if _, below := (*Scope)(k).mark(c, 0, clock.Forever, open); below {
			path = append(path, (*Scope)(k))
		}
	}
}

// mark cancels s alone, with by. below: it has children, and its pushing is held for the caller. A scope that is being
// closed, and not canceled, is canceled as Close does it: what lies below must not wait for whoever closes it.
//
// open, if not nil, is told who waits under s.
func (s *Scope) mark(c *Canceled, bits uint32, asOf clock.Instant, open *Ledger) (by *Canceled, below bool) {
	step.At("scope.mark")
	s.mu.Lock()
	if due := s.due.Load(); due > asOf {
		// Moved later since the driver, or a look, believed it; whoever asked has unlinked the entry.
		if s.state.Load()&(observed|canceled|closed) == observed && due != clock.Forever {
			s.timers().Cover(&s.entry, due)
		}
		s.mu.Unlock()
		return nil, false
	}
	for {
		st := s.state.Load()
		if st&canceled != 0 {
			s.mu.Unlock()
			s.await()
			return nil, false
		}
		if st&closed != 0 {
			c, bits = abandoned, 0
			if !s.kids.Empty() {
				bits = misnested
			}
		}
		s.cause.Store(c)
		if s.state.CompareAndSwap(st, st|canceled|bits) { // S3
			break
		}
	}
	if s.state.Load()&shared != 0 {
		s.timers().Cancel(&s.entry)
	}
	var calls ilist.List[after, *after]
	if x := s.extra.Load(); x != nil {
		x.fire(s)
		if h := x.halt.Load(); h != nil {
			h.close()
		}
		calls, x.after = x.after, calls
		for a := calls.Front(); a != nil; a = calls.Next(a) {
			a.started = true
		}
	}
	if open != nil {
		s.waiters.Each(func(k park.Kind) { open.add(LedgerEntry{Kind: k, Open: 1}) })
	}
	if !s.kids.Empty() {
		s.more().pushing.Lock() // free: only who has marked a scope takes it unasked
		below = true
	}
	s.wake()
	for a := calls.PopFront(); a != nil; a = calls.PopFront() {
		go a.f()
	}
	return c, below
}

// wake resolves who waits under s, in batches. Preconditions: mu held, s canceled; mu is released.
func (s *Scope) wake() {
	var buf [32]*park.Waiter
	for {
		n := s.waiters.Cancel(buf[:])
		s.mu.Unlock()
		for _, w := range buf[:n] {
			w.Unpark()
		}
		if n < len(buf) {
			return
		}
		step.At("scope.wake")
		s.mu.Lock()
	}
}

// await returns when nobody is canceling below s any more. Preconditions: s is canceled, no lock held.
func (s *Scope) await() {
	// The canceller sets the state, and takes pushing, under mu: behind it pushing is taken, or free for good.
	step.At("scope.await")
	s.mu.Lock()
	x := s.extra.Load()
	s.mu.Unlock()
	if x != nil {
		x.pushing.Lock()
		x.pushing.Unlock() //nolint:staticcheck // waiting is the point
	}
}

// after is one function of AfterFunc.
type after struct {
	links   ilist.Links[after]
	f       func()
	started bool // under the scope's mu
}

func (a *after) Links() *ilist.Links[after] { return &a.links }

// AfterFunc calls f on a goroutine of its own once the scope is canceled or closed, at once if it is already. stop
// prevents that, and reports whether it did.
//
// What happened before Cancel or Close happened before f.
func (s *Scope) AfterFunc(f func()) (stop func() bool) {
	if f == nil {
		panic("bide: AfterFunc: nil function")
	}
	a := &after{f: f}
	s.attend()
	step.At("scope.after")
	s.mu.Lock()
	if s.state.Load()&(canceled|closed) != 0 {
		s.mu.Unlock()
		go f()
		return func() bool { return false }
	}
	x := s.more()
	x.after.PushBack(a)
	s.mu.Unlock()
	return func() bool {
		step.At("scope.stop")
		s.mu.Lock()
		defer s.mu.Unlock()
		return !a.started && x.after.Remove(a)
	}
}
