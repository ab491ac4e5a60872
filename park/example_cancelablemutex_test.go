package park_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A CancelableMutex is the example of Crystal's RFC 14, "Cancelable timers", on which this package's tokens are modeled:
// a mutex whose lock gives up after a timeout. The numbers are those of its text. What the text calls a fiber is a
// goroutine with its waiter here, its timeout is the deadline given to Arm, and its cancelation token is the Token.
//
// Package syncs has a better Mutex. This one shows that the rule alone is enough: who resolves the token owns the
// wake-up, and nobody else may wake.
type CancelableMutex struct {
	mu      sync.Mutex
	locked  bool
	waiting park.List
}

// TryLockFor tries to take the lock, and reports whether it has. It gives up when timeout has passed.
func (m *CancelableMutex) TryLockFor(timeout time.Duration) bool {
	// The text computes what is left of the timeout each time around. An instant does not need that.
	deadline := clock.After(timeout)
	w := park.GetUntil(deadline)
	n := &w.Nodes(1)[0]
	for {
		m.mu.Lock()
		if !m.locked { // done: lock acquired
			m.locked = true
			m.mu.Unlock()
			park.Put(w)
			return true
		}
		// Still under the lock: an Unlock between the look and step 2 would find nobody.
		token := w.Arm(deadline)                    // 1. arm the timeout
		m.waiting.PushBack(n, w, token, park.Woken) // 2. save the waiter and the token
		m.mu.Unlock()
		o := w.Wait(context.Background(), token, kindMutex) // 3. suspended… 4. and resumed

		if o == park.Expired { // 5. dequeue the waiter
			m.mu.Lock()
			m.waiting.Remove(n)
			m.mu.Unlock()
			park.Put(w)
			return false // done: timeout
		}
		// Unlock canceled the timeout, and took the waiter out of the list: try again. If another was faster, the next
		// wait ends at the same deadline.
	}
}

// Unlock releases the lock.
func (m *CancelableMutex) Unlock() {
	m.mu.Lock()
	m.locked = false
	// The text's loop: take the first waiter out; if its token can be resolved, its timeout is canceled, and it is ours
	// to wake; if not, somebody else wakes it, and the next one is tried.
	w, _ := m.waiting.Resolve()
	m.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

const kindMutex = park.KindUser + 1

// The mutex with a timeout of Crystal's RFC 14, written on the exported API only.
func Example_cancelableMutex() {
	var m CancelableMutex
	fmt.Println("free:", m.TryLockFor(time.Second))
	fmt.Println("taken:", m.TryLockFor(time.Millisecond))

	got := make(chan bool)
	go func() { got <- m.TryLockFor(time.Minute) }()
	m.Unlock()
	fmt.Println("released:", <-got)

	// Output:
	// free: true
	// taken: false
	// released: true
}
