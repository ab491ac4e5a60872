package syncs

import (
	"context"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Ticket is a place in the queue of a [FairMutex], of [FairMutex.LockAsync].
//
//	t := m.LockAsync()
//	defer t.Cancel() // nothing, after Wait has returned
//	announce()       // everybody who asks from here on comes later
//	if err := t.Wait(ctx); err != nil {
//		return err
//	}
//	defer m.Unlock()
//
// Who takes a ticket owes a Wait or a Cancel: the lock may have been handed to it already, and waits to be collected.
//
// # Fairness
//
// The place is that of the call of LockAsync, whenever Wait is called.
//
// # Cancellation
//
// A Wait that returns an error has given the ticket up: the lock is not held, and if it had been handed over, the next
// one has it.
//
// # Close
//
// Cancel gives the ticket up.
//
// # Memory model
//
// As FairMutex says. A Wait may be called by another goroutine than LockAsync.
//
// # State
//
//	T1 open → waiting          Wait, one only: CAS. The waiter is its own from now on
//	T2 waiting → taken         Wait: the lock was handed over, or was free from the first
//	T3 waiting → given up      Wait: ended by its context, or by Cancel, which resolves the token Closed
//	T4 open → given up         Cancel: CAS. The waiter is its own
type Ticket struct {
	_     noCopy
	m     *FairMutex
	state atomic.Uint32

	w *park.Waiter // nil if the lock was free. Its token stays after it has gone back to the pool, and is harmless then
	t park.Token
}

const (
	ticketOpen = iota
	ticketWaiting
	ticketTaken
	ticketGivenUp
)

// LockAsync takes a ticket for the lock, without waiting: a place in the queue, or the lock itself if it is free.
func (m *FairMutex) LockAsync() *Ticket {
	t := &Ticket{m: m}
	if m.TryLock() {
		return t
	}
	w := park.Get()
	tok, ok := m.enqueue(w, &w.Nodes(1)[0], clock.Forever)
	if ok {
		park.Put(w)
		return t
	}
	t.w, t.t = w, tok
	return t
}

// Wait waits until it is the ticket's turn. It returns nil if the lock is taken now. Else the ticket is given up, and the
// error says why ctx ended, or is context.Canceled after a Cancel. It panics if it is called again after it returned nil,
// or while another Wait is waiting.
func (t *Ticket) Wait(ctx context.Context) error {
	notNil("Wait of a Ticket", ctx)
	err := park.Err(ctx)
	step.At("ticket.wait")
	if !t.state.CompareAndSwap(ticketOpen, ticketWaiting) { // T1
		if t.state.Load() != ticketGivenUp {
			panic("bide/syncs: second Wait of a Ticket")
		}
		if err == nil {
			err = context.Canceled
		}
		return err
	}
	if err != nil {
		t.withdraw()
		t.state.Store(ticketGivenUp) // T3
		return err
	}
	if t.w != nil && t.wait(ctx) != park.Woken {
		return park.Reason(ctx)
	}
	t.state.Store(ticketTaken) // T2
	return nil
}

// wait waits for the ticket's turn. If that does not come, the ticket is given up.
func (t *Ticket) wait(ctx context.Context) park.Outcome {
	o := park.Pending
	defer func() {
		if o != park.Woken { // or ctx has panicked
			t.state.Store(ticketGivenUp) // T3
		}
	}()
	o = t.m.wait(ctx, t.w, &t.w.Nodes(1)[0], t.t)
	park.Put(t.w)
	return o
}

// withdraw gives back what the ticket has, or its place.
func (t *Ticket) withdraw() {
	if t.w == nil {
		t.m.Unlock()
		return
	}
	t.m.undo(&t.w.Nodes(1)[0], t.w.Withdraw(t.t))
	park.Put(t.w)
}

// Cancel gives the ticket up: it is out of the queue, and if the lock had been handed to it already, the next one has it.
// A Wait that waits returns. After Wait has returned, and the second time, Cancel does nothing. It may be called by any
// goroutine.
func (t *Ticket) Cancel() {
	step.At("ticket.cancel")
	if t.state.CompareAndSwap(ticketOpen, ticketGivenUp) { // T4
		t.withdraw()
	} else if t.w != nil {
		t.w.Wake(t.t, park.Closed) // of no effect unless a Wait waits
	}
}
