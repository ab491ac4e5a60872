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
// source that is not ready.
//
// # Cancellation
//
// If ctx ends first the result is its error, nothing is left in any source, and nothing was received. The last one ready
// and canceled in the same instant: nil.
//
// # Close
//
// If a source is closed, so that it will never be ready, the result is [ErrClosed].
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
}

// seats are those of one WaitAll.
type seats struct {
	of     []seat
	ended  int  // how many of them, from the front
	inWait bool // in the next one
}

var seatsPool = sync.Pool{New: func() any { return new(seats) }}

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
		all.inWait = true
		o := x.w.Wait(ctx, x.t, park.KindAny)
		all.inWait = false
		if o == park.Canceled {
			x.s.remove(x.node())
		}
		park.Put(x.w)
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
	due := clock.Forever
	if i, ok := s.(*instant); ok {
		due = i.at
	}
	x := seat{s: s, w: park.GetUntil(due)}
	x.t = x.w.Arm(due)
	step.At("waitall.add")
	o := s.add(x.node(), x.w, x.t, park.Woken)
	if o != park.Pending {
		x.w.Withdraw(x.t)
		park.Put(x.w)
		return o
	}
	all.of = append(all.of, x)
	return o
}

func (x *seat) node() *park.Node { return &x.w.Nodes(1)[0] }

// leave gives up the seats whose waits have not ended.
func (all *seats) leave() {
	for i := all.ended; i < len(all.of); i++ {
		x := &all.of[i]
		step.At("waitall.leave")
		x.w.Withdraw(x.t)
		x.s.remove(x.node())
		if !all.inWait || i > all.ended { // else a panic has passed it by, and it may be filed in the context
			park.Put(x.w)
		}
	}
	clear(all.of)
	*all = seats{of: all.of[:0]}
}
