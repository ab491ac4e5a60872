package netio

import (
	"context"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A turn is a lock of one word: one operation at a time.
//
//	taken    bit 0
//	wanted   bit 1: somebody may be in the lot; set and cleared under the lot's lock. Set in vain it costs one look.
//
//	R1 free → taken          tryTake, whatever wanted is
//	R2 taken → taken wanted  want, filed in the same section
//	R3 taken → free          give, not wanted
//	R4 taken wanted → free   give, which wakes the first in the lot to try; wanted stays while somebody is left there
type turn struct{ word atomic.Uint32 }

const (
	taken = 1 << iota
	wanted
)

// turns is where those wait who want one: no connection needs room for them.
var turns park.Lot

// take waits for the turn as long as ctx allows.
func (t *turn) take(ctx context.Context, k park.Kind) error {
	if t.word.CompareAndSwap(0, taken) { // R1
		return nil
	}
	return t.wait(ctx, k)
}

func (t *turn) wait(ctx context.Context, k park.Kind) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	for !t.tryTake() {
		if turns.Park(ctx, t, clock.Forever, k, t.want) == park.Canceled {
			return park.Reason(ctx)
		}
	}
	return nil
}

func (t *turn) tryTake() bool {
	for {
		w := t.word.Load()
		if w&taken != 0 {
			return false
		}
		if t.word.CompareAndSwap(w, w|taken) { // R1
			return true
		}
	}
}

// want reports whether the turn is somebody else's, who knows now.
func (t *turn) want() bool {
	for {
		w := t.word.Load()
		if w&taken == 0 {
			return false
		}
		if t.word.CompareAndSwap(w, w|wanted) { // R2
			return true
		}
	}
}

func (t *turn) give() {
	if !t.word.CompareAndSwap(taken, 0) { // R3
		t.wake()
	}
}

func (t *turn) wake() {
	turns.Wake(t, 1, park.Woken, func(_, left int) { // R4
		if left > 0 {
			t.word.Store(wanted)
		} else {
			t.word.Store(0)
		}
	})
}
