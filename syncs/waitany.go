package syncs

import (
	"context"
	"strconv"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Waitable is what [WaitAny] and [WaitAll] wait for: *Event, *Future, *WaitGroup, [Sequencer.At], [At], and one
// [Recv] a call. Waiting for a source takes nothing from it, so several can be waited for at once and no grant is lost;
// a lock is not one. (What a Recv takes is taken by the one call that says so.) It is sealed: registration is under the
// source's own lock.
type Waitable interface {
	// look is Woken if the source is ready, Closed if it never will be, else Pending.
	look() park.Outcome
	// add files n, for w waiting with t and to be woken with o, and returns Pending; or it files nothing, and returns o
	// or Closed.
	add(n *park.Node, w *park.Waiter, t park.Token, o park.Outcome) park.Outcome
	// remove takes n out, if it is in.
	remove(n *park.Node)
}

// maxSources is how many indexes an outcome can tell apart.
const maxSources = int(park.MaxOutcome-park.User) + 1

// WaitAny waits until one of sources is ready, and returns its index; at first it looks at them in order. It starts no
// goroutine, and allocates nothing once the pool is warm; it costs as many registrations as there are sources. Without
// sources it waits for ctx to end. More than 122 sources panic, and so does a second [Recv].
//
// # Cancellation
//
// If ctx ends first the result is -1 and its error, and nothing is left in any source. Ready and canceled in the same
// instant: the index. But an [At] is not taken for more than a bound of the call's own: if ctx ended in the same instant
// the result is ctx's error.
//
// # Close
//
// If a source is closed, so that it will never be ready, the result is -1 and [ErrClosed].
//
// # Memory model
//
// What made the source ready happened before the return of the WaitAny that names it.
func WaitAny(ctx context.Context, sources ...Waitable) (int, error) {
	if len(sources) > maxSources {
		panic("bide/syncs: WaitAny of " + strconv.Itoa(len(sources)) + " sources: at most " + strconv.Itoa(maxSources))
	}
	notNil("WaitAny", ctx)
	x := specialOf(sources)
	if err := park.Err(ctx); err != nil {
		return -1, err
	}
	for i, s := range sources {
		switch s.look() {
		case park.Woken:
			return i, nil
		case park.Closed:
			return -1, ErrClosed
		}
	}
	w := park.GetUntil(x.due)
	o := waitAny(ctx, w, x, sources)
	park.Put(w) // not deferred: a waiter that a panic passed by may be filed in the context
	switch o {
	case park.Canceled:
		return -1, park.Reason(ctx)
	case park.Closed:
		return -1, ErrClosed
	case park.Expired:
		if err := errAtInstant(ctx); err != nil {
			return -1, err
		}
		return x.instant, nil
	}
	return int(o - park.User), nil
}

// special says which sources have no queue.
type special struct {
	due     clock.Instant // the earliest At
	instant int           // its index
	recv    int           // the index of the Recv, or -1
}

func specialOf(sources []Waitable) special {
	x := special{clock.Forever, -1, -1}
	for i, s := range sources {
		switch s := s.(type) {
		case nil:
			panic("bide/syncs: WaitAny of a nil Waitable")
		case *instant:
			if x.instant < 0 || s.at < x.due {
				x.due, x.instant = s.at, i
			}
		case *channel:
			if x.recv >= 0 {
				panic("bide/syncs: WaitAny of two Recv")
			}
			x.recv = i
		}
	}
	return x
}

// waitAny registers with all sources and waits. It leaves nothing behind, not even if ctx panics in it.
func waitAny(ctx context.Context, w *park.Waiter, x special, sources []Waitable) (o park.Outcome) {
	nodes := w.Nodes(len(sources))
	t := w.Arm(x.due)
	filed := 0
	over := false
	defer func() {
		if !over { // found ready, or a panic
			w.Withdraw(t)
		}
		for i := range filed {
			sources[i].remove(&nodes[i])
		}
	}()
	for i, s := range sources {
		step.At("waitany.add")
		if o = s.add(&nodes[i], w, t, index(i)); o != park.Pending {
			return o // what was found counts, whatever came meanwhile
		}
		filed++
	}
	if x.recv < 0 {
		o = w.Wait(ctx, t, park.KindAny)
	} else if o = sources[x.recv].(*channel).wait(ctx, w, t, park.KindAny); o == park.Self {
		o = index(x.recv)
	}
	over = true
	return o
}

// index is the outcome of who is woken by the i-th source.
func index(i int) park.Outcome { return park.User + park.Outcome(i) }

// wait is WaitAny for one source that has a queue.
func wait(ctx context.Context, s Waitable, k park.Kind) error {
	w := park.Get()
	n := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever)
	o := s.add(n, w, t, park.Woken)
	if o != park.Pending {
		w.Withdraw(t)
	} else if o = safeWait(ctx, w, t, k, func(park.Outcome) { s.remove(n) }); o != park.Woken {
		s.remove(n)
	}
	park.Put(w) // not deferred, see WaitAny
	return failureOf(ctx, o)
}

// failureOf is the error of a wait without a deadline of its own.
func failureOf(ctx context.Context, o park.Outcome) error {
	switch o {
	case park.Woken:
		return nil
	case park.Closed:
		return ErrClosed
	}
	return park.Reason(ctx)
}

// errAtInstant is the error of a ctx that has ended by now, also if it is a scope whose timer has not run yet.
func errAtInstant(ctx context.Context) error {
	if h, _ := park.HostOf(ctx); h != nil {
		_ = h.Check()
	}
	return park.Err(ctx)
}

func notNil(call string, ctx context.Context) {
	if ctx == nil {
		panic("bide/syncs: " + call + " with a nil context")
	}
}
