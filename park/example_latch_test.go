package park_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A Latch opens when it has been counted down to zero, and stays open. It is a primitive of one's own: bounded and
// canceled like those of package syncs, under any context, without a goroutine, a channel or an allocation a wait.
type Latch struct {
	mu      sync.Mutex
	left    int
	closed  bool
	waiting park.List
}

var errClosed = errors.New("the latch was closed")

func NewLatch(n int) *Latch { return &Latch{left: n} }

// Wait waits until the latch is open; or it returns why ctx ended before, or that the latch was closed.
func (l *Latch) Wait(ctx context.Context) error {
	if err := park.Err(ctx); err != nil { // a canceled call does nothing
		return err
	}
	w := park.Get()
	n := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever) // arm: ctx is the bound, so no deadline of its own
	o := park.Woken

	l.mu.Lock()
	if l.left <= 0 || l.closed { // look again, under the lock that guards the list
		if l.closed {
			o = park.Closed
		}
		l.mu.Unlock()
		w.Withdraw(t)
	} else {
		l.waiting.PushBack(n, w, t, park.Woken) // publish
		l.mu.Unlock()
		if o = w.Wait(ctx, t, kindLatch); o == park.Canceled {
			l.mu.Lock()
			l.waiting.Remove(n) // leave nothing behind
			l.mu.Unlock()
		}
	}
	park.Put(w)
	switch o {
	case park.Woken: // opened, whatever ctx says meanwhile; who resolved took the node out
		return nil
	case park.Closed:
		return errClosed
	}
	return park.Reason(ctx)
}

// CountDown counts one down.
func (l *Latch) CountDown() {
	var all park.Batch
	l.mu.Lock()
	if l.left--; l.left == 0 {
		all.Resolve(&l.waiting, park.All)
	}
	l.mu.Unlock()
	all.Unpark() // owed to each that was resolved; with no lock held that they want
}

// Close gives up: all Waits fail, unless the latch is open.
func (l *Latch) Close() {
	var all park.Batch
	l.mu.Lock()
	l.closed = l.left > 0
	all.ResolveAs(&l.waiting, park.All, park.Closed)
	l.mu.Unlock()
	all.Unpark()
}

const kindLatch = park.KindUser

// A countdown latch, written on the exported API only.
func Example_latch() {
	ctx := context.Background()
	l := NewLatch(3)

	err := bide.FailAfter(ctx, time.Millisecond, l.Wait)
	fmt.Println("nobody counts:", errors.Is(err, context.DeadlineExceeded))

	err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		for range 3 {
			n.Go(func(context.Context) error { l.CountDown(); return nil })
		}
		return l.Wait(ctx)
	})
	fmt.Println("counted down:", err)

	l = NewLatch(1)
	err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(context.Context) error { l.Close(); return nil })
		return l.Wait(ctx)
	})
	fmt.Println("given up:", err)

	// Output:
	// nobody counts: true
	// counted down: <nil>
	// given up: the latch was closed
}
