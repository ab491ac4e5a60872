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

// The state of a RWMutex.
//
// Writers are kept apart by w, a Mutex: who holds it is inside, or waits for the readers inside to leave, which is
// called draining. The word is between this one writer and the readers:
//
//	bit 0    writing  a writer is inside or draining: readers queue
//	bit 1    reading  a reader is in the queue. Set, and cleared with the queue empty, under mu
//	bits 2–  readers  how many are inside
//
//	R1 readers + 1       RLock: an addition, which counts unless writing was set; TryRLock: CAS, while not writing
//	R2 readers − 1       RUnlock; an RLock whose addition did not count: CAS, while writing. If writing is clear by then,
//	                     it counts after all
//	R3 writing: set      by who holds w: Lock; TryLock, if there are no readers
//	R4 draining → inside the last reader has left: the writer is resolved, under mu, by whoever took R2
//	R5 reading: set      a reader, under mu, before it queues itself; only while writing
//	R6 writing: cleared  by who holds w: Unlock, or a draining writer that is canceled. If readers are queued, under mu,
//	                     and in the same step they are let in: readers + n, reading cleared
//	R7 reading: cleared  a reader that was canceled leaves the queue as the last, under mu
//
//	I1 while mu is free, reading is set if and only if the queue of readers is not empty
//	I2 reading only with writing; writing only while w is taken
//	I3 with a writer inside, readers are such as have not taken R2 yet
//
// The word is signed, so that a misused RUnlock that comes through does not look like many readers.

// A RWMutex is a lock that is held by any number of readers or by one writer. The zero RWMutex is unlocked.
//
// # Fairness
//
// Writers have priority over readers that come after them: while one waits for the readers inside to leave, no other
// reader goes in. At the end of a writer the readers that have come meanwhile go in, all at once, before the next
// writer. So neither keeps the other out for ever. Among writers it is as with [Mutex], among readers there is no order.
//
// A goroutine that holds the lock for reading must not ask for it once more: if a writer has come between, it waits for
// the first RLock to end and keeps the second from going in. That ends with the context of one of them, and not before.
//
// # Cancellation
//
// A Lock or RLock that returns an error has not taken the lock, and leaves nothing behind: if a writer was canceled, the
// readers that it kept waiting go in. A canceled context is seen even when the lock is free.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// An Unlock synchronizes before the return of every successful Lock, TryLock, RLock and TryRLock after it, and an RUnlock
// before that of every successful Lock and TryLock after it.
type RWMutex struct {
	_    noCopy
	word atomic.Int32
	w    Mutex

	mu      step.Mutex // before a timer shard's; nothing of a user is called with it held
	readers park.List
	drainer park.List // one writer at most
	counts            // of readers and drainers; of those who wait for w, it keeps account itself
}

const (
	writing = 1
	reading = 2
	reader  = 4 // one of them, inside

	negative = -1 << 31
)

// RLock takes the lock for reading, waiting for it as long as ctx allows. It returns nil if and only if it has taken it.
// Uncontended it costs ctx.Err and one atomic addition.
func (m *RWMutex) RLock(ctx context.Context) error {
	notNil("RLock", ctx)
	if ctx.Err() == nil && (m.word.Add(reader)&writing == 0 || m.retract()) { // R1
		return nil
	}
	return m.rlockSlow(ctx, clock.Forever)
}

// RLockUntil is RLock with a deadline in place of a context; see [RWMutex.LockUntil].
func (m *RWMutex) RLockUntil(deadline clock.Instant) error {
	if m.TryRLock() {
		return nil
	}
	return m.rlockSlow(context.Background(), deadline)
}

// TryRLock takes the lock for reading if no writer has it or waits for it, and reports whether it has.
func (m *RWMutex) TryRLock() bool {
	for {
		v := m.word.Load()
		if v&writing != 0 {
			return false
		}
		if m.word.CompareAndSwap(v, v+reader) { // R1
			return true
		}
	}
}

// RUnlock undoes one RLock. It panics if no reader is inside.
func (m *RWMutex) RUnlock() {
	if v := m.word.Add(-reader); v&(negative|writing) != 0 { // R2
		m.runlockSlow(v)
	}
}

