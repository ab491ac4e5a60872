package syncs

import (
	"context"
	"strconv"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A Waitable is what [WaitAny] can wait for: *Event, *Future. Waiting for it takes nothing from it, so several can be
// waited for at once and no grant is lost; a lock is not one. It is sealed: registration is under the source's own
// lock.
type Waitable interface {
	// add files n, for w waiting with t and to be woken with o, unless the source is ready.
	add(n *park.Node, w *park.Waiter, t park.Token, o park.Outcome) (ready bool)
	// remove takes n out, if it is in.
	remove(n *park.Node)
}

// maxSources is how many indexes an outcome can tell apart.
const maxSources = int(park.MaxOutcome-park.User) + 1

// WaitAny waits until one of sources is ready, and returns its index; at first it looks at them in order. It starts no
// goroutine, and allocates nothing once the pool is warm; it costs as many registrations as there are sources. Without sources it waits for
// ctx to end. More than 122 sources panic.
//
// # Cancellation
//
// If ctx ends first the result is -1 and its error, and nothing is left in any source. Ready and canceled in the same
// instant: the index.
//
// # Memory model
//
// What made the source ready happened before the return of the WaitAny that names it.
func WaitAny(ctx context.Context, sources ...Waitable) (int, error) {
	if len(sources) > maxSources {
		panic("bide/syncs: WaitAny of " + strconv.Itoa(len(sources)) + " sources: at most " + strconv.Itoa(maxSources))
	}
	notNil("WaitAny", ctx)
	if err := park.Err(ctx); err != nil {
		return -1, err
	}
	w := park.Get()
	nodes := w.Nodes(len(sources))
	t := w.Arm(clock.Forever)
	o := park.Pending
	filed := 0
	for i, s := range sources {
		index := park.User + park.Outcome(i)
		if s.add(&nodes[i], w, t, index) {
			if o = w.Withdraw(t); o == park.Self {
				o = index
			}
			break
		}
		filed++
	}
	if o == park.Pending {
		o = w.Wait(ctx, t, park.KindAny)
	}
	for i := range filed {
		sources[i].remove(&nodes[i])
	}
	park.Put(w) // not deferred: a waiter that a panic passed by is still queued somewhere
	if o == park.Canceled {
		return -1, park.Reason(ctx)
	}
	return int(o - park.User), nil
}

// wait is WaitAny for one source.
func wait(ctx context.Context, s Waitable, k park.Kind) error {
	w := park.Get()
	n := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever)
	o := park.Woken
	if s.add(n, w, t, o) {
		w.Withdraw(t)
	} else if o = w.Wait(ctx, t, k); o != park.Woken {
		s.remove(n)
	}
	park.Put(w)
	if o == park.Woken {
		return nil
	}
	return park.Reason(ctx)
}

func notNil(call string, ctx context.Context) {
	if ctx == nil {
		panic("bide/syncs: " + call + " with a nil context")
	}
}
