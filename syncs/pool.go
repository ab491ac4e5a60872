package syncs

import (
	"context"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// A Pool lends items that are dear to make, connections for instance, to one borrower at a time, and makes them as they
// are needed. It needs New; set the fields before the first use, and do not change them afterwards.
//
//	pool := syncs.Pool[net.Conn]{
//		New:     dial,
//		Destroy: func(c net.Conn) { c.Close() },
//		Max:     10,
//		Bound:   5 * time.Second,
//		Idle:    time.Minute,
//	}
//
//	c, err := pool.Get(ctx)
//	if err != nil {
//		return err
//	}
//	if err := use(ctx, c); err != nil {
//		pool.Drop(c) // broken
//		return err
//	}
//	pool.Put(c)
//
// # Fairness
//
// FIFO: an item that is put back goes to who has waited longest. One that was made goes to the Get that it was made for,
// or, if that has left or has got another one, to who has waited longest. Of idle items the one that was put back last
// goes first, since it is warm; the others get old and are destroyed.
//
// # Cancellation
//
// A Get that returns an error has no item, and none is lost: one that was meant for it goes to the next, or is idle. A
// Get that returns nil has one, even if its context was canceled in the same instant.
//
// The making of an item survives the Get that asked for it: New runs on a goroutine of its own, under a context that has
// the values of that Get's but not its cancellation, is bounded by Bound, and ends when New returns or the Pool is
// closed. If New fails, the error is that Get's, if it still waits; the others do not see it, and a next one has an
// item made for itself.
//
// # Close
//
// Close ends all waits with ErrClosed, cancels what is being made, and destroys the idle items; later Gets return
// ErrClosed. Items that are lent are destroyed when they are put back. Close does not wait for them: Wait does.
//
// # Panics
//
// A panic in New ends the process, as that of any goroutine. If New calls runtime.Goexit, that is an error. A panic in
// Destroy goes to whoever called Put, Drop or Close; that of an item which has got too old ends the process.
//
// # Memory model
//
// The return of New, and the Put of an item, synchronize before the return of the Get that lends it next, and before its
// Destroy.
//
// # State
//
// Under mu: how many items there are in each state, and who waits. A Get that waits is trying, if an item is made on its
// behalf, or else waiting.
//
//	P1 idle → lent       the one that came last                            Get, TryGet
//	P2 · → made          for a Get that finds nothing idle, below Max, which is now trying; or for the first that is
//	                     waiting, when another item is gone
//	P3 made → lent       New has returned an item: to the Get that it was called for, if that is still trying, or else
//	                     to the first in line, trying before waiting
//	P4 made → idle       the same, and nobody waits
//	P5 made → ·          New has failed: its error is for the Get that it was called for, if that is still trying
//	P6 lent → lent       Put: to the first in line
//	P7 lent → idle       Put, and nobody waits
//	P8 lent → doomed     Drop; Put after Close
//	P9 made → doomed     New has returned an item after Close
//	P10 idle → doomed    Close; an item that has got too old
//	P11 doomed → ·       Destroy has returned
//
//	I1 all of them together are total, and at most Max
//	I2 while mu is free, who waits waits because nothing is idle, and who is waiting because total is Max
//	I3 for each that is trying, and not canceled, its New runs; and it came before everybody who is waiting
//	I4 closed: nobody waits, nothing is idle
type Pool[T any] struct {
	_ noCopy

	// New makes an item. Context: a goroutine of its own, nothing locked; it should end when ctx does, since until then
	// it counts. An item that it returns with an error is not looked at.
	New func(ctx context.Context) (T, error)

	// Destroy, if not nil, is called once for each item that has come to its end. Context: the goroutine that called
	// Put, Drop or Close, or one of its own if the item got too old or came too late; nothing locked. The item counts
	// until it returns.
	Destroy func(T)

	Max   int           // how many items there may be, idle, lent, being made and being destroyed; 0: any number
	Bound time.Duration // how long New may take, in real time; 0: as long as it wants
	Idle  time.Duration // how long an item may be idle before it is destroyed; 0: for ever

	mu              step.Mutex
	idle            ring[resting[T]]
	trying, waiting row[wish[T]]
	places          stock[wish[T]]
	attempts        ilist.List[attempt[T], *attempt[T]]
	total           int
	closed          bool
	stats           PoolStats // counters, Lent, Making
	broom           *timer.Timer
	armed           bool  // the broom comes by itself
	gone            Event // closed, and total is 0
}

// PoolStats is what a Pool has and has done.
type PoolStats struct {
	Total             int    // items that count against Max: the next three, and those that are being destroyed
	Idle, Lent        int    // items that nobody has, and that somebody has
	Making            int    // attempts to make one
	Waiting           int    // calls of Get that wait
	Gets              uint64 // items lent
	Waits, Failed     uint64 // calls of Get that have had to wait, and those of them that have got nothing
	Made, NewErrors   uint64 // attempts that made an item, and that did not
	Destroyed, TooOld uint64 // items destroyed, and those of them that had been idle for too long
}

// resting is an idle item.
type resting[T any] struct {
	v     T
	until clock.Instant
}

// wish is what a Get brings to its place, and is brought.
type wish[T any] struct {
	ctx    context.Context // for New
	trying bool            // in which row it is
	v      T
	err    error
}

// newFailed is the outcome of a Get whose New has failed.
const newFailed = park.User

// Get returns an item: one that is idle, or one that is put back or made while it waits, as long as ctx allows. It
// panics if New is nil, or Max negative.
func (p *Pool[T]) Get(ctx context.Context) (v T, err error) {
	notNil("Get of a Pool", ctx)
	if p.New == nil {
		panic("bide/syncs: Get of a Pool without New")
	}
	if p.Max < 0 {
		panic("bide/syncs: Get of a Pool with a negative Max")
	}
	if err := park.Err(ctx); err != nil {
		return v, err
	}
	v, ok, closed := p.take()
	switch {
	case ok:
		return v, nil
	case closed:
		return v, ErrClosed
	}
	return p.wait(ctx)
}

// TryGet returns an idle item, if there is one.
func (p *Pool[T]) TryGet() (v T, ok bool) {
	v, ok, _ = p.take()
	return v, ok
}

// Put gives an item back. It panics if there are none lent.
func (p *Pool[T]) Put(v T) {
	now := p.now()
	step.At("pool.put")
	p.mu.Lock()
	p.unlend("Put")
	p.put(v, now, nil)
}

// Drop gives back an item that is broken: it is destroyed, and another one can be made. It panics if there are none
// lent.
func (p *Pool[T]) Drop(v T) {
	step.At("pool.drop")
	p.mu.Lock()
	p.unlend("Drop") // P8
	p.check()
	p.mu.Unlock()
	p.destroy(v)
}

// Close closes the pool. It destroys the idle items, and does not wait for the others. It is idempotent.
func (p *Pool[T]) Close() {
	var few [32]*park.Waiter
	step.At("pool.close")
	p.mu.Lock()
	p.closed = true
	ws := p.trying.resolveAll(park.Closed, few[:0])
	ws = p.waiting.resolveAll(park.Closed, ws)
	doomed := p.doom(clock.Forever) // P10
	var cancels []context.CancelFunc
	for a := p.attempts.Front(); a != nil; a = p.attempts.Next(a) {
		cancels = append(cancels, a.cancel)
	}
	if p.broom != nil {
		p.broom.Stop()
	}
	gone := p.total == 0
	p.check()
	p.mu.Unlock()
	for _, w := range ws {
		w.Unpark()
	}
	if gone {
		p.gone.Set()
	}
	defer p.destroyAll(doomed) // whatever happens in a cancel
	for _, cancel := range cancels {
		cancel()
	}
}

// Wait waits until the pool is closed and nothing of it is left: every item has come back and is destroyed, and no New
// runs.
func (p *Pool[T]) Wait(ctx context.Context) error {
	notNil("Wait of a Pool", ctx)
	return p.gone.Wait(ctx)
}

// Stats is a snapshot.
func (p *Pool[T]) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Total, s.Idle, s.Waiting = p.total, p.idle.n, p.trying.n+p.waiting.n
	return s
}