// Lock takes the lock for writing, waiting for it as long as ctx allows. It returns nil if and only if it has taken it.
// Uncontended it costs ctx.Err and two compare-and-swaps.
func (m *RWMutex) Lock(ctx context.Context) error {
	notNil("Lock", ctx)
	if ctx.Err() == nil && m.w.word.CompareAndSwap(0, locked) { // w's M1
		if m.word.CompareAndSwap(0, writing) { // R3
			return nil
		}
		return m.drain(ctx, clock.Forever)
	}
	return m.lockSlow(ctx, clock.Forever)
}

// LockUntil is Lock with a deadline, an instant of the monotonic clock, in place of a context. After it the error is
// [os.ErrDeadlineExceeded]; a deadline that has passed is a TryLock.
func (m *RWMutex) LockUntil(deadline clock.Instant) error {
	if m.TryLock() {
		return nil
	}
	return m.lockSlow(context.Background(), deadline)
}

// TryLock takes the lock for writing if it is free, and reports whether it has. For a moment it may report false although
// nobody is inside: while an Unlock, whose readers have come and gone meanwhile, has not returned.
func (m *RWMutex) TryLock() bool {
	if m.word.Load() != 0 || !m.w.TryLock() {
		return false
	}
	step.At("rwmutex.try")
	if m.word.CompareAndSwap(0, writing) { // R3
		return true
	}
	m.w.Unlock()
	return false
}

// Unlock releases the lock that was taken for writing. It panics if it is not. As with sync.RWMutex, it need not be the
// goroutine that took it.
func (m *RWMutex) Unlock() {
	if m.word.CompareAndSwap(writing, 0) { // R6
		m.w.Unlock()
		return
	}
	m.unlockSlow()
}

// Locker returns m as a [sync.Locker] for writing, whose Lock waits without a bound.
func (m *RWMutex) Locker() sync.Locker { return (*rwLocker)(m) }

type rwLocker RWMutex

func (l *rwLocker) Lock()   { _ = (*RWMutex)(l).LockUntil(clock.Forever) }
func (l *rwLocker) Unlock() { (*RWMutex)(l).Unlock() }

// RLocker returns m as a [sync.Locker] for reading, whose Lock waits without a bound.
func (m *RWMutex) RLocker() sync.Locker { return (*rLocker)(m) }

type rLocker RWMutex

func (l *rLocker) Lock()   { _ = (*RWMutex)(l).RLockUntil(clock.Forever) }
func (l *rLocker) Unlock() { (*RWMutex)(l).RUnlock() }

// Stats reports who has the lock and who waits for it. A writer that waits for other writers and then for readers has
// waited twice.
func (m *RWMutex) Stats() Stats {
	w := m.w.Stats()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats(0)
	if v := m.word.Load(); v&writing == 0 || !m.drainer.Empty() {
		s.Held = int64(v / reader)
	} else {
		s.Held = w.Held
	}
	s.Waiting += w.Waiting
	s.Waits += w.Waits
	s.Failed += w.Failed
	return s
}

// retract takes an R1 back that did not count: R2. If there is no writer any more, it counts after all (true).
func (m *RWMutex) retract() bool {
	for {
		v := m.word.Load()
		switch {
		case v&writing == 0:
			return true
		case v < reader: // an RUnlock too many has taken ours
			return false
		}
		step.At("rwmutex.retract")
		if m.word.CompareAndSwap(v, v-reader) {
			m.runlockSlow(v - reader)
			return false
		}
	}
}

func (m *RWMutex) rlockSlow(ctx context.Context, deadline clock.Instant) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	if m.TryRLock() {
		return nil
	}
	if deadline != clock.Forever && deadline <= clock.Now() {
		return os.ErrDeadlineExceeded
	}
	w := park.GetUntil(deadline)
	n := &w.Nodes(1)[0]
	t, ok := m.enqueue(w, n, deadline)
	if ok {
		park.Put(w)
		return nil
	}
	undo := func(o park.Outcome) {
		if o == park.Woken {
			m.RUnlock()
		} else {
			m.dequeue(n)
		}
	}
	o := safeWait(ctx, w, t, park.KindLock, undo)
	if o != park.Woken {
		m.dequeue(n)
	}
	park.Put(w) // not deferred: a waiter that a panic passed by is not for the pool
	if o != park.Woken {
		return failure(ctx, deadline)
	}
	return nil
}

