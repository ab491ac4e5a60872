package syncs

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// The state of a Mutex.
//
//	bit 0  locked
//	bit 1  queued   Unlock has to look into the queue
//
//	coming  a waiter was taken out of the queue, and has not come to try the word yet; under mu
//
//	M1 free → locked            Lock, TryLock: CAS
//	M2 locked → free            Unlock: CAS, while not queued; under mu, if all who were have left, or if one is coming,
//	                            who will set queued again
//	M3 queued: set              a locker, under mu, before it queues itself; only while locked
//	M4 locked, queued → free    Unlock, under mu: the first waiter is resolved Woken, and is coming. While it is, nobody
//	                            has to wake another one, so that those who run lock and unlock as if it were not there
//	M5 locked, queued → locked  Unlock, under mu: the first waiter has starved: resolved granted, it holds. queued stays
//	                            if others are left
//	M6 coming → no more         that waiter, under mu: it takes the lock, if it is free; or goes back to the queue; or
//	                            leaves by a panic, while locked. If others are in the queue, queued is set
//
//	I1 while mu is free and nobody is coming, queued is set if and only if the queue is not empty
//	I2 queued only while locked
//	I3 free and somebody in the queue only while one is coming, who will lock or see that it is locked

// A Mutex is a mutual exclusion lock whose Lock is bounded by its context. The zero Mutex is unlocked.
//
// # Fairness
//
// It is not FIFO: a goroutine that runs may take the lock before one that has been woken for it, which is what makes
// it fast. A waiter that has lost that race a few times, for longer than a millisecond, is handed the lock by an
// Unlock.
//
// # Cancellation
//
// A Lock that returns an error has not taken the lock, and leaves nothing behind: if it had been woken, somebody else
// is. A canceled context is seen even when the lock is free.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// The n-th Unlock synchronizes before the return of the m-th successful Lock, LockUntil or TryLock, for n < m.
type Mutex struct {
	_    noCopy
	word atomic.Uint32

	mu     step.Mutex // nothing of a user is called with it held
	queue  park.List
	coming bool
	counts
}

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

const (
	locked = 1 << iota
	queued
)

// granted is the outcome of a waiter that was handed the lock.
const granted = park.User

const (
	spins = 4
	pause = 4000 // rounds of an empty loop, some 1.2 µs
)

// starving is how long a woken waiter may lose against others before it is handed the lock.
const starving = time.Millisecond

// Lock takes the lock, waiting for it as long as ctx allows. It returns nil if and only if it has taken it. Uncontended
// it costs ctx.Err and one compare-and-swap.
func (m *Mutex) Lock(ctx context.Context) error {
	if ctx != nil && ctx.Err() == nil && m.word.CompareAndSwap(0, locked) { // M1
		return nil
	}
	return m.lockSlow(ctx, clock.Forever)
}

// LockUntil is Lock with a deadline, an instant of the monotonic clock, in place of a context. After it the error is
// [os.ErrDeadlineExceeded]; a deadline that has passed is a TryLock. The instant is read where it is used: one from
// outside of a synctest bubble means decades inside.
func (m *Mutex) LockUntil(deadline clock.Instant) error {
	if m.word.CompareAndSwap(0, locked) { // M1
		return nil
	}
	return m.lockSlow(context.Background(), deadline)
}

// TryLock takes the lock if it is free, and reports whether it has.
func (m *Mutex) TryLock() bool { return m.word.CompareAndSwap(0, locked) } // M1

// Unlock releases the lock. It panics if the lock is not taken. As with sync.Mutex, it need not be the goroutine that
// took it.
func (m *Mutex) Unlock() {
	if m.word.CompareAndSwap(locked, 0) { // M2
		return
	}
	m.unlockSlow()
}

// Stats reports who waits for the lock.
func (m *Mutex) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats(int64(m.word.Load() & locked))
	if m.coming {
		s.Waiting++
	}
	return s
}

// Locker returns m as a [sync.Locker], whose Lock waits without a bound.
func (m *Mutex) Locker() sync.Locker { return (*locker)(m) }

type locker Mutex

func (l *locker) Lock()   { _ = (*Mutex)(l).LockUntil(clock.Forever) }
func (l *locker) Unlock() { (*Mutex)(l).Unlock() }

func (m *Mutex) lockSlow(ctx context.Context, deadline clock.Instant) error {
	notNil("Lock", ctx)
	if err := park.Err(ctx); err != nil {
		return err
	}
	if m.spin() {
		return nil
	}
	if deadline != clock.Forever && deadline <= clock.Now() {
		if m.TryLock() {
			return nil
		}
		return os.ErrDeadlineExceeded
	}
	w := park.GetUntil(deadline)
	err := m.lockWaiting(ctx, deadline, w)
	park.Put(w) // not deferred: a waiter that a panic passed by is still queued
	return err
}

func (m *Mutex) lockWaiting(ctx context.Context, deadline clock.Instant, w *park.Waiter) error {
	n := &w.Nodes(1)[0]
	t, took := m.enqueue(w, n, deadline, park.Pending)
	if took {
		return nil
	}
	var l losses
	again := func() (park.Token, bool) {
		// It tries whatever its context says: the wake-up must not be lost. The next wait looks at that.
		if m.word.Load()&locked == 0 && m.tryWoken() {
			took = true
			return t, false
		}
		t, took = m.enqueue(w, n, deadline, l.next())
		return t, !took
	}
	if o := m.wait(ctx, w, n, &t, again); took || o == granted { // M5
		return nil
	}
	m.dequeue(n)
	return failure(ctx, deadline)
}

