package park_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Wait releases the lock w, waits for the next Broadcast of c, and takes w again, without a bound.
//
// Preconditions: the caller holds w, and does on return, whatever the error.
func (l *Words) Wait(ctx context.Context, c, w *Word) (err error) {
	if err := park.Err(ctx); err != nil {
		return err
	}
	before := c.Load()
	l.Unlock(w)
	o := l.lot.Park(ctx, c, clock.Forever, kindWord, func() bool { return c.Load() == before })
	if o == park.Canceled {
		err = park.Reason(ctx)
	}
	_ = l.Lock(context.Background(), w)
	return err
}

// Broadcast ends all Waits for c. Those who wait could not go on before w is free, and then only one: so none is woken
// here, and all are moved to those who wait for w.
//
// Preconditions: the caller holds w.
func (l *Words) Broadcast(c, w *Word) {
	c.Add(1)
	l.lot.Requeue(c, w, park.All, func() bool { return mark(w) })
}

// A condition variable of four bytes: its Broadcast moves those who wait to the lock that they need next.
func ExampleLot_Requeue() {
	ctx := context.Background()
	var (
		words   Words
		mu      Word
		arrived Word
		ready   bool
	)
	_ = words.Lock(ctx, &mu)
	err := bide.FailAfter(ctx, time.Millisecond, func(ctx context.Context) error { return words.Wait(ctx, &arrived, &mu) })
	fmt.Println("nobody came:", err != nil)
	words.Unlock(&mu)

	err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		for range 5 {
			n.Go(func(ctx context.Context) error {
				if err := words.Lock(ctx, &mu); err != nil {
					return err
				}
				defer words.Unlock(&mu)
				for !ready {
					if err := words.Wait(ctx, &arrived, &mu); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := words.Lock(ctx, &mu); err != nil {
			return err
		}
		ready = true
		words.Broadcast(&arrived, &mu)
		words.Unlock(&mu)
		return nil
	})
	fmt.Println("all went on:", err)

	// Output:
	// nobody came: true
	// all went on: <nil>
}
