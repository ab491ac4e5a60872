package syncs

import (
	"context"
	"fmt"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in a queue, canceled or not.
func (m *RWMutex) Queued() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.readers.Empty() || !m.drainer.Empty() || m.w.Queued()
}

// Idle reports whether the lock is as when it was new.
func (m *RWMutex) Idle() bool { return m.word.Load() == 0 && m.w.Idle() && !m.Queued() }

// An rwBench is a lock that is taken through its transitions one by one.
type rwBench struct {
	t     *testing.T
	m     RWMutex
	taken marks
}

func rwBits(v int32) string {
	s := fmt.Sprintf("%d", v/reader)
	if v&writing != 0 {
		s += " writing"
	}
	if v&reading != 0 {
		s += " reading"
	}
	return s
}

// step runs op, and records the transitions if the word went from one state to the other.
func (b *rwBench) step(names, from, to string, op func()) {
	b.t.Helper()
	before := rwBits(b.m.word.Load())
	op()
	after := rwBits(b.m.word.Load())
	if before != from || after != to {
		b.t.Fatalf("%s: from %s to %s, want from %s to %s", names, before, after, from, to)
	}
	b.taken.take(names)
	v := b.m.word.Load()
	if (v&reading != 0) == b.m.readers.Empty() {
		b.t.Errorf("I1: %s: %s, and the queue empty: %v", names, after, b.m.readers.Empty())
	}
	if v&reading != 0 && v&writing == 0 || v&writing != 0 && b.m.w.word.Load() == 0 {
		b.t.Errorf("I2: %s: %s, w %s", names, after, bitsOf(b.m.w.word.Load()))
	}
}

// An rwWait is a call that does one step at a time.
type rwWait struct {
	b *rwBench
	w *park.Waiter
	n *park.Node
	t park.Token
}

func (b *rwBench) waiter() *rwWait {
	w := park.New(nil)
	return &rwWait{b: b, w: w, n: &w.Nodes(1)[0]}
}

// read reports whether it took the lock instead of queueing.
func (c *rwWait) read() (took bool) {
	c.t, took = c.b.m.enqueue(c.w, c.n, clock.Forever)
	return took
}

// drain is what RWMutex.drain does first.
func (c *rwWait) drain() {
	c.b.m.word.Or(writing)
	c.t = c.w.Arm(clock.Forever)
	c.b.m.drainer.PushBack(c.n, c.w, c.t, park.Woken)
	c.b.m.begin()
}

func (c *rwWait) ended(want park.Outcome) {
	c.b.t.Helper()
	if o := c.w.Wait(context.Background(), c.t, park.KindLock); o != want {
		c.b.t.Fatalf("the wait ended with %v, want %v", o, want)
	}
}

func (b *rwBench) must(what string, ok bool) {
	b.t.Helper()
	if !ok {
		b.t.Fatal(what)
	}
}

