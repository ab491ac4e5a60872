package park

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer"
)

// A Kind says what a wait is for. A host may count by it; bide's Scope keeps it.
type Kind uint8

// The kinds of wait that the packages here have. Yours start at KindUser.
const (
	KindOther Kind = iota
	KindSleep
	KindLock
	KindEvent
	KindFuture
	KindAny
	KindNursery
	KindCond
	KindSemaphore
	KindSequencer
	KindGroup // of goroutines: a wait group, a barrier
	KindPool
	KindQueue
	KindFlight
	KindRead
	KindWrite
	KindAccept
	KindUser Kind = 64
)

var kindNames = [...]string{"other", "sleep", "lock", "event", "future", "any", "nursery", "cond", "semaphore", "sequencer",
	"group", "pool", "queue", "flight", "read", "write", "accept"}

// String names the kind; one of yours is called kind+64 and so on.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind+" + strconv.Itoa(int(k))
}

// A Waiter is one goroutine's place to wait. See the package documentation for the way to use it.
type Waiter struct {
	_ noCopy

	word  word
	due   atomic.Int64 // the deadline given to Arm; stored before the word
	entry timer.Entry
	s     *timer.Service // where entry is or was linked; owner only
	ch    chan struct{}  // capacity 1; empty unless a wake-up is owed
	hook  func(Outcome)

	pooled bool
	fresh  bool        // the entry was not linked when this wait was armed; the owner's, and the driver's that has resolved
	kind   Kind        // the host's, as links
	out    atomic.Bool // the driver has taken the entry out for good: nothing links it again before the next Arm
	node   [1]Node     // the place of most waits in a queue; more are made for wait-any, and kept
	more   []Node
	seat   seat // in a Lot, with node

	// the host's, under the host's lock
	links ilist.Links[filed]
	stamp clock.Instant // the owner's, in Attach and Detach
}

// filed is the Waiter as an element of a host's list.
type filed Waiter

func (f *filed) Links() *ilist.Links[filed] { return &f.links }

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// New returns a waiter to keep, one for each connection for instance. If hook is not nil, Unpark calls it before the
// owner can go on. Context of hook: on the resolver's goroutine, which may be canceling a scope and hold what others
// wait for; it must not block, wait, or panic.
func New(hook func(Outcome)) *Waiter {
	w := &Waiter{ch: make(chan struct{}, 1), hook: hook}
	w.due.Store(int64(clock.Forever))
	w.entry.Init((*owner)(w))
	return w
}

// Hooked reports whether the waiter has a hook. It is for hosts: its owner does not park, and watches nothing.
func (w *Waiter) Hooked() bool { return w.hook != nil }

// Bounded reports whether the wait under way has a deadline of its own, given to Arm. It is for hosts.
func (w *Waiter) Bounded() bool { return w.due.Load() != int64(clock.Forever) }

var pool = sync.Pool{New: func() any {
	w := New(nil)
	w.pooled = !clock.InBubble() // a bubble's channel must not get out, whatever brought its goroutine here
	return w
}}

// Get takes a waiter for one wait, from a pool; in a synctest bubble it makes one, since a channel that was made
// outside does not count as being at rest there. It reads the clock to know: if the wait's deadline is at hand,
// [GetUntil] knows by its sign.
func Get() *Waiter { return get(clock.InBubble()) }

// GetUntil is Get for a wait whose deadline, an instant of the monotonic clock, is known.
func GetUntil(deadline clock.Instant) *Waiter {
	return get(deadline < 0 || deadline == clock.Forever && clock.InBubble())
}

func get(bubble bool) *Waiter {
	if bubble {
		return New(nil)
	}
	return pool.Get().(*Waiter)
}

