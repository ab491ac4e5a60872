package syncs

import (
	"context"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Cond is a condition variable: goroutines that hold a lock wait until something that the lock guards has changed, and
// let others have the lock meanwhile. L is that lock, set before the first Wait and not changed after: a sync.Mutex, the
// Locker of a [Mutex], [FairMutex] or [RWMutex], or any other.
//
//	for !ready {
//		if err := c.Wait(ctx); err != nil {
//			return err // the lock is held here too
//		}
//	}
//
// # Fairness
//
// Signal wakes who has waited longest. Who then gets L first is L's affair, so that the condition is looked at again
// after Wait.
//
// # Cancellation
//
// A Wait that returns an error has consumed no Signal: one that met it in the instant of its cancellation wakes the next.
// It holds L when it returns, whatever it returns. To take L again nothing bounds it: it lasts as long as others keep L.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// A Signal or Broadcast synchronizes before the return of any Wait that it wakes.
//
// # State
//
//	queued  somebody is in the queue; read anywhere, changed under mu
//
//	C1 wait    a waiter joins the queue, holding L                  Wait
//	C2 wake    the first who can be is resolved Woken               Signal
//	C3 all     everybody in the queue is                            Broadcast
//	C4 leave   a waiter that was canceled takes itself out          Wait
//
//	I1 while mu is free, queued is set if and only if the queue is not empty
//	I2 who waits was in the queue before it gave up L: who changes something with L held, and calls Signal after that,
//	   finds it, or finds that it is awake
type Cond struct {
	_ noCopy
	L sync.Locker

	queued atomic.Bool

	mu    step.Mutex // nothing of a user, L least of all, is called with it held
	queue park.List
}

// Wait unlocks L, waits for a Signal or Broadcast, or until ctx ends, and locks L again. It returns nil if it was woken,
// else why ctx ended. If ctx is canceled already, it returns at once and L was not unlocked. The caller holds L; Wait
// panics if L is nil.
func (c *Cond) Wait(ctx context.Context) error {
	notNil("Wait of a Cond", ctx)
	if c.L == nil {
		panic("bide/syncs: Wait of a Cond without L")
	}
	if err := park.Err(ctx); err != nil {
		return err
	}
	if c.wait(ctx) == park.Woken {
		return nil
	}
	return park.Reason(ctx)
}

// wait waits without L. Whatever a panic of ctx or of L leaves behind it, a signal is passed on, and L is as it was.
func (c *Cond) wait(ctx context.Context) park.Outcome {
	w := park.Get()
	n := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever)
	c.add(n, w, t)

	o := park.Pending
	unlocked, done := false, false
	defer func() {
		if done {
			return
		}
		if o == park.Pending {
			o = w.Withdraw(t)
		}
		if o == park.Woken {
			c.Signal()
		} else {
			c.remove(n)
		}
		if unlocked {
			c.L.Lock()
		}
	}()
	step.At("cond.unlock")
	c.L.Unlock()
	unlocked = true
	o = w.Wait(ctx, t, park.KindCond)
	unlocked = false
	if o != park.Woken {
		c.remove(n)
	}
	step.At("cond.lock")
	c.L.Lock()
	done = true
	park.Put(w) // not deferred: a waiter that a panic passed by is not for the pool
	return o
}

// Signal wakes one goroutine that waits, if there is one. The caller may hold L, and need not.
func (c *Cond) Signal() {
	step.At("cond.signal")
	if !c.queued.Load() {
		return
	}
	c.mu.Lock()
	w, _ := c.queue.Resolve() // C2
	c.queued.Store(!c.queue.Empty())
	c.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

// Broadcast wakes all goroutines that wait. The caller may hold L, and need not.
func (c *Cond) Broadcast() {
	step.At("cond.broadcast")
	if !c.queued.Load() {
		return
	}
	var woken park.Batch
	c.mu.Lock()
	woken.Resolve(&c.queue, park.All) // C3
	c.queued.Store(false)
	c.mu.Unlock()
	woken.Unpark()
}

func (c *Cond) add(n *park.Node, w *park.Waiter, t park.Token) {
	step.At("cond.add")
	c.mu.Lock()
	c.queue.PushBack(n, w, t, park.Woken) // C1
	c.queued.Store(true)
	c.mu.Unlock()
}

func (c *Cond) remove(n *park.Node) {
	step.At("cond.remove")
	c.mu.Lock()
	c.queue.Remove(n) // C4
	c.queued.Store(!c.queue.Empty())
	c.mu.Unlock()
}
