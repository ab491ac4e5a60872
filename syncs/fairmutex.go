package syncs

import (
	"context"
	"os"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// The state of a FairMutex.
//
//	bit 0  locked
//	bit 1  queued   somebody is in the queue. Set, and cleared with the queue empty, under mu
//
//	Q1 free → locked             Lock, TryLock, LockAsync: CAS
//	Q2 locked → free             Unlock: CAS, if nobody is queued; under mu, if all who were have left
//	Q3 queued: set               a locker, under mu, before it queues itself; only while locked
//	Q4 locked, queued → locked   Unlock, under mu: handed to the first who is still there. Nobody can come between;
//	                             queued stays if others are left
//	Q5 queued: cleared           the last in the queue was canceled, and takes itself out, under mu
//
//	I1 while mu is free, queued is set if and only if the queue is not empty
//	I2 queued only with locked

// A FairMutex is a mutual exclusion lock that is given in the order in which it was asked for. [Mutex] is faster when
// many want it, since there a goroutine that runs need not wait for one that has to be woken first. The zero FairMutex is
// unlocked.
//
// # Fairness
//
// It is FIFO: Unlock hands the lock to who has waited longest, and nobody can take it in between. Who has left the queue
// is skipped.
//
// # Cancellation
//
// A Lock that returns an error has not taken the lock, and is out of the queue. A canceled context is seen even when the
// lock is free.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// The n-th Unlock synchronizes before the return of the m-th successful Lock, LockUntil, TryLock or Ticket.Wait, for
// n < m.
type FairMutex struct {
	_    noCopy
	word atomic.Uint32 // locked, queued

	mu    step.Mutex // before a timer shard's; nothing of a user is called with it held
	queue park.List
}

// Lock takes the lock, waiting for it as long as ctx allows. It returns nil if and only if it has taken it. Uncontended
// it costs ctx.Err and one compare-and-swap.
func (m *FairMutex) Lock(ctx context.Context) error {
	notNil("Lock", ctx)
	if ctx.Err() == nil && m.word.CompareAndSwap(0, locked) { // Q1
		return nil
	}
	return m.lockSlow(ctx, clock.Forever)
}

// LockUntil is Lock with a deadline, an instant of the monotonic clock, in place of a context. After it the error is
// [os.ErrDeadlineExceeded]; a deadline that has passed is a TryLock.
func (m *FairMutex) LockUntil(deadline clock.Instant) error {
	if m.word.CompareAndSwap(0, locked) { // Q1
		return nil
	}
	return m.lockSlow(context.Background(), deadline)
}

// TryLock takes the lock if it is free, and reports whether it has.
func (m *FairMutex) TryLock() bool { return m.word.CompareAndSwap(0, locked) } // Q1

// Unlock releases the lock. It panics if the lock is not taken. It need not be the goroutine that took it.
func (m *FairMutex) Unlock() {
	if m.word.CompareAndSwap(locked, 0) { // Q2
		return
	}
	m.unlockSlow()
}

// Locker returns m as a [sync.Locker], whose Lock waits without a bound.
func (m *FairMutex) Locker() sync.Locker { return (*fairLocker)(m) }

type fairLocker FairMutex

func (l *fairLocker) Lock()   { _ = (*FairMutex)(l).LockUntil(clock.Forever) }
func (l *fairLocker) Unlock() { (*FairMutex)(l).Unlock() }

func (m *FairMutex) unlockSlow() {
	for {
		s := m.word.Load()
		switch {
		case s&locked == 0:
			panic("bide/syncs: unlock of unlocked FairMutex")
		case s&queued != 0:
			if m.hand() {
				return
			}
		case m.word.CompareAndSwap(s, 0): // Q2
			return
		}
	}
}

func (m *FairMutex) lockSlow(ctx context.Context, deadline clock.Instant) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	if deadline != clock.Forever && deadline <= clock.Now() {
		if m.TryLock() {
			return nil
		}
		return os.ErrDeadlineExceeded
	}
	w := park.GetUntil(deadline)
	n := &w.Nodes(1)[0]
	t, ok := m.enqueue(w, n, deadline)
	if ok {
		park.Put(w)
		return nil
	}
	o := m.wait(ctx, w, n, t)
	park.Put(w) // not deferred: a waiter that a panic passed by is not for the pool
	if o != park.Woken {
		return failure(ctx, deadline)
	}
	return nil
}

// enqueue takes the lock after all (ok), or arms w and queues it.
func (m *FairMutex) enqueue(w *park.Waiter, n *park.Node, deadline clock.Instant) (t park.Token, ok bool) {
	step.At("fairmutex.enqueue")
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		s := m.word.Load()
		next := s | queued // Q3
		if s == 0 {
			next = locked // Q1
		}
		step.At("fairmutex.set")
		if !m.word.CompareAndSwap(s, next) {
			continue
		}
		if s == 0 {
			return t, true
		}
		break
	}
	t = w.Arm(deadline)
	m.queue.PushBack(n, w, t, park.Woken)
	return t, false
}

// wait waits for the lock to be handed over, and leaves nothing behind if that does not come.
func (m *FairMutex) wait(ctx context.Context, w *park.Waiter, n *park.Node, t park.Token) park.Outcome {
	o := safeWait(ctx, w, t, park.KindLock, func(o park.Outcome) { m.undo(n, o) })
	if o != park.Woken {
		m.dequeue(n)
	}
	return o
}

// undo gives back what a waiter has got that does not want it any more.
func (m *FairMutex) undo(n *park.Node, o park.Outcome) {
	if o == park.Woken {
		m.Unlock()
	} else {
		m.dequeue(n)
	}
}

// dequeue takes out a waiter that was not handed the lock.
func (m *FairMutex) dequeue(n *park.Node) {
	step.At("fairmutex.dequeue")
	m.mu.Lock()
	m.queue.Remove(n)
	if m.queue.Empty() {
		m.word.And(^uint32(queued)) // Q5
	}
	m.mu.Unlock()
}

// hand hands the lock over, or frees it if all who were in the queue have left. It reports false if it was too late:
// nobody is in the queue.
func (m *FairMutex) hand() bool {
	step.At("fairmutex.hand")
	m.mu.Lock()
	if m.word.Load() != locked|queued {
		m.mu.Unlock()
		return false
	}
	invariant.True(!m.queue.Empty(), "syncs: a FairMutex says that somebody is queued, and nobody is")
	w, _ := m.queue.Resolve()
	next := uint32(locked) // Q4
	switch {
	case w == nil:
		next = 0 // Q2
	case !m.queue.Empty():
		next |= queued
	}
	step.At("fairmutex.next")
	m.word.Store(next) // nobody else changes it: it was locked and queued, and mu is held
	m.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
	return true
}
