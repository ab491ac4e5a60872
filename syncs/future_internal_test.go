package syncs

import (
	"os"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// futureBench takes a future through its transitions.
type futureBench struct {
	t     *testing.T
	f     Future[int]
	taken marks
}

func (b *futureBench) state() string {
	var s string
	for i, name := range []string{"claimed", "complete", "asked"} {
		if b.f.word.Load()&(1<<i) != 0 {
			s += " " + name
		}
	}
	if s == "" {
		return "open"
	}
	return s[1:]
}

func (b *futureBench) step(names, from, to string, op func()) {
	b.t.Helper()
	before := b.state()
	op()
	if after := b.state(); before != from || after != to {
		b.t.Fatalf("%s: from %s to %s, want from %s to %s", names, before, after, from, to)
	}
	b.taken.take(names)
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	s := b.f.word.Load()
	if some := !b.f.queue.Empty() || len(b.f.calls) != 0; some != (s&asked != 0) {
		b.t.Errorf("I1: %s: asked is %v, and somebody asks: %v", names, s&asked != 0, some)
	}
	if s&(complete|asked) == complete|asked {
		b.t.Errorf("I2: %s", names)
	}
}

// A spot is a waiter that one step at a time is done with.
type spot struct {
	w *park.Waiter
	t park.Token
}

func newSpot() *spot { return &spot{w: park.New(nil)} }

func (p *spot) node() *park.Node { return &p.w.Nodes(1)[0] }

func (p *spot) add(s Waitable) park.Outcome {
	p.t = p.w.Arm(clock.Forever)
	o := s.add(p.node(), p.w, p.t, park.Woken)
	if o != park.Pending {
		p.w.Withdraw(p.t)
	}
	return o
}

// ended is how the wait has ended; Self if it had not.
func (p *spot) ended() park.Outcome { return p.w.Withdraw(p.t) }

func TestFutureTransitions(t *testing.T) {
	b := &futureBench{t: t, taken: marks{}}
	f := &b.f
	must := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Fatal(what)
		}
	}
	calls := 0
	call := func(v int, err error) {
		calls++
		if v != 1 || err != nil {
			t.Errorf("called with %d, %v", v, err)
		}
	}

	// Nobody asks.
	b.step("F1 F2", "open", "complete", func() { must("Set", f.Set(1)) })
	b.step("", "complete", "complete", func() { must("Set twice", !f.Set(2) && !f.Fail(os.ErrInvalid)) })
	b.step("", "complete", "complete", func() { f.OnDone(call) })
	b.step("F6", "complete", "open", f.Reset)
	must("the value is left", f.v == 0)
	b.step("F1 F2", "open", "complete", func() { must("Fail", f.Fail(os.ErrInvalid)) })
	b.step("F6", "complete", "open", f.Reset)
	must("the error is left", f.err == nil)
	b.step("", "open", "open", f.Reset)

	// Two wait, one leaves, one is woken; a function is called.
	p, q := newSpot(), newSpot()
	b.step("F4", "open", "asked", func() { must("add", p.add(f) == park.Pending) })
	b.step("", "asked", "asked", func() { must("add", q.add(f) == park.Pending) })
	must("p has ended", p.ended() == park.Self)
	b.step("", "asked", "asked", func() { f.remove(p.node()) })
	b.step("", "asked", "asked", func() { f.OnDone(call) })
	b.step("F1 F3", "asked", "complete", func() { must("Set", f.Set(1)) })
	must("q was not woken", q.ended() == park.Woken)
	must("calls", calls == 2)
	b.step("", "complete", "complete", func() { must("add", p.add(f) == park.Woken); f.remove(q.node()) })
	b.step("F6", "complete", "open", f.Reset)

	// The last leaves; not so if there is a function.
	b.step("F4", "open", "asked", func() { p.add(f) })
	p.ended()
	b.step("F5", "asked", "open", func() { f.remove(p.node()) })
	b.step("", "open", "open", func() { f.remove(p.node()) })
	b.step("F4", "open", "asked", func() { f.OnDone(call) })
	b.step("", "asked", "asked", func() { p.add(f) })
	p.ended()
	b.step("", "asked", "asked", func() { f.remove(p.node()) })
	b.step("F1 F3", "asked", "complete", func() { f.Set(1) })
	must("calls", calls == 3)
	b.step("F6", "complete", "open", f.Reset)

	// Asked while a writer is between claim and completion: nobody sees a value, and nobody else writes one.
	claim := func() { f.word.Or(claimed); f.v = 1 } // as F1 does
	finish := func() {
		if !f.word.CompareAndSwap(claimed, complete) {
			f.publish(1, nil)
		}
	}
	b.step("F1", "open", "claimed", claim)
	must("a second writer won", !f.Set(2) && !f.Fail(os.ErrInvalid))
	_, ok, _ := f.Poll()
	must("complete before its value was written", !ok)
	b.step("F4", "claimed", "claimed asked", func() { must("add", p.add(f) == park.Pending) })
	b.step("F3", "claimed asked", "complete", finish)
	must("p was not woken", p.ended() == park.Woken)
	b.step("F6", "complete", "open", f.Reset)
	b.step("F1", "open", "claimed", claim)
	b.step("F4", "claimed", "claimed asked", func() { f.OnDone(call) })
	b.step("F3", "claimed asked", "complete", finish)
	must("calls", calls == 4)
	b.step("F6", "complete", "open", f.Reset)
	b.step("F1", "open", "claimed", claim)
	b.step("F4", "claimed", "claimed asked", func() { p.add(f) })
	p.ended()
	b.step("F5", "claimed asked", "claimed", func() { f.remove(p.node()) })
	b.step("F2", "claimed", "complete", finish)
	b.taken.demand(t, "future.go", "F")
}

func TestFutureResetPanics(t *testing.T) {
	const waits, busy = "bide/syncs: Reset of a Future that somebody waits for", "bide/syncs: Reset of a Future that is being completed"
	reset := func(f *Future[int]) (text any) {
		defer func() { text = recover() }()
		f.Reset()
		return nil
	}
	var f Future[int]
	p := newSpot()
	p.add(&f)
	if got := reset(&f); got != waits {
		t.Errorf("with a waiter: panic %v", got)
	}
	p.ended()
	f.remove(p.node())
	f.waits.Add(1) // released, and not returned from Wait yet
	f.Set(1)
	if got := reset(&f); got != waits {
		t.Errorf("with one that was released: panic %v", got)
	}
	if v, ok, err := f.Poll(); v != 1 || !ok || err != nil {
		t.Errorf("the panic has changed it: %v, %v, %v", v, ok, err)
	}
	f.waits.Add(-1)
	if got := reset(&f); got != nil {
		t.Errorf("idle: panic %v", got)
	}
	f.word.Or(claimed)
	if got := reset(&f); got != busy {
		t.Errorf("claimed: panic %v", got)
	}
}