func TestRWMutexTransitions(t *testing.T) {
	b := &rwBench{t: t, taken: marks{}}
	m := &b.m
	bg := context.Background()

	// Nobody waits.
	b.step("R1", "0", "1", func() { b.must("RLock", m.RLock(bg) == nil) })
	b.step("R1", "1", "2", func() { b.must("TryRLock", m.TryRLock()) })
	b.step("", "2", "2", func() { b.must("TryLock with readers inside", !m.TryLock()) })
	b.step("R2", "2", "1", m.RUnlock)
	b.step("R2", "1", "0", m.RUnlock)
	b.step("R3", "0", "0 writing", func() { b.must("Lock", m.Lock(bg) == nil) })
	b.step("", "0 writing", "0 writing", func() { b.must("TryRLock with a writer inside", !m.TryRLock()) })
	b.step("R6", "0 writing", "0", m.Unlock)
	b.step("R3", "0", "0 writing", func() { b.must("TryLock", m.TryLock()) })

	// Readers wait for a writer. One is canceled; the others go in.
	p, q, r := b.waiter(), b.waiter(), b.waiter()
	b.step("R5", "0 writing", "0 writing reading", func() { b.must("enqueue", !p.read()) })
	p.w.Withdraw(p.t)
	b.step("R7", "0 writing reading", "0 writing", func() { m.dequeue(p.n) })
	b.step("R5", "0 writing", "0 writing reading", func() { b.must("enqueue", !p.read()) })
	b.step("R5", "0 writing reading", "0 writing reading", func() { b.must("enqueue", !q.read()) })
	b.step("R5", "0 writing reading", "0 writing reading", func() { b.must("enqueue", !r.read()) })
	q.w.Withdraw(q.t)
	b.step("R6", "0 writing reading", "2", m.Unlock)
	p.ended(park.Woken)
	r.ended(park.Woken)
	b.step("", "2", "2", func() { m.dequeue(q.n) })

	// A reader wants to queue, and goes in instead.
	b.step("R1", "2", "3", func() { b.must("enqueue", q.read()) })
	b.step("R2", "3", "2", m.RUnlock)

	// A writer waits for two readers, and keeps a third out.
	d := b.waiter()
	m.w.TryLock()
	b.step("R3", "2", "2 writing", func() { d.drain() })
	b.step("R5", "2 writing", "2 writing reading", func() { b.must("enqueue", !p.read()) })
	b.step("R2", "2 writing reading", "1 writing reading", m.RUnlock)
	b.step("R2 R4", "1 writing reading", "0 writing reading", m.RUnlock)
	d.ended(park.Woken)
	b.step("R6", "0 writing reading", "1", m.Unlock)
	p.ended(park.Woken)
	b.must("w is free", m.w.Idle())

	// It is canceled: those whom it has kept out go in beside the one inside.
	m.w.TryLock()
	b.step("R3", "1", "1 writing", func() { d.drain() })
	b.step("R5", "1 writing", "1 writing reading", func() { b.must("enqueue", !p.read()) })
	b.step("R6", "1 writing reading", "2", func() { m.undoDrain(d.n, d.w.Withdraw(d.t)) })
	p.ended(park.Woken)
	b.must("w is free", m.w.Idle())
	b.step("R2", "2", "1", m.RUnlock)

	// It is canceled in the instant in which the last reader leaves, who then finds nobody to let in.
	m.w.TryLock()
	b.step("R3", "1", "1 writing", func() { d.drain() })
	o := d.w.Withdraw(d.t)
	b.step("R2", "1 writing", "0 writing", m.RUnlock)
	b.step("R6", "0 writing", "0", func() { m.undoDrain(d.n, o) })

	// The last reader leaves between the writer's first look and its second.
	m.TryRLock()
	m.w.TryLock()
	m.word.Or(writing)
	b.step("R2", "1 writing", "0 writing", m.RUnlock)
	b.step("", "0 writing", "0 writing", func() { b.must("drain", m.drain(bg, clock.Forever) == nil) })
	b.step("R6", "0 writing", "0", m.Unlock)
	b.must("idle", m.Idle())

	// A reader comes while a writer is inside, and takes back that it has; or it does not have to.
	b.step("R3", "0", "0 writing", func() { b.must("TryLock", m.TryLock()) })
	b.step("R1", "0 writing", "1 writing", func() { m.word.Add(reader) })
	b.step("R2", "1 writing", "0 writing", func() { b.must("retract", !m.retract()) })
	b.step("R1", "0 writing", "1 writing", func() { m.word.Add(reader) })
	b.step("R6", "1 writing", "1", m.Unlock)
	b.step("", "1", "1", func() { b.must("retract", m.retract()) })
	b.step("", "1", "1", func() { b.must("TryLock with a reader inside", !m.TryLock()) })

	// It comes while a writer drains, and the last of those inside leaves before it.
	m.w.TryLock()
	b.step("R3", "1", "1 writing", func() { d.drain() })
	b.step("R1", "1 writing", "2 writing", func() { m.word.Add(reader) })
	b.step("R2", "2 writing", "1 writing", m.RUnlock)
	b.step("R2 R4", "1 writing", "0 writing", func() { b.must("retract", !m.retract()) })
	d.ended(park.Woken)
	b.step("R6", "0 writing", "0", m.Unlock)

	// A last reader that comes late with its news: meanwhile another writer drains.
	m.TryRLock()
	m.w.TryLock()
	b.step("R3", "1", "1 writing", func() { d.drain() })
	b.step("", "1 writing", "1 writing", func() { m.runlockSlow(writing) })
	if o := d.w.Withdraw(d.t); o != park.Self {
		t.Fatalf("the drainer, with a reader inside: %v", o)
	}
	b.step("R6", "1 writing", "1", func() { m.undoDrain(d.n, park.Self) })
	b.step("R2", "1", "0", m.RUnlock)
	b.must("idle", m.Idle())

	b.taken.demand(t, "rwmutex.go", "R")
	if got, want := m.Stats(), (Stats{Waits: 11, Failed: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The word of a misused lock is as it was before.
func TestRWMutexMisuse(t *testing.T) {
	const unlock, runlock = "bide/syncs: unlock of unlocked RWMutex", "bide/syncs: RUnlock of unlocked RWMutex"
	for _, c := range []struct {
		state string
		make  func(m *RWMutex)
		call  func(m *RWMutex)
		want  string
	}{
		{"0", func(*RWMutex) {}, (*RWMutex).Unlock, unlock},
		{"0", func(*RWMutex) {}, (*RWMutex).RUnlock, runlock},
		{"0", func(m *RWMutex) {}, func(m *RWMutex) { m.Locker().Unlock() }, unlock},
		{"0", func(m *RWMutex) {}, func(m *RWMutex) { m.RLocker().Unlock() }, runlock},
		{"1", func(m *RWMutex) { m.TryRLock() }, (*RWMutex).Unlock, unlock},
		{"0 writing", func(m *RWMutex) { m.TryLock() }, (*RWMutex).RUnlock, runlock},
		{"1 writing", func(m *RWMutex) {
			m.TryRLock()
			m.w.TryLock()
			b := &rwBench{}
			c := b.waiter()
			m.word.Or(writing)
			m.drainer.PushBack(c.n, c.w, c.w.Arm(clock.Forever), park.Woken)
		}, (*RWMutex).Unlock, unlock},
		{"0 writing reading", func(m *RWMutex) {
			m.TryLock()
			b := &rwBench{}
			c := b.waiter()
			c.t, _ = m.enqueue(c.w, c.n, clock.Forever)
		}, (*RWMutex).RUnlock, runlock},
	} {
		m := new(RWMutex)
		c.make(m)
		if got := rwBits(m.word.Load()); got != c.state {
			t.Fatalf("the state is %s, want %s", got, c.state)
		}
		func() {
			defer func() {
				if r := recover(); r != c.want {
					t.Errorf("%s: panic %v, want %s", c.state, r, c.want)
				}
			}()
			c.call(m)
		}()
		if got := rwBits(m.word.Load()); got != c.state {
			t.Errorf("the state became %s, from %s", got, c.state)
		}
		m.mu.Lock() // and its internal lock is free
		m.mu.Unlock()
	}
}

// While a misused RUnlock is on its way, the holder of the lock does not notice.
func TestRWMutexMisuseInPassing(t *testing.T) {
	var m RWMutex
	m.TryLock()
	m.word.Add(-reader)
	m.Unlock()
	m.word.Add(reader)
	if !m.Idle() {
		t.Errorf("after Unlock: %s", rwBits(m.word.Load()))
	}
	m.word.Add(-reader)
	m.TryRLock()
	m.word.Add(reader)
	m.RUnlock()
	if !m.Idle() {
		t.Errorf("after RUnlock: %s", rwBits(m.word.Load()))
	}
}

// A misused RUnlock that meets an RLock on its way is not noticed, and breaks nothing.
func TestRWMutexMisuseBesideRLock(t *testing.T) {
	var m RWMutex
	m.TryLock()
	m.word.Add(reader)
	m.RUnlock()
	if m.retract() {
		t.Error("inside beside a writer")
	}
	m.Unlock()
	if !m.Idle() {
		t.Errorf("the state is %s", rwBits(m.word.Load()))
	}
}

// A context that panics in a wait has left nothing behind, whatever came in that instant.
func TestRWMutexPanicWithTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(m *RWMutex)
		wait  func(m *RWMutex, ctx context.Context) error
		first func(m *RWMutex)
		after func(m *RWMutex)
	}{
		"reader, let in":      {func(m *RWMutex) { m.TryLock() }, (*RWMutex).RLock, (*RWMutex).Unlock, func(*RWMutex) {}},
		"reader, not let in":  {func(m *RWMutex) { m.TryLock() }, (*RWMutex).RLock, func(*RWMutex) {}, (*RWMutex).Unlock},
		"drainer, let in":     {func(m *RWMutex) { m.TryRLock() }, (*RWMutex).Lock, (*RWMutex).RUnlock, func(*RWMutex) {}},
		"drainer, not let in": {func(m *RWMutex) { m.TryRLock() }, (*RWMutex).Lock, func(*RWMutex) {}, (*RWMutex).RUnlock},
		"writer, let in":      {func(m *RWMutex) { m.TryLock() }, (*RWMutex).Lock, (*RWMutex).Unlock, func(*RWMutex) {}},
		"writer, not let in":  {func(m *RWMutex) { m.TryLock() }, (*RWMutex).Lock, func(*RWMutex) {}, (*RWMutex).Unlock},
	} {
		var m RWMutex
		c.make(&m)
		func() {
			defer func() {
				if r := recover(); r != "brittle" {
					t.Errorf("%s: panic %v", name, r)
				}
			}()
			_ = c.wait(&m, &brittle{context.Background(), func() { c.first(&m) }})
		}()
		if m.Queued() {
			t.Errorf("%s: somebody is left in a queue", name)
		}
		c.after(&m)
		if !m.Idle() {
			t.Errorf("%s: %s, w %s", name, rwBits(m.word.Load()), bitsOf(m.w.word.Load()))
		}
		if s := m.Stats(); s.Held != 0 || s.Waiting != 0 || s.Waits != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