// now is the time, if it matters.
func (p *Pool[T]) now() clock.Instant {
	if p.Idle <= 0 {
		return 0
	}
	return clock.Now()
}

// take returns the idle item that was put back last. Those that have got too old are not handed out any more, although
// the broom comes late.
func (p *Pool[T]) take() (v T, ok, closed bool) {
	now := p.now()
	step.At("pool.take")
	p.mu.Lock()
	doomed := p.sweepLocked(now)
	v, ok = p.takeLocked()
	closed = p.closed
	p.check()
	p.mu.Unlock()
	if doomed != nil {
		go p.destroyAll(doomed) // who gets is not held up by it
	}
	return v, ok, closed
}

func (p *Pool[T]) takeLocked() (v T, ok bool) {
	if p.idle.n == 0 {
		return v, false
	}
	v = p.idle.popBack().v // P1
	p.lend()
	return v, true
}

func (p *Pool[T]) lend() {
	p.stats.Lent++
	p.stats.Gets++
}

// unlend is what Put and Drop begin with. It unlocks if it panics.
func (p *Pool[T]) unlend(call string) {
	if p.stats.Lent == 0 {
		p.mu.Unlock()
		panic("bide/syncs: " + call + " of an item that the Pool has not lent")
	}
	p.stats.Lent--
}