// losses are those of a waiter that was woken, and was too late.
type losses struct {
	n     int
	since clock.Instant
}

// next counts one more, and says how to be woken next time: granted, if the waiter has starved. The clock is read at every
// fourth loss: it costs a tenth of one.
func (l *losses) next() park.Outcome {
	l.n++
	switch {
	case l.n == 1:
		l.since = clock.Now()
	case l.n%4 == 0 && clock.Now().Sub(l.since) > starving:
		return granted
	}
	return park.Woken
}

// wait is safeWait for a wait that begins again; t is the token of the one under way.
func (m *Mutex) wait(ctx context.Context, w *park.Waiter, n *park.Node, t *park.Token, again func() (park.Token, bool)) (o park.Outcome) {
	returned := false
	defer func() {
		if !returned {
			m.undo(n, w.Withdraw(*t))
		}
	}()
	o = w.WaitAgain(ctx, *t, park.KindLock, again)
	returned = true
	return o
}

// undo gives back what a waiter that a panic passes by has got.
func (m *Mutex) undo(n *park.Node, o park.Outcome) {
	switch o {
	case granted:
		m.Unlock()
	case park.Woken:
		if !m.tryLeave() {
			m.Unlock()
		}
	default:
		m.dequeue(n)
	}
}

// failure is the error of a Lock that its context or its deadline ended; the context first.
func failure(ctx context.Context, deadline clock.Instant) error {
	if deadline != clock.Forever && ctx.Err() == nil {
		return os.ErrDeadlineExceeded
	}
	return park.Reason(ctx)
}

// spin takes the lock if it is free, and looks again a few times, far enough apart for a holder on another processor
// to be undisturbed, unless others are queued.
func (m *Mutex) spin() bool {
	for i := range spins {
		s := m.word.Load()
		if s == 0 && m.TryLock() {
			return true
		}
		if s&queued != 0 || i == 0 && runtime.GOMAXPROCS(0) == 1 {
			return false
		}
		for range pause {
		}
	}
	return false
}

// enqueue takes the lock after all (ok), or queues w, which it has armed: at the end, or, if it was woken before, at the
// front, to be woken with next: Pending says that it was not.
func (m *Mutex) enqueue(w *park.Waiter, n *park.Node, deadline clock.Instant, next park.Outcome) (t park.Token, ok bool) {
	again := next != park.Pending
	t = w.Arm(deadline) // it takes a timer shard's lock: not while others want mu
	step.At("mutex.enqueue")
	m.mu.Lock()
	if again {
		m.coming = false // M6
	}
	if m.takeOrMark(queued) {
		m.mu.Unlock()
		w.Withdraw(t)
		return t, true
	}
	m.waiting++
	if again {
		m.queue.PushFront(n, w, t, next)
	} else {
		m.waits++
		m.queue.PushBack(n, w, t, park.Woken)
	}
	m.mu.Unlock()
	return t, false
}

// takeOrMark takes the lock if it is free. If it is not it sets mark, queued or nothing.
//
// Preconditions: mu is held.
func (m *Mutex) takeOrMark(mark uint32) bool {
	for {
		s := m.word.Load()
		next := s | mark // M3
		if s == 0 {
			next = locked // M1
			if !m.coming && !m.queue.Empty() {
				next |= queued
			}
		}
		step.At("mutex.set")
		if m.word.CompareAndSwap(s, next) {
			return s == 0
		}
	}
}

// tryWoken: M6, by the waiter that is coming, if the lock is free.
func (m *Mutex) tryWoken() bool {
	step.At("mutex.try")
	m.mu.Lock()
	defer m.mu.Unlock()
	invariant.True(m.coming, "syncs: a woken waiter of whom nobody knows")
	m.coming = false
	if m.takeOrMark(0) {
		return true
	}
	m.coming = true // still
	return false
}

// tryLeave: M6, by the waiter that was coming, while the lock is taken. If it is free the waiter takes it instead: nobody
// else may be on the way.
func (m *Mutex) tryLeave() bool {
	step.At("mutex.leave")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.coming = false
	var mark uint32
	if !m.queue.Empty() {
		mark = queued
	}
	return !m.takeOrMark(mark)
}

// dequeue takes out a waiter that was canceled or has expired, and so was not woken.
func (m *Mutex) dequeue(n *park.Node) {
	step.At("mutex.dequeue")
	m.mu.Lock()
	m.fail()
	m.queue.Remove(n)
	if m.queue.Empty() {
		m.word.And(^uint32(queued))
	}
	m.mu.Unlock()
}

func (m *Mutex) unlockSlow() {
	for {
		s := m.word.Load()
		if s&locked == 0 {
			panic("bide/syncs: unlock of unlocked Mutex")
		}
		step.At("mutex.unlock")
		if s == locked {
			if m.word.CompareAndSwap(locked, 0) { // M2
				return
			}
			continue
		}
		m.mu.Lock()
		if m.word.Load() == locked|queued {
			m.hand()
			return
		}
		m.mu.Unlock() // changed meanwhile
	}
}

// hand wakes the first who can be, or hands him the lock.
//
// Preconditions: mu is held, and released on return; locked and queued: nobody else changes the word.
func (m *Mutex) hand() {
	var w *park.Waiter
	var o park.Outcome
	if !m.coming {
		w, o = m.queue.Resolve()
	}
	var next uint32
	switch {
	case w == nil: // M2: everybody has left, or one is coming
	case o != granted: // M4
		m.coming = true
	default:
		next = locked // M5
		if !m.queue.Empty() {
			next |= queued
		}
	}
	step.At("mutex.hand")
	m.word.Store(next)
	if w != nil {
		m.end()
	}
	m.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}
