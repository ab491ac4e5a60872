package bide

import (
	"context"
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// The states of a Scope.
//
//	shared    S2 has begun: Close has something to undo
//	observed  linked below the scope above it, its deadline in the timer service: Err is one load from here on
//	looked    Err was asked once, and answered by reading the clock and walking up
//	polls     the context above is not a scope but can be canceled: Err asks it
//	pushed    ... and it has been given a function to call, since somebody below must be told
//	canceled  for ever; cause is set
//	closed    for ever
//	called    Cancel was called, or its own deadline came (CancelCalled)
//	expired   its own deadline is what canceled it
//	caught    Close dropped a cancellation
//	bridged   Done was asked for: extra.bridge is set
//	fired     ... and it is closed
//	shield, moveOn, onClock, accounts, stacks, labels    constant: from the options
//	alone     constant: no scope is above
//	nursed    constant: it is a nursery's
//	spared    constant: the shield of a nursery's services, which no hard end cuts
//	stamped   it has no bound, and start is when it was observed
//	enlisted  an island (island.go) that is in the list of the scope at the top, or about to be
//	listed    ... and not only about to
//	told      constant: an observer (internal/registry) was told of the opening, and is told of the end
//	apart     constant once it is known: the context above is not a scope, though there is one further up
//	misnested it was closed while a scope below it, observed and not canceled, was open
//	passed    its sums were added to those above: what comes later goes there as well
//	extended  constant: rare.labeled is set
//	isNamed   constant: it is the scope of a named
//	counted   constant: cancel points are counted, see point
//
//	S1 new → looked               the first Err or Check, if nothing is canceled
//	S2 new, looked → shared → observed    the second look, Attach, Done, AfterFunc, or an observed child; ancestors
//	                              first, and linked before it is marked
//	S3 any → canceled             Cancel, expiry, or from above, under mu; then everything below, before it returns
//	S4 any → closed               once; what is linked is unlinked, what is below is canceled ByAbandoned
//
// Expiry and SetDeadline both decide under mu, and an expiry looks at the deadline again there: exactly one wins.
//
// # Locks
//
// mu of a scope is held for a few steps, never while another scope's is taken. extra.pushing is held by the canceller
// of a scope that has children, from S3 until everything below is canceled, and taken from the top downwards; so a
// second Cancel returns only when the first is done. Order: pushing, a scope's mu, then the locks of the timer service.
// Package context is called with mu held, by the bridge. halt.mu of a scope at the top stands beside mu: neither is
// taken while another scope's is held.

// A Scope is a [context.Context] whose cancellation ends with it: [Scope.Close], or the end of the function that it was
// opened for, absorbs what the scope itself has caused, and passes on the rest. It is made by the functions of this
// package, and is not to be copied. Its methods are safe for concurrent use; it is closed once. A context of your own
// that overrides Done should not embed one: package context would go by the Scope's AfterFunc.
//
// Entering a scope links nothing and arms nothing: it is a value on the heap (144 bytes on 64-bit machines, 160 with a
// name) until somebody looks at it twice (Err, Check), waits under it, or asks for its Done; only then is it linked to the
// scopes above, and its deadline given to the timer service.
type Scope struct {
	parent context.Context
	state  atomic.Uint32
	site   site          // of who has set the bound, see setHere; under mu once shared
	start  clock.Instant // when it was opened bounded, or first bounded, or else observed; under mu once shared
	due    moment        // the own deadline; stored under mu once the scope is shared, or moved later by Progress
	cause  atomic.Pointer[Canceled]
	extra  atomic.Pointer[extra]

	mu      step.Mutex
	waiters park.Waiters
	kids    ilist.List[kid, *kid] // observed scopes right below

	links ilist.Links[kid] // under the mu of the scope above; an island's under the halt.mu of the one at the top
	entry timer.Entry      // Schedule, Cover and Cancel under mu
}

// extra is what most scopes do without.
type extra struct {
	service *timer.Service // set before the scope is shared; nil: the default one
	pushing step.Mutex     // see Locks
	halt    atomic.Pointer[halt]
	rare    atomic.Pointer[rare]

	// under the scope's mu
	after  ilist.List[after, *after]
	unlink func() bool // from a context above that is not a scope
	bridge
}

// rare is what most scopes with an extra do without: what is allocated is paid for to the collector, byte by byte.
type rare struct {
	idle    *idleLimit           // set before the scope is shared; nil: none
	onPoint func(registry.Point) // likewise; called at cancel points
	labeled context.Context      // likewise; the parent with the label, see Labels

	// under the scope's mu
	sums   Ledger    // what was waited for, if the scope accounts for it
	wall   time.Time // what Deadline last answered for wallAt
	wallAt clock.Instant
	own    chan struct{}   // Done where there is no bridge
	dead   context.Context // answers for the cause once the scope is canceled
}

// kid is the Scope as an element of the list of its parent.
type kid Scope

func (k *kid) Links() *ilist.Links[kid] { return &k.links }

const (
	shared uint32 = 1 << iota
	observed
	looked
	polls
	counted // here, so that Err's mask is one byte
	canceled
	closed
	called
	expired
	caught
	bridged
	fired
	shield
	moveOn
	onClock
	accounts
	alone
	nursed
	spared
	stacks
	stamped
	enlisted
	listed
	told
	misnested
	apart
	pushed
	passed
	labels
	extended
	isNamed
)

// Open opens a scope that [Scope.Close] closes: the form for a function that is bounded as a whole.
//
//	func get(ctx context.Context, url string) (body []byte, err error) {
//		s := bide.Open(ctx, bide.Timeout(3*time.Second))
//		defer s.Close(&err) // the first defer: it runs last
//
// err must be a named result: an expiry becomes a [*TimeoutError] in it.
//
// Options: Name, Clock, Account, Labels, Timeout, Deadline, Idle, MoveOn, Stacks.
func Open(ctx context.Context, opts ...Option) *Scope {
	s := newScope(opts)
	s.open(&callOpen, ctx, opts)
	return s
}

// From returns the innermost scope that ctx is, or lies below; nil if there is none. It is for libraries: the scope
// that a function opens itself comes from [Run] or [Open].
func From(ctx context.Context) *Scope {
	notNil("From", ctx)
	if s, ok := ctx.(*Scope); ok {
		return s
	}
	h, _ := ctx.Value(park.Key{}).(*host)
	return (*Scope)(h)
}

func notNil(call string, ctx context.Context) {
	if ctx == nil {
		panic("bide: " + call + ": nil context")
	}
}

// open makes s a scope below ctx, bounded by the options only.
func (s *Scope) open(c *call, ctx context.Context, opts []Option) {
	st := s.init(c, ctx)
	if len(opts) == 0 {
		s.state.Store(st)
	} else {
		bits, bound := s.apply(c, st, opts)
		s.state.Store(st | bits)
		switch bound.kind {
		case optTimeout:
			s.bound(bound.d())
		case optDeadline:
			s.boundAt(bound.of.(time.Time))
		case optIdle:
			s.makeRare().idle = &idleLimit{d: bound.d()}
			s.bound(bound.d())
		}
	}
	s.setHere(2)
	s.extend()
	if registry.On() {
		s.tell()
	}
}

// tell tells an observer that s is open. Preconditions: s is not closed.
func (s *Scope) tell() {
	s.or(told)
	var above registry.Scope
	if p := From(s.parent); p != nil {
		above = (*host)(p)
	}
	registry.Opened((*host)(s), above)
}

// init makes s a scope below ctx, and returns the state that it begins in.
func (s *Scope) init(c *call, ctx context.Context) (st uint32) {
	notNil(c.name, ctx)
	s.parent, s.start = ctx, clock.Forever
	s.entry.Init((*deadline)(s))
	st = c.state | s.state.Load() // isNamed
	p := From(ctx)
	if p == nil {
		return st | alone
	}
	if _, below := ctx.(*Scope); !below && p.stdBelow(ctx) {
		st |= apart
	}
	above := p.state.Load()
	st |= above & (accounts | counted | labels)
	if above&onClock != 0 {
		s.more().service = p.timers()
		st |= onClock
	}
	return st
}

// more makes extra. Preconditions: mu held, or the scope is not shared yet.
func (s *Scope) more() *extra {
	x := s.extra.Load()
	if x == nil {
		x = &extra{}
		s.extra.Store(x)
	}
	return x
}

// makeRare makes rare, as more makes extra.
func (s *Scope) makeRare() *rare {
	x := s.more()
	r := x.rare.Load()
	if r == nil {
		r = &rare{}
		x.rare.Store(r)
	}
	return r
}

// rare is the scope's rare, or nil.
func (s *Scope) rare() *rare {
	if x := s.extra.Load(); x != nil {
		return x.rare.Load()
	}
	return nil
}

// timers is the service of the scope's clock.
func (s *Scope) timers() *timer.Service {
	if s.state.Load()&onClock != 0 {
		return s.extra.Load().service
	}
	return timer.Default()
}

// now reads the scope's clock.
func (s *Scope) now() clock.Instant {
	if s.state.Load()&onClock != 0 {
		return s.extra.Load().service.Clock().Now()
	}
	return clock.Now()
}

func (s *Scope) or(bits uint32) { s.state.Or(bits) }

// above is the scope whose cancellation is this one's: the one that the parent is, or leads to with nothing but values
// between.
func (s *Scope) above() *Scope {
	if s.state.Load()&(shield|alone|apart) != 0 {
		return nil
	}
	if p, ok := s.parent.(*Scope); ok {
		return p
	}
	h, native := park.HostOf(s.parent)
	if p, ok := h.(*host); ok && native {
		return (*Scope)(p)
	}
	s.or(apart)
	return nil
}

// stdBelow reports whether a cancelable context of package context lies between ctx and s, the scope that From finds; it
// may miss one. HostOf, which does not, compares what Done returns: channels that may have to be made for it.
func (s *Scope) stdBelow(ctx context.Context) bool {
	std := ctx.Value(stdKey)
	// What s itself answers changes if it is canceled, and only then.
	return std != nil && s.state.Load()&canceled == 0 && std != s.stdValue()
}

// foreign reports whether what is above is not a scope, and can be canceled. Preconditions: above is nil.
func (s *Scope) foreign() bool {
	return s.state.Load()&shield == 0 && s.parent.Done() != nil
}

// endedAbove reports whether what is above is not a scope, and is canceled. Unlike foreign it asks for no Done, which
// package context would have to make; a context that is canceled has one. Preconditions: above is nil.
func (s *Scope) endedAbove() bool { return s.state.Load()&shield == 0 && s.parent.Err() != nil }

// Close closes the scope, and decides what becomes of *err, the result of what ran in it. The scope absorbs
// cancellations if it is canceled, and nothing above it is, neither a scope nor a context, up to the nearest shield.
// Then cancellations in *err are dropped; if the scope's own bound was the reason, and MoveOn was not given, a
// [*TimeoutError] takes their place. In every other case *err stays as it is: success is kept, and so is a real error.
// err may be nil where there is no result.
//
// Whatever was opened below the scope and is still open is canceled ([ByAbandoned]), except for shields, and waits
// under it end. That is a mistake in the order of Closes, and [ErrMisnested] is joined to *err. It is noticed if
// somebody has waited under the inner scope, or has asked for its Err twice, and if the outer one was not canceled
// before. (The end of a block, [Run] or [FailAfter], does not look for it: what f returned stays.) Closing a scope
// twice panics.
func (s *Scope) Close(err *error) {
	if err == nil {
		_ = s.exit(nil)
		return
	}
	*err = s.exit(*err)
	if s.state.Load()&misnested != 0 {
		*err = join(*err, ErrMisnested)
	}
}

// run runs f in s, and closes it.
func (s *Scope) run(f func(context.Context) error) error {
	defer func() {
		if s.state.Load()&closed == 0 { // f panicked or called Goexit: nothing is recovered, nothing is left open
			s.close()
		}
	}()
	return s.exit(s.do(f))
}

// close: S4.
func (s *Scope) close() {
	step.At("scope.close")
	st := s.state.Or(closed)
	if st&closed != 0 {
		panic("bide: Close of a closed scope" + s.quoted())
	}
	if st&shared != 0 {
		s.undo(st)
	} // else whoever shares it now sees that it is closed
	if st&told != 0 {
		registry.Closed((*host)(s))
	}
}

// undo takes back what sharing has done, and ends what is below. st is the state that s was closed in.
func (s *Scope) undo(st uint32) {
	s.cancel(abandoned, 0, clock.Forever)
	if st&accounts != 0 {
		s.passOn()
	}
	if p := s.above(); p != nil {
		step.At("scope.unlink")
		p.mu.Lock()
		p.kids.Remove((*kid)(s))
		p.mu.Unlock()
	}
	if st&pushed != 0 { // or whoever pushes it now sees that it is closed
		s.unlinkForeign()
	}
	s.leave()
	if invariant.On {
		invariant.True(!s.links.In(), "bide: a closed scope is linked")
	}
}
