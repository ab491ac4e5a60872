package syncs

import (
	"context"
	"errors"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// How the items of a Pool begin and end. See the states in pool.go.

// An attempt is a call of New, on behalf of a Get that may be gone before it returns: then t is stale, and what wish
// points to is another's.
type attempt[T any] struct {
	links  ilist.Links[attempt[T]]
	ctx    context.Context // that Get's
	cancel context.CancelFunc

	w    *park.Waiter
	t    park.Token
	wish *place[wish[T]]
}

// Links is for the list.
func (a *attempt[T]) Links() *ilist.Links[attempt[T]] { return &a.links }

var errGoexitInNew = errors.New("bide/syncs: New of a Pool has ended its goroutine")

// next lets the first who is waiting try, if there may be one more item: P2. The caller starts what it returns, if
// anything, after unlocking.
//
// Preconditions: mu held.
func (p *Pool[T]) next() *attempt[T] {
	if p.Max > 0 && p.total >= p.Max {
		return nil
	}
	first := p.waiting.pop()
	if first == nil {
		return nil
	}
	first.v.trying = true
	p.trying.push(first)
	p.total++
	p.stats.Making++
	return &attempt[T]{ctx: first.v.ctx, w: first.w, t: first.t, wish: first}
}

func (p *Pool[T]) start(a *attempt[T]) {
	if a != nil {
		go p.try(a)
	}
}

// try calls New.
func (p *Pool[T]) try(a *attempt[T]) {
	var v T
	err := errGoexitInNew
	defer func() { p.tried(a, v, err) }()
	ctx := context.WithoutCancel(a.ctx)
	a.ctx = nil
	var cancel context.CancelFunc
	if p.Bound > 0 {
		ctx, cancel = context.WithTimeout(ctx, p.Bound)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	step.At("pool.try")
	p.mu.Lock()
	closed := p.closed
	if !closed {
		a.cancel = cancel
		p.attempts.PushBack(a)
	}
	p.mu.Unlock()
	if closed {
		err = ErrClosed
		return
	}
	v, err = p.New(ctx)
}

// tried disposes of what New has returned.
func (p *Pool[T]) tried(a *attempt[T], v T, err error) {
	now := p.now()
	step.At("pool.tried")
	p.mu.Lock()
	p.attempts.Remove(a)
	p.stats.Making--
	if err == nil {
		p.stats.Made++
		p.put(v, now, a) // P3, P4, P9
		return
	}
	p.stats.NewErrors++
	p.total-- // P5
	var w *park.Waiter
	if to := p.asker(a, newFailed); to != nil {
		to.v.err = err
		w = to.w
	}
	p.freed()
	if w != nil {
		w.Unpark()
	}
}

// asker takes the Get that a was for out of its row and resolves it with o; nil: it is gone.
//
// Preconditions: mu held.
func (p *Pool[T]) asker(a *attempt[T], o park.Outcome) *place[wish[T]] {
	if a == nil || !a.w.Resolve(a.t, o) {
		return nil
	}
	p.trying.remove(a.wish) // it is still that Get's
	return a.wish
}

// freed is for whoever has made room for another item.
//
// Preconditions: mu is held, and released on return.
func (p *Pool[T]) freed() {
	a := p.next()
	gone := p.closed && p.total == 0
	p.check()
	p.mu.Unlock()
	p.start(a)
	if gone {
		p.gone.Set()
	}
}

// destroy ends an item that is doomed. It makes room for another one even if Destroy panics or calls Goexit.
func (p *Pool[T]) destroy(v T) {
	defer func() {
		step.At("pool.destroyed")
		p.mu.Lock()
		p.total-- // P11
		p.stats.Destroyed++
		p.freed()
	}()
	if p.Destroy != nil {
		p.Destroy(v)
	}
}

// destroyAll destroys each, whatever another one's Destroy does.
func (p *Pool[T]) destroyAll(doomed []T) {
	i := 0
	defer func() {
		if i < len(doomed) {
			p.destroyAll(doomed[i:])
		}
	}()
	for i < len(doomed) {
		i++
		p.destroy(doomed[i-1])
	}
}

// doom takes out what may not be idle any more at now: P10. Those are the first ones, as they have been idle longest.
//
// Preconditions: mu held.
func (p *Pool[T]) doom(now clock.Instant) (doomed []T) {
	for p.idle.n > 0 && p.idle.at(0).until <= now {
		doomed = append(doomed, p.idle.popFront().v)
	}
	return doomed
}

// sweepLocked is doom for those that have got too old. The caller destroys them.
func (p *Pool[T]) sweepLocked(now clock.Instant) (doomed []T) {
	if p.Idle > 0 {
		doomed = p.doom(now)
		p.stats.TooOld += uint64(len(doomed))
	}
	return doomed
}

// arm lets the broom come when the item that has been idle longest has got too old. If that is lent before, it comes
// for nothing, and is armed for the next.
//
// Preconditions: mu held.
func (p *Pool[T]) arm() {
	if p.armed || p.Idle <= 0 || p.idle.n == 0 || p.closed {
		return
	}
	p.armed = true
	at := p.idle.at(0).until
	if p.broom == nil {
		p.broom = timer.AfterFunc(at.Sub(clock.Now()), p.sweep)
	} else {
		p.broom.ResetAt(at)
	}
}

// sweep is the broom.
func (p *Pool[T]) sweep() {
	now := clock.Now()
	step.At("pool.sweep")
	p.mu.Lock()
	p.armed = false
	doomed := p.sweepLocked(now)
	p.arm()
	p.check()
	p.mu.Unlock()
	p.destroyAll(doomed)
}
