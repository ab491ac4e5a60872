package park_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A Word is a lock of four bytes, or a counter.
type Word = atomic.Uint32

// Words is where those wait who want a Word: one lot for as many as there are, since a Word has no room for a queue.
type Words struct{ lot park.Lot }

const (
	locked = 1 << iota
	parked // somebody may be in the lot; set and cleared under the lot's lock
)

// Lock takes the lock w, waiting for it as long as ctx allows.
func (l *Words) Lock(ctx context.Context, w *Word) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	for !take(w) {
		switch l.lot.Park(ctx, w, clock.Forever, kindWord, func() bool { return mark(w) }) {
		case park.Woken, park.Self: // released, or free when it was looked at again: try
		case park.Canceled:
			return park.Reason(ctx)
		}
	}
	return nil
}

// Unlock releases the lock w, and wakes the first who waits for it.
func (l *Words) Unlock(w *Word) {
	if w.CompareAndSwap(locked, 0) {
		return
	}
	l.lot.Wake(w, 1, park.Woken, func(_, left int) {
		if left > 0 {
			w.Store(parked)
		} else {
			w.Store(0) // also if all that were parked have left
		}
	})
}

// take locks w if it is free.
func take(w *Word) bool {
	for {
		s := w.Load()
		if s&locked != 0 {
			return false
		}
		if w.CompareAndSwap(s, s|locked) {
			return true
		}
	}
}

// mark says that somebody is parked, unless w is free.
func mark(w *Word) bool {
	for {
		s := w.Load()
		if s&locked == 0 {
			return false
		}
		if w.CompareAndSwap(s, s|parked) {
			return true
		}
	}
}

const kindWord = park.KindUser + 2

// A table with a lock in every row, and one place to wait for all of them.
func ExampleLot() {
	var words Words
	rows := make([]struct {
		lock Word
		n    int
	}, 1000)

	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		for range 10 {
			n.Go(func(ctx context.Context) error {
				for i := range rows {
					if err := words.Lock(ctx, &rows[i].lock); err != nil {
						return err
					}
					rows[i].n++
					words.Unlock(&rows[i].lock)
				}
				return nil
			})
		}
		return nil
	})

	sum := 0
	for i := range rows {
		sum += rows[i].n
	}
	fmt.Println(sum, err)

	// Output:
	// 10000 <nil>
}
