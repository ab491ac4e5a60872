package syncs

import (
	"math"
	"testing"

	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in the queue, canceled or not.
func (g *WaitGroup) Queued() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.queue.Empty()
}

// Counter is the counter.
func (g *WaitGroup) Counter() int64 { return g.word.Load() >> 1 }

func TestWaitGroupTransitions(t *testing.T) {
	var g WaitGroup
	taken := marks{}
	step := func(name string, from, to int64, op func()) {
		t.Helper()
		before := g.word.Load()
		op()
		after := g.word.Load()
		if before != from || after != to {
			t.Fatalf("%s: from %d to %d, want from %d to %d", name, before, after, from, to)
		}
		taken.take(name)
		if g.Queued() != (after&awaited != 0) {
			t.Errorf("I1: %s: %d, and somebody in the queue: %v", name, after, g.Queued())
		}
		if after == awaited {
			t.Errorf("I2: %s: awaited at 0", name)
		}
	}
	add := func(n int) func() { return func() { g.Add(n) } }
	waits := func(p *spot) func() {
		return func() {
			t.Helper()
			if o := p.add(&g); o != park.Pending {
				t.Fatalf("add returned %v", o)
			}
		}
	}
	p, q := newSpot(), newSpot()
	step("G1", 0, 2*3, add(3))
	step("G1", 6, 4, g.Done)
	step("G1", 4, 4, add(0))
	step("G1", 4, 0, add(-2))
	step("", 0, 0, func() {
		if o := p.add(&g); o != park.Woken {
			t.Errorf("add at 0 returned %v", o)
		}
	})
	step("G1", 0, 4, add(2))
	step("G3", 4, 4+awaited, waits(p))
	step("", 4+awaited, 4+awaited, waits(q))
	step("G1", 4+awaited, 2+awaited, g.Done)
	step("G2", 2+awaited, 0, g.Done)
	if p.ended() != park.Woken || q.ended() != park.Woken {
		t.Error("not woken")
	}
	step("G1", 0, 2, add(1))
	step("G3", 2, 2+awaited, waits(p))
	step("", 2+awaited, 2+awaited, waits(q))
	p.ended()
	step("", 2+awaited, 2+awaited, func() { g.remove(p.node()) })
	q.ended()
	step("G4", 2+awaited, 2, func() { g.remove(q.node()) })
	step("", 2, 2, func() { g.remove(q.node()) })
	step("", 2, 2, func() {
		if g.release(2 + awaited) {
			t.Error("released from a state that is gone")
		}
	})
	step("G1", 2, 0, g.Done)
	taken.demand(t, "waitgroup.go", "G")
}

// A counter that would be too large panics, and changes nothing.
func TestWaitGroupTooLarge(t *testing.T) {
	var g WaitGroup
	g.word.Store((maxCounter - 1) << 1)
	g.Add(1)
	for _, n := range []int{1, 2, math.MaxInt} {
		func() {
			defer func() {
				if r := recover(); r != "bide/syncs: counter of a WaitGroup beyond 1<<62 - 1" {
					t.Errorf("Add of %d: panic %v", n, r)
				}
			}()
			g.Add(n)
		}()
	}
	if g.Done(); g.Counter() != maxCounter-1 {
		t.Errorf("the panics have left a counter of %d", g.Counter())
	}
}
