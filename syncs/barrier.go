package syncs

import (
	"context"
	"strconv"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Barrier is where parties wait for each other: when as many as it is for have come, all go on, and it is ready for the
// next round. [NewBarrier] makes one; the zero Barrier is for one party, who never waits.
//
// # Fairness
//
// The parties of a round are those who came first. Whoever comes when they are complete is of the next round.
//
// # Cancellation
//
// A party whose Wait returns an error has taken its arrival back: the others wait on, until another has come in its
// place. It has left nothing, and breaks nothing. Whether it was in time is decided under the barrier's lock: once the
// round is complete, its Wait returns nil.
//
// # Close
//
// There is nothing to close. Parties who shall not wait for those who will not come wait under one scope.
//
// # Memory model
//
// What each party did before its Wait happened before the return of the others' Waits of that round.
//
// # State
//
//	B1 n → n+1    Wait, under mu, before it queues itself
//	B2 n → 0      Wait, under mu, of the last party: everybody in the queue is resolved before mu is free
//	B3 n → n-1    a party that leaves, under mu, if it is still in the queue
//
//	I1 while mu is free, arrived is the length of the queue, and less than parties
type Barrier struct {
	_       noCopy
	parties int // 0 is 1

	mu      step.Mutex // before a timer shard's; nothing of a user is called with it held
	arrived int
	queue   park.List
}

// NewBarrier returns a Barrier for n parties. It panics if n is less than 1.
func NewBarrier(n int) *Barrier {
	if n < 1 {
		panic("bide/syncs: NewBarrier for " + strconv.Itoa(n) + " parties")
	}
	return &Barrier{parties: n}
}

// Wait waits until all parties of the round have come, or returns why ctx ended before. last is true for one party of
// the round, the one that has completed it: it can do what is to be done once a round.
func (b *Barrier) Wait(ctx context.Context) (last bool, err error) {
	notNil("Wait of a Barrier", ctx)
	if err := park.Err(ctx); err != nil {
		return false, err
	}
	w := park.Get()
	last, err = b.wait(ctx, w)
	park.Put(w) // not deferred: a waiter that a panic passed by may be filed in the context
	return last, err
}

func (b *Barrier) wait(ctx context.Context, w *park.Waiter) (last bool, err error) {
	n := &w.Nodes(1)[0]
	t, last := b.arrive(w, n)
	if last {
		return true, nil
	}
	o := safeWait(ctx, w, t, park.KindGroup, func(park.Outcome) { b.leave(n) })
	// The outcome does not decide: a round is completed with those who are in the queue, also those who were canceled
	// and have not left it yet.
	if o != park.Woken && b.leave(n) {
		return false, park.Reason(ctx)
	}
	return false, nil
}

// arrive completes the round (last), or arms w and queues it.
func (b *Barrier) arrive(w *park.Waiter, n *park.Node) (t park.Token, last bool) {
	var woken park.Batch
	step.At("barrier.arrive")
	b.mu.Lock()
	if b.arrived+1 >= b.parties {
		b.arrived = 0 // B2
		woken.Resolve(&b.queue, park.All)
		b.mu.Unlock()
		woken.Unpark()
		return t, true
	}
	b.arrived++ // B1
	t = w.Arm(clock.Forever)
	b.queue.PushBack(n, w, t, park.Woken)
	b.mu.Unlock()
	return t, false
}

// leave: B3. It reports false if the round was completed before.
func (b *Barrier) leave(n *park.Node) bool {
	step.At("barrier.leave")
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.queue.Remove(n) {
		return false
	}
	b.arrived--
	return true
}
