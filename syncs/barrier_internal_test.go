package syncs

import (
	"testing"

	"bide.invalid/bide/park"
)

// Arrived is how many have come, and have not been canceled and left.
func (b *Barrier) Arrived() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.arrived
}

func TestBarrierTransitions(t *testing.T) {
	b := NewBarrier(3)
	taken := marks{}
	step := func(name string, from, to int, op func()) {
		t.Helper()
		before := b.arrived
		op()
		if before != from || b.arrived != to {
			t.Fatalf("%s: from %d to %d, want from %d to %d", name, before, b.arrived, from, to)
		}
		taken.take(name)
		if b.queue.Empty() != (b.arrived == 0) || b.arrived >= b.parties {
			t.Errorf("I1: %s: %d arrived, nobody in the queue: %v", name, b.arrived, b.queue.Empty())
		}
	}
	must := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Fatal(what)
		}
	}
	p, q, r := newSpot(), newSpot(), newSpot()
	arrive := func(p *spot) (last bool) {
		p.t, last = b.arrive(p.w, p.node())
		return last
	}
	step("B1", 0, 1, func() { must("arrive", !arrive(p)) })
	step("B1", 1, 2, func() { must("arrive", !arrive(q)) })
	step("B2", 2, 0, func() { must("arrive as the last", arrive(r)) })
	must("not woken", p.ended() == park.Woken && q.ended() == park.Woken)

	// One leaves, and comes again.
	step("B1", 0, 1, func() { arrive(p) })
	step("B1", 1, 2, func() { arrive(q) })
	p.ended()
	step("B3", 2, 1, func() { must("leave", b.leave(p.node())) })
	step("B1", 1, 2, func() { arrive(r) })

	// One is canceled, but the round is complete before it leaves: it was in time.
	q.ended()
	step("B2", 2, 0, func() { must("arrive as the last", arrive(p)) })
	step("", 0, 0, func() { must("left a round that was complete", !b.leave(q.node())) })
	must("not woken", r.ended() == park.Woken)
	taken.demand(t, "barrier.go", "B")
}
