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
	waiting park.List
}

func NewLatch(n int) *Latch { return &Latch{left: n} }

// Wait waits until the latch is open; or it returns why ctx ended before.
func (l *Latch) Wait(ctx context.Context) error {
	if err := park.Err(ctx); err != nil { // a canceled call does nothing
		return err
	}
	w := park.Get()
	n := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever) // arm: ctx is the bound, so no deadline of its own
	o := park.Woken

	l.mu.Lock()
	if l.left <= 0 { // look again, under the lock that guards the list
		l.mu.Unlock()
		w.Withdraw(t)
	} else {
		l.waiting.PushBack(n, w, t, park.Woken) // publish
		l.mu.Unlock()
		if o = w.Wait(ctx, t, kindLatch); o != park.Woken {
			l.mu.Lock()
			l.waiting.Remove(n) // leave nothing behind
			l.mu.Unlock()
		}
	}
	park.Put(w)
	if o == park.Woken {
		return nil // opened, whatever ctx says meanwhile; who resolved took the node out
	}
	return park.Reason(ctx)
}

// CountDown counts one down.
func (l *Latch) CountDown() {
	l.mu.Lock()
	var ws []*park.Waiter
	if l.left--; l.left == 0 {
		ws = l.waiting.ResolveAll(nil)
	}
	l.mu.Unlock()
	for _, w := range ws {
		w.Unpark() // owed to each that was resolved; with no lock held that they want
	}
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

	// Output:
	// nobody counts: true
	// counted down: <nil>
}