// Put gives a waiter of Get back: resolved, its wake-up received, out of every queue. Its entry is unlinked, since
// the pool may drop it: waiters that are kept (New) are the ones that leave theirs linked. A waiter that still waits or
// is still queued, because a panic passes by, is dropped. (Better, Put is not deferred: a wake-up that is owed, and has
// not come yet, is not seen.)
func Put(w *Waiter) {
	_, armed := w.word.current()
	queued := w.node[0].links.In()
	for i := range w.more {
		queued = queued || w.more[i].links.In()
	}
	if invariant.On {
		invariant.True(!armed && len(w.ch) == 0, "park: Put of a waiter that still waits")
		invariant.True(!w.links.In(), "park: Put of a waiter that is filed in a host")
		invariant.True(!queued, "park: Put of a waiter that is queued")
	}
	w.Release()
	if w.pooled && !armed && !queued && len(w.ch) == 0 {
		w.more = w.more[:0]
		pool.Put(w)
	}
}

// Release takes the waiter's entry out of the timer service: for the owner of a kept waiter that is dropped while a
// deadline of it may be far away.
func (w *Waiter) Release() {
	if w.s != nil {
		if !w.out.Load() {
			w.s.Cancel(&w.entry)
		}
		w.s = nil
	}
}

// Arm starts a wait that ends at deadline, an instant of the monotonic clock, at the latest. [clock.Forever]: it has
// no deadline of its own. (The context's bound is the host's business, and is not given here.) The entry of an earlier
// wait is still linked: if it is looked at in time, arming is two stores. Owner only.
func (w *Waiter) Arm(deadline clock.Instant) Token { return w.ArmOn(timer.Default(), deadline) }

// ArmOn is Arm on another service: another clock.
func (w *Waiter) ArmOn(s *timer.Service, deadline clock.Instant) Token {
	if invariant.On {
		_, armed := w.word.current()
		invariant.True(!armed && len(w.ch) == 0, "park: Arm of a waiter that still waits")
	}
	w.fresh = w.s != s && deadline != clock.Forever
	if w.fresh {
		w.Release() // first: its driver would compare the new deadline with another clock
		w.s = s
	}
	if w.out.Load() {
		w.out.Store(false)
	}
	step.At("park.deadline")
	if w.due.Load() != int64(deadline) {
		w.due.Store(int64(deadline)) // before the word: who sees the new token sees its deadline
	}
	t := w.word.arm()
	if deadline != clock.Forever {
		s.Cover(&w.entry, deadline)
	}
	return t
}

// Claim makes the caller the owner of a waiter that goroutines share, one at a time, and arms it, without a deadline. It
// reports false if another one is the owner. It does not wait: for that there is [Lot.Park], with Claim in validate.
//
// The owner withdraws. If that returns [Self] it is the owner no more; anything else, or a Resolve of its own with
// another outcome, for which it owes no Unpark, leaves it the owner until Free, and meanwhile it may Arm again, with
// [clock.Forever]. So the waiter is a lock as well, for no more than arming costs.
//
// What an owner did before its Withdraw or Free happened before the return of the next Claim that succeeds.
func (w *Waiter) Claim() (t Token, ok bool) { return w.word.claim() }

// Free lets go of a waiter that was claimed, and is resolved, its wake-up received. Owner only.
func (w *Waiter) Free() {
	if invariant.On {
		_, armed := w.word.current()
		invariant.True(!armed && len(w.ch) == 0, "park: Free of a waiter that still waits")
	}
	w.word.free()
}

// Resolve ends the wait that t names, once: it reports whether it was this call that did. True: the wait's outcome is
// o, and the caller owes an Unpark, exactly one. False: another was faster, or t is of an earlier wait; go on to the
// next waiter. It does not block, and may be called with locks held.
func (w *Waiter) Resolve(t Token, o Outcome) bool {
	o.mustEnd("Resolve")
	return w.word.resolve(t, o)
}

// Unpark delivers the wake-up that a successful Resolve owes. It does not block; better not called with a lock held
// that the woken goroutine wants.
func (w *Waiter) Unpark() {
	if w.hook != nil {
		w.hook(w.word.outcome())
	}
	step.At("park.unpark")
	w.ch <- struct{}{}
}

