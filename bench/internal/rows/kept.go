package rows

import (
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// kept is a reusable owner as small as one gets, a connection or a waiter in little: it leaves its entry in the
// service while it is idle. To arm it is a store of the deadline, if that changed, and one of the word; to cancel it
// is a compare-and-swap.
type kept struct {
	timer.Entry
	due  atomic.Int64
	word atomic.Uint64 // a generation, and whether it is armed
}

func newKept() *kept {
	k := new(kept)
	k.Init(k)
	return k
}

func (k *kept) Due(now clock.Instant) (clock.Instant, bool) {
	w := k.word.Load()
	if w&1 == 0 {
		return clock.Forever, false
	}
	if due := clock.Instant(k.due.Load()); due > now {
		return due, false
	}
	return clock.Forever, k.word.CompareAndSwap(w, w&^1)
}

func (k *kept) Fire(clock.Instant) {}

func (k *kept) arm(s *timer.Service, due clock.Instant) uint64 {
	if k.due.Load() != int64(due) {
		k.due.Store(int64(due))
	}
	w := k.word.Load() + 2 | 1
	k.word.Store(w)
	s.Cover(&k.Entry, due)
	return w
}

func (k *kept) resolve(w uint64) bool { return k.word.CompareAndSwap(w, w&^1) }
