package syncs

import (
	"context"
	"sync"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// WaitAll waits until each of sources has been ready, at some moment since the call began: it is registered with all of
// them at once, so that an [Event] which is set and reset meanwhile counts, and their order does not matter. A source is
// waited for once; to be named twice changes nothing. Without sources it returns at once. A second [Recv] panics. It
// starts no goroutine, and allocates nothing once the pools are warm; it costs a waiter and a registration for each
// source that is not ready. (For one that can be closed a scope has the context above it call it, as for Done: once, some
// allocations; and if that is of a kind which package context does not know, package context starts a goroutine.)
//
// # Cancellation
//
// If ctx ends first the result is its error, nothing is left in any source, and nothing was received. The last one ready
// and canceled in the same instant: nil.
//
// # Close
//
// If a source is closed, so that it will never be ready, the result is [ErrClosed], at once, whichever it is.
//
// # Memory model
//
// What made the sources ready happened before the return of the WaitAll.
func WaitAll(ctx context.Context, sources ...Waitable) error {
	notNil("WaitAll", ctx)
	last := theRecv(sources)
	if err := park.Err(ctx); err != nil {
		return err
	}
	s := seatsPool.Get().(*seats)
	err := s.wait(ctx, sources)
	seatsPool.Put(s)
	if err != nil || last == nil {
		return err
	}
	return last.alone(ctx) // at last, since what is received cannot be given back
}

// theRecv is the channel among sources, or nil.
func theRecv(sources []Waitable) (c *channel) {
	for _, s := range sources {
		switch s := s.(type) {
		case nil:
			panic("bide/syncs: WaitAll of a nil Waitable")
		case *channel:
			if c != nil {
				panic("bide/syncs: WaitAll of two Recv")
			}
			c = s
		}
	}
	return c
}

// alone receives.
func (c *channel) alone(ctx context.Context) error {
	if c.look() == park.Woken {
		return nil
	}
	w := park.Get()
	o := c.wait(ctx, w, w.Arm(clock.Forever), park.KindAny)
	park.Put(w)
	if o == park.Self {
		return nil
	}
	return park.Reason(ctx)
}

// A seat is where a WaitAll waits for one of its sources. Each has a waiter of its own, so that one which fires before
// the goroutine comes to it is not missed.
type seat struct {
	s Waitable
	w *park.Waiter
	t park.Token
	c *closer // w's, if s can be closed
}

// seats are those of one WaitAll.
type seats struct {
	of     []seat
	ended  int  // how many of them, from the front
	inWait bool // in the next one

	mu     step.Mutex   // a leaf
	closed bool         // a source is, which will never be ready
	w      *park.Waiter // where the goroutine waits now, and
	t      park.Token   // with what, if w is not nil
}

var seatsPool = sync.Pool{New: func() any { return new(seats) }}

// A closer has the waiter of a seat whose source can be closed. The goroutine may wait in another seat then.
type closer struct {
	w      *park.Waiter
	all    *seats // from Arm until the wake-up was received
	bubble bool   // it was made in one, and must not get out
}

var closerPool = sync.Pool{New: func() any { return newCloser() }}

func newCloser() *closer {
	c := &closer{bubble: clock.InBubble()}
	c.w = park.New(c.hook)
	return c
}

// hook runs in Unpark, before the wake-up can be received.
func (c *closer) hook(o park.Outcome) {
	if o == park.Closed {
		c.all.close()
	}
}

// put gives c back.
func (c *closer) put() {
	c.all = nil
	park.Put(c.w)
	if !c.bubble {
		closerPool.Put(c)
	}
}

// close ends the wait. In the seat that the goroutine waits in nothing is missed by that: the WaitAll has failed.
func (all *seats) close() {
	step.At("waitall.close")
	all.mu.Lock()
	w, t := all.w, all.t
	all.closed, all.w = true, nil
	all.mu.Unlock()
	if w != nil {
		w.Wake(t, park.Closed)
	}
}

// enter says that the goroutine waits in x, unless a source is closed.
func (all *seats) enter(x *seat) (ok bool) {
	step.At("waitall.enter")
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return false
	}
	all.w, all.t = x.w, x.t
	return true
}

// exit takes that back.
func (all *seats) exit() {
	all.mu.Lock()
	all.w = nil
	all.mu.Unlock()
}

// wait waits for all but the channel. It leaves nothing behind, not even if ctx panics in it.
func (all *seats) wait(ctx context.Context, sources []Waitable) error {
	defer all.leave()
	for _, s := range sources {
		if _, ok := s.(*channel); ok {
			continue
		}
		if all.take(s) == park.Closed {
			return ErrClosed
		}
	}
	for all.ended < len(all.of) {
		x := &all.of[all.ended]
		if !all.enter(x) {
			return ErrClosed
		}
		all.inWait = true
		o := x.w.Wait(ctx, x.t, park.KindAny)
		all.inWait = false
		all.exit()
		if o == park.Canceled || o == park.Closed { // perhaps of another seat's source
			x.s.remove(x.node())
		}
		x.put()
		all.ended++
		switch o {
		case park.Canceled:
			return park.Reason(ctx)
		case park.Closed:
			return ErrClosed
		case park.Expired: // an At, which does not hide that ctx has ended
			if err := errAtInstant(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// take registers with s, if it is not ready.
func (all *seats) take(s Waitable) park.Outcome {
	if o := s.look(); o != park.Pending {
		return o
	}
	x := seat{s: s}
	due := clock.Forever
	switch s := s.(type) {
	case *instant:
		due = s.at
		x.w = park.GetUntil(due)
	case *point:
		x.c = all.closer()
		x.w = x.c.w
	default:
		x.w = park.Get()
	}
	x.t = x.w.Arm(due)
	step.At("waitall.add")
	o := s.add(x.node(), x.w, x.t, park.Woken)
	if o != park.Pending {
		x.w.Withdraw(x.t)
		x.put()
		return o
	}
	all.of = append(all.of, x)
	return o
}

func (all *seats) closer() *closer {
	var c *closer
	if clock.InBubble() {
		c = newCloser()
	} else {
		c = closerPool.Get().(*closer)
	}
	c.all = all
	return c
}

func (x *seat) node() *park.Node { return &x.w.Nodes(1)[0] }

// put gives the waiter back.
func (x *seat) put() {
	if x.c != nil {
		x.c.put()
	} else {
		park.Put(x.w)
	}
}

// leave gives up the seats whose waits have not ended. Behind it no hook runs any more.
func (all *seats) leave() {
	all.exit() // a panic may have passed by
	for i := all.ended; i < len(all.of); i++ {
		x := &all.of[i]
		step.At("waitall.leave")
		x.w.Withdraw(x.t)
		x.s.remove(x.node())
		if !all.inWait || i > all.ended { // else a panic has passed it by, and it may be filed in the context
			x.put()
		}
	}
	clear(all.of)
	all.of, all.ended, all.inWait, all.closed = all.of[:0], 0, false, false
}