// Wake is Resolve and, if that succeeded, Unpark.
func (w *Waiter) Wake(t Token, o Outcome) bool {
	if !w.Resolve(t, o) {
		return false
	}
	w.Unpark()
	return true
}

// Withdraw ends the wait without parking, instead of Wait: it returns Self, or the outcome of whoever was faster, whose
// wake-up it has then received. Owner only.
func (w *Waiter) Withdraw(t Token) Outcome { return w.end(t, Self) }

// end is the iron rule: having armed, the owner leaves by resolving the token itself, or by receiving the wake-up that
// somebody owes.
func (w *Waiter) end(t Token, o Outcome) Outcome {
	if w.word.resolve(t, o) {
		return o
	}
	step.At("park.owed")
	<-w.ch
	step.At("park.woken")
	return w.word.outcome()
}

// Wait parks until the token is resolved: by a waker, by the deadline given to Arm, or by ctx. On return the waiter is
// resolved, out of its host, and its wake-up received; it never returns Self. Owner only, no lock held.
//
// A waker that was faster than the cancellation has won: the outcome is the waker's, and the caller holds what was
// granted.
func (w *Waiter) Wait(ctx context.Context, t Token, k Kind) Outcome {
	return w.WaitAgain(ctx, t, k, nil)
}

// WaitAgain is Wait for a primitive whose waiters, once woken, may find that others have been faster. After each outcome
// Woken it calls again, also if ctx is canceled by then, so that no wake-up is lost; again reports whether there is another
// wait to come, with the token that it has armed for that, and if not the outcome is Woken. To the host it is one wait, so
// to lose costs less than to begin anew. Context of again: the owner, no lock held.
func (w *Waiter) WaitAgain(ctx context.Context, t Token, k Kind, again func() (Token, bool)) (o Outcome) {
	h, native := HostOf(ctx)
	var done <-chan struct{}
	var filed, ended bool
	if native {
		ctx = h.Context()
		done, filed = h.Attach(w, k)
		ended = !filed
	} else {
		h, done = nil, ctx.Done()
	}
	for {
		if ended {
			o = w.end(t, Canceled)
		} else {
			o = w.await(done, t, h)
		}
		if o != Woken || again == nil {
			break
		}
		var more bool
		if t, more = again(); !more {
			break
		}
		step.At("park.again")
		// While nothing was armed a host that cancels has passed by, and has taken the waiter out.
		ended = native && (!filed || ctx.Err() != nil)
	}
	if filed {
		h.Detach(w)
	}
	return o
}

// await receives the wake-up, watching done as well if it is not nil. When done is closed, h, the host that it lies
// above of, carries the cancellation out first.
func (w *Waiter) await(done <-chan struct{}, t Token, h Host) Outcome {
	step.At("park.wait")
	if done == nil {
		<-w.ch
		step.At("park.woken")
		return w.word.outcome()
	}
	select {
	case <-w.ch:
		step.At("park.woken")
		return w.word.outcome()
	case <-done:
	}
	if h != nil {
		h.Check()
	}
	return w.end(t, Canceled)
}

// owner is the Waiter as the timer sees it.
type owner Waiter

// Due: locked. The word is read after the entry was unlinked, see timer.Service.Cover.
func (o *owner) Due(now clock.Instant) (again clock.Instant, fired bool) {
	w := (*Waiter)(o)
	t, armed := w.word.current()
	if !armed {
		return clock.Forever, false
	}
	step.At("park.due")
	if due := clock.Instant(w.due.Load()); due > now {
		return due, false
	}
	if !w.word.resolve(t, Expired) {
		return clock.Forever, false
	}
	if w.fresh {
		w.out.Store(true)
	}
	return clock.Forever, true
}

// Fire: not locked. Due has resolved, so the owner cannot go on before it gets this.
func (o *owner) Fire(clock.Instant) { (*Waiter)(o).Unpark() }
