package syncs

import (
	"testing"

	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in a queue, canceled or not.
func (m *KeyedMutex[K]) Queued() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range m.keys.m {
		if !q.Empty() {
			return true
		}
	}
	return false
}

func TestKeyedMutexTransitions(t *testing.T) {
	var m KeyedMutex[int]
	taken := marks{}
	step := func(names string, locked, queued bool, op func()) {
		t.Helper()
		op()
		q := m.keys.m[7]
		if (q != nil) != locked || q != nil && q.Empty() == queued {
			t.Fatalf("%s: locked %v, queue %+v", names, q != nil, q)
		}
		if m.keys.m[1] != nil || m.Len() > 1 {
			t.Errorf("%s: another key is locked", names)
		}
		taken.take(names)
	}
	type wait struct {
		w *park.Waiter
		q *park.List
		t park.Token
	}
	var ws [3]wait
	enqueue := func(i int) func() {
		return func() {
			ws[i].w = park.New(nil)
			ws[i].q, ws[i].t = m.enqueue(ws[i].w, &ws[i].w.Nodes(1)[0], 7)
		}
	}
	ended := func(i int, want park.Outcome) {
		t.Helper()
		if o := ws[i].w.Withdraw(ws[i].t); o != want {
			t.Fatalf("wait %d ended with %v, want %v", i, o, want)
		}
	}
	dequeue := func(i int) func() { return func() { m.dequeue(ws[i].q, &ws[i].w.Nodes(1)[0]) } }
	unlock := func() { m.Unlock(7) }

	step("K1", true, false, func() { m.TryLock(7) })
	step("K3", false, false, unlock)
	step("K1", true, false, enqueue(0))
	if ws[0].q != nil {
		t.Fatal("queued for a key that was free")
	}
	step("K4", true, true, enqueue(0))
	step("K4", true, true, enqueue(1))
	step("K4", true, true, enqueue(2))
	ended(1, park.Self)
	step("K2", true, true, unlock)
	ended(0, park.Woken)
	step("K2", true, false, unlock) // the second is passed over
	ended(2, park.Woken)
	step("", true, false, dequeue(1))
	step("K4", true, true, enqueue(1))
	ended(1, park.Self)
	step("K5", true, false, dequeue(1))
	step("K4", true, true, enqueue(1))
	ended(1, park.Self)
	step("K3", false, false, unlock)
	step("", false, false, dequeue(1))

	// One that comes to leave after the queue has another use.
	step("K1", true, false, func() { m.TryLock(7) })
	step("K4", true, true, enqueue(0))
	step("", true, true, dequeue(1))
	ended(0, park.Self)
	step("K5", true, false, dequeue(0))
	step("K3", false, false, unlock)
	taken.demand(t, "keyedmutex.go", "K")
}