// enqueue takes the lock for reading after all (ok), or arms w and queues it.
func (m *RWMutex) enqueue(w *park.Waiter, n *park.Node, deadline clock.Instant) (t park.Token, ok bool) {
	step.At("rwmutex.enqueue")
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		v := m.word.Load()
		next := v | reading // R5
		if v&writing == 0 {
			next = v + reader // R1
		}
		step.At("rwmutex.set")
		if !m.word.CompareAndSwap(v, next) {
			continue
		}
		if v&writing == 0 {
			return t, true
		}
		break
	}
	t = w.Arm(deadline)
	m.readers.PushBack(n, w, t, park.Woken)
	m.begin()
	return t, false
}

// dequeue takes out a reader that was canceled or has expired, and so was not let in.
func (m *RWMutex) dequeue(n *park.Node) {
	step.At("rwmutex.dequeue")
	m.mu.Lock()
	m.fail()
	m.readers.Remove(n)
	if m.readers.Empty() {
		m.word.And(^reading) // R7
	}
	m.mu.Unlock()
}

func (m *RWMutex) lockSlow(ctx context.Context, deadline clock.Instant) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	if deadline != clock.Forever && deadline <= clock.Now() {
		if m.TryLock() {
			return nil
		}
		return os.ErrDeadlineExceeded
	}
	if err := m.w.lockSlow(ctx, deadline); err != nil {
		return err
	}
	return m.drain(ctx, deadline)
}

// drain waits for the readers inside to leave.
//
// Preconditions: w is held. If drain fails it is not any more.
func (m *RWMutex) drain(ctx context.Context, deadline clock.Instant) error {
	step.At("rwmutex.drain")
	if m.word.Or(writing) < reader { // R3
		return nil
	}
	w := park.GetUntil(deadline)
	n := &w.Nodes(1)[0]
	step.At("rwmutex.enter")
	m.mu.Lock()
	if m.word.Load() < reader {
		m.mu.Unlock()
		park.Put(w)
		return nil
	}
	t := w.Arm(deadline)
	m.drainer.PushBack(n, w, t, park.Woken)
	m.begin()
	m.mu.Unlock()
	o := safeWait(ctx, w, t, park.KindLock, func(o park.Outcome) { m.undoDrain(n, o) })
	if o != park.Woken {
		m.undoDrain(n, o)
	}
	park.Put(w) // not deferred, as above
	if o != park.Woken {
		return failure(ctx, deadline)
	}
	return nil
}

// undoDrain ends the part of a writer that was draining: its context has ended, or has panicked.
func (m *RWMutex) undoDrain(n *park.Node, o park.Outcome) {
	if o != park.Woken {
		step.At("rwmutex.undo")
		m.mu.Lock()
		m.fail()
		m.drainer.Remove(n)
		m.mu.Unlock()
	}
	m.leave()
}

// runlockSlow: v is what RUnlock has left. If a writer drains and this was the last reader, the writer is in. While it is
// in the list no reader goes in, so that if there is none now, there is none.
func (m *RWMutex) runlockSlow(v int32) {
	if v < 0 {
		m.word.Add(reader) // as it was
		panic("bide/syncs: RUnlock of unlocked RWMutex")
	}
	if v >= reader {
		return
	}
	step.At("rwmutex.drained")
	m.mu.Lock()
	var w *park.Waiter
	if m.word.Load() < reader {
		if w, _ = m.drainer.Resolve(); w != nil { // R4
			m.end()
		}
	}
	m.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

func (m *RWMutex) unlockSlow() {
	m.mu.Lock()
	inside := m.word.Load()&writing != 0 && m.drainer.Empty()
	m.mu.Unlock()
	if !inside {
		panic("bide/syncs: unlock of unlocked RWMutex")
	}
	m.leave()
}

// leave ends the part of the writer that holds w, inside or draining, and lets in all readers that wait.
func (m *RWMutex) leave() {
	m.admit()
	step.At("rwmutex.leave")
	m.w.Unlock()
}

func (m *RWMutex) admit() {
	invariant.True(m.w.word.Load()&locked != 0, "syncs: a writer is inside, or drains, without w")
	var in park.Batch
	m.mu.Lock()
	n := in.Resolve(&m.readers, park.All)
	m.waiting -= n
	step.At("rwmutex.admit")
	m.word.Add(reader*int32(n) - m.word.Load()&(writing|reading)) // R6
	m.mu.Unlock()
	in.Unpark()
}