// put is for an item that is in nobody's hands; a is the attempt that made it, or nil.
//
// Preconditions: mu is held, and released on return.
func (p *Pool[T]) put(v T, now clock.Instant, a *attempt[T]) {
	if p.closed { // P8, P9
		p.check()
		p.mu.Unlock()
		p.destroy(v)
		return
	}
	if to := p.whose(a); to != nil { // P3, P6
		to.v.v = v
		w := to.w
		p.lend()
		p.check()
		p.mu.Unlock()
		w.Unpark()
		return
	}
	r := resting[T]{v, clock.Forever}
	if p.Idle > 0 {
		r.until = now.Add(p.Idle)
	}
	p.idle.pushBack(r) // P4, P7
	p.arm()
	p.check()
	p.mu.Unlock()
}

// whose takes the one who is to have what has come out of its row, woken; nil: nobody waits.
//
// Preconditions: mu held.
func (p *Pool[T]) whose(a *attempt[T]) *place[wish[T]] {
	if to := p.asker(a, park.Woken); to != nil {
		return to
	}
	if to := p.trying.resolve(park.Woken); to != nil {
		return to
	}
	return p.waiting.resolve(park.Woken)
}

// wait is the part of Get that waits, and has an item made if there may be one more.
func (p *Pool[T]) wait(ctx context.Context) (v T, err error) {
	w := park.Get()
	now := p.now()
	step.At("pool.wait")
	p.mu.Lock()
	doomed := p.sweepLocked(now)
	if v, ok := p.takeLocked(); ok || p.closed {
		p.mu.Unlock()
		park.Put(w)
		if doomed != nil {
			go p.destroyAll(doomed)
		}
		if !ok {
			return v, ErrClosed
		}
		return v, nil
	}
	mine := p.places.take(w)
	mine.v.ctx = ctx
	t := mine.t
	p.waiting.push(mine)
	p.stats.Waits++
	a := p.next()
	p.check()
	p.mu.Unlock()
	if doomed != nil {
		go p.destroyAll(doomed)
	}
	p.start(a)
	o := safeWait(ctx, w, t, park.KindPool, func(o park.Outcome) {
		if v, _ := p.leave(mine, o); o == park.Woken {
			p.Put(v)
		}
	})
	v, err = p.leave(mine, o)
	park.Put(w) // not deferred: a waiter that a panic passed by is not put back
	switch o {
	case park.Woken, newFailed:
		return v, err
	case park.Closed:
		return v, ErrClosed
	}
	return v, park.Reason(ctx)
}

// leave gives a place back, whose wait has ended with o, and returns what it was brought.
func (p *Pool[T]) leave(mine *place[wish[T]], o park.Outcome) (v T, err error) {
	v, err = mine.v.v, mine.v.err // nobody else writes these any more
	if o != park.Woken {
		step.At("pool.leave")
		p.mu.Lock()
		p.stats.Failed++
		if mine.v.trying {
			p.trying.remove(mine)
		} else {
			p.waiting.remove(mine)
		}
		p.check()
		p.mu.Unlock()
	}
	p.places.give(mine)
	return v, err
}

// check: I1, I2, I4. Preconditions: mu held.
func (p *Pool[T]) check() {
	if invariant.On {
		s := &p.stats
		alive := p.idle.n + s.Lent + s.Making
		invariant.True(alive <= p.total && (p.Max == 0 || p.total <= p.Max), "syncs: a Pool has lost count of its items")
		invariant.True(p.trying.n+p.waiting.n == 0 || p.idle.n == 0, "syncs: a Get waits though an item is idle")
		invariant.True(p.waiting.n == 0 || p.Max > 0 && p.total == p.Max, "syncs: a Get waits though an item may be made")
		invariant.True(!p.closed || p.trying.n+p.waiting.n+p.idle.n == 0, "syncs: a closed Pool is waited for")
	}
}
