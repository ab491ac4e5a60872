package syncs

import (
	"context"
	"sync"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A KeyedMutex is a mutual exclusion lock for each key. Keys have nothing to do with each other, and one that is not
// locked costs nothing. The zero KeyedMutex has no key locked.
//
// # Fairness
//
// It is FIFO for each key: Unlock hands the key to who has waited for it longest, and nobody can take it in between.
//
// # Cancellation
//
// A Lock that returns an error has not taken the key, and is out of its queue. A canceled context is seen even when the
// key is free.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// The n-th Unlock of a key synchronizes before the return of its m-th successful Lock or TryLock, for n < m. Between
// different keys nothing is promised.
//
// # State
//
//	keys  a key's queue, while the key is locked; under mu
//
//	K1 free → locked     Lock, TryLock: the key gets a queue
//	K2 locked → locked   Unlock: handed to the first in the queue who is still there
//	K3 locked → free     Unlock: nobody is; the key's queue goes
//	K4 queue             Lock: the key is locked
//	K5 leave             a waiter that was canceled takes itself out
//
//	I1 a key is in keys if and only if it is locked
type KeyedMutex[K comparable] struct {
	_ noCopy

	mu   step.Mutex // before a timer shard's. Of a user, only the comparison of keys is called with it held
	keys table[K, *park.List]
}

// keyQueues are the queues of keys that are not locked. They are empty.
var keyQueues = sync.Pool{New: func() any { return new(park.List) }}

// Lock takes the lock of k, waiting for it as long as ctx allows. It returns nil if and only if it has taken it. It
// panics if k is not equal to itself, as a NaN is not: such a key could not be unlocked.
func (m *KeyedMutex[K]) Lock(ctx context.Context, k K) error {
	notNil("Lock", ctx)
	if err := park.Err(ctx); err != nil {
		return err
	}
	if m.TryLock(k) {
		return nil
	}
	w := park.Get()
	n := &w.Nodes(1)[0]
	q, t := m.enqueue(w, n, k)
	if q == nil {
		park.Put(w)
		return nil
	}
	o := safeWait(ctx, w, t, park.KindLock, func(o park.Outcome) {
		if o == park.Woken {
			m.Unlock(k)
		} else {
			m.dequeue(q, n)
		}
	})
	if o != park.Woken {
		m.dequeue(q, n)
	}
	park.Put(w) // not deferred: a waiter that a panic passed by is not for the pool
	if o != park.Woken {
		return park.Reason(ctx)
	}
	return nil
}

// TryLock takes the lock of k if it is free, and reports whether it has. It panics if k is not equal to itself.
func (m *KeyedMutex[K]) TryLock(k K) bool {
	if k != k { // or it panics, here and not with mu held, since k's type in an interface has no equality
		panic("bide/syncs: lock of a key that is not equal to itself")
	}
	step.At("keyedmutex.try")
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.takeLocked(k)
}

// Unlock releases the lock of k. It panics if that is not taken. It need not be the goroutine that took it.
func (m *KeyedMutex[K]) Unlock(k K) {
	step.At("keyedmutex.unlock")
	if w := m.hand(k); w != nil {
		w.Unpark()
	}
}

// Len returns how many keys are locked.
func (m *KeyedMutex[K]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.keys.m)
}

// takeLocked: K1.
func (m *KeyedMutex[K]) takeLocked(k K) bool {
	if m.keys.m[k] != nil {
		return false
	}
	m.keys.set(k, keyQueues.Get().(*park.List))
	return true
}

// enqueue takes the lock after all (nil), or arms w and puts it into the key's queue.
func (m *KeyedMutex[K]) enqueue(w *park.Waiter, n *park.Node, k K) (*park.List, park.Token) {
	step.At("keyedmutex.enqueue")
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.takeLocked(k) {
		return nil, park.Token{}
	}
	q, t := m.keys.m[k], w.Arm(clock.Forever)
	q.PushBack(n, w, t, park.Woken) // K4
	return q, t
}

// dequeue takes out a waiter that was not handed the lock. If q is not the key's any more, n is not in it.
func (m *KeyedMutex[K]) dequeue(q *park.List, n *park.Node) {
	step.At("keyedmutex.dequeue")
	m.mu.Lock()
	q.Remove(n) // K5
	m.mu.Unlock()
}

// hand frees the key, or hands it over to the waiter that it returns.
func (m *KeyedMutex[K]) hand(k K) *park.Waiter {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.keys.m[k]
	if q == nil {
		panic("bide/syncs: unlock of unlocked key of a KeyedMutex")
	}
	w, _ := q.Resolve()
	if w == nil { // K3, else K2
		m.keys.drop(k)
		keyQueues.Put(q)
	}
	return w
}
