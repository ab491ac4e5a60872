package syncs

import (
	"testing"

	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in the queue, canceled or not.
func (e *AutoEvent) Queued() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.queue.Empty()
}

func TestAutoEventTransitions(t *testing.T) {
	var e AutoEvent
	taken := marks{}
	names := []string{lowered: "lowered", raised: "raised", lined: "lined"}
	step := func(name, from, to string, op func()) {
		t.Helper()
		before := names[e.word.Load()]
		op()
		after := names[e.word.Load()]
		if before != from || after != to {
			t.Fatalf("%s: from %s to %s, want from %s to %s", name, before, after, from, to)
		}
		taken.take(name)
		if e.Queued() != (after == "lined") {
			t.Errorf("I1: %s: %s, and somebody in the queue: %v", name, after, e.Queued())
		}
	}
	must := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Fatal(what)
		}
	}
	enqueue := func(p *spot) (took bool) {
		p.t, took = e.enqueue(p.w, p.node())
		return took
	}

	// Nobody waits.
	step("", "lowered", "lowered", e.Reset)
	step("A1", "lowered", "raised", e.Set)
	step("", "raised", "raised", e.Set)
	step("A2", "raised", "lowered", func() { must("TryWait", e.TryWait()) })
	step("", "lowered", "lowered", func() { must("TryWait twice", !e.TryWait()) })
	step("A1", "lowered", "raised", e.Set)
	step("A2", "raised", "lowered", e.Reset)

	// Three wait; the second is canceled.
	p, q, r := newSpot(), newSpot(), newSpot()
	step("A3", "lowered", "lined", func() { must("enqueue", !enqueue(p)) })
	step("", "lined", "lined", func() { must("enqueue", !enqueue(q)) })
	step("", "lined", "lined", func() { must("enqueue", !enqueue(r)) })
	step("", "lined", "lined", func() { e.Reset(); must("set while somebody waits", !e.TryWait() && !e.IsSet()) })
	must("ended", q.ended() == park.Self)
	step("A4", "lined", "lined", e.Set)
	must("p was not woken", p.ended() == park.Woken)
	step("A4", "lined", "lowered", e.Set)
	must("r was not woken", r.ended() == park.Woken)
	step("", "lowered", "lowered", func() { e.dequeue(q.node()) })

	// One waits, and is canceled: it leaves, or Set finds it.
	step("A3", "lowered", "lined", func() { enqueue(p) })
	p.ended()
	step("A6", "lined", "lowered", func() { e.dequeue(p.node()) })
	step("A3", "lowered", "lined", func() { enqueue(p) })
	p.ended()
	step("A5", "lined", "raised", e.Set)
	step("", "raised", "raised", func() { e.dequeue(p.node()) })

	// Set between a Wait's look and its queueing.
	step("A2", "raised", "lowered", func() { must("enqueue of a set one", enqueue(q)) })

	// Set that finds nobody any more.
	must("hand of a lowered one", !e.hand())
	taken.demand(t, "autoevent.go", "A")
}
