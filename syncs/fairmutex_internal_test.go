package syncs

import (
	"context"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in the queue, canceled or not.
func (m *FairMutex) Queued() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.queue.Empty()
}

// Idle reports whether the mutex is as when it was new.
func (m *FairMutex) Idle() bool { return m.word.Load() == 0 && !m.Queued() }

// A fairBench is a mutex that is taken through its transitions one by one.
type fairBench struct {
	t     *testing.T
	m     FairMutex
	taken marks
}

func (b *fairBench) step(names, from, to string, op func()) {
	b.t.Helper()
	before := bitsOf(b.m.word.Load())
	op()
	after := bitsOf(b.m.word.Load())
	if before != from || after != to {
		b.t.Fatalf("%s: from %s to %s, want from %s to %s", names, before, after, from, to)
	}
	b.taken.take(names)
	word := b.m.word.Load()
	if (word&queued != 0) != b.m.Queued() {
		b.t.Errorf("I1: %s, and somebody in the queue: %v", after, b.m.Queued())
	}
	if word == queued {
		b.t.Error("I2: queued, and not locked")
	}
}

type fairWait struct {
	b *fairBench
	w *park.Waiter
	n *park.Node
	t park.Token
}

func (b *fairBench) waiter() *fairWait {
	w := park.New(nil)
	return &fairWait{b: b, w: w, n: &w.Nodes(1)[0]}
}

func (c *fairWait) enqueue(want bool) func() {
	return func() {
		c.b.t.Helper()
		var took bool
		if c.t, took = c.b.m.enqueue(c.w, c.n, clock.Forever); took != want {
			c.b.t.Fatalf("enqueue took the lock: %v", took)
		}
	}
}

func (c *fairWait) ended(want park.Outcome) {
	c.b.t.Helper()
	if o := c.w.Withdraw(c.t); o != want {
		c.b.t.Fatalf("the wait ended with %v, want %v", o, want)
	}
}

func TestFairMutexTransitions(t *testing.T) {
	b := &fairBench{t: t, taken: marks{}}
	m := &b.m
	must := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Fatal(what)
		}
	}
	b.step("Q1", "free", "locked", func() { must("Lock", m.Lock(context.Background()) == nil) })
	b.step("", "locked", "locked", func() { must("TryLock of a taken lock", !m.TryLock()) })
	b.step("Q2", "locked", "free", m.Unlock)
	b.step("Q1", "free", "locked", func() { must("LockUntil", m.LockUntil(clock.Forever) == nil) })
	b.step("Q2", "locked", "free", m.Unlock)
	b.step("Q1", "free", "locked", func() { must("TryLock", m.TryLock()) })
	b.step("Q2", "locked", "free", m.Unlock)
	var ticket *Ticket
	b.step("Q1", "free", "locked", func() { ticket = m.LockAsync() })

	// Three wait. The second is canceled, and has not left when its turn comes.
	p, q, r := b.waiter(), b.waiter(), b.waiter()
	b.step("Q3", "locked", "locked queued", p.enqueue(false))
	b.step("Q3", "locked queued", "locked queued", q.enqueue(false))
	b.step("Q3", "locked queued", "locked queued", r.enqueue(false))
	q.ended(park.Self)
	b.step("Q4", "locked queued", "locked queued", ticket.Cancel)
	p.ended(park.Woken)
	b.step("", "locked queued", "locked queued", func() { must("TryLock between", !m.TryLock()) })
	b.step("Q4", "locked queued", "locked", m.Unlock)
	r.ended(park.Woken)
	b.step("", "locked", "locked", func() { m.dequeue(q.n) })

	// All who wait have been canceled: in the middle, and the last.
	b.step("Q3", "locked", "locked queued", p.enqueue(false))
	b.step("Q3", "locked queued", "locked queued", q.enqueue(false))
	p.ended(park.Self)
	b.step("", "locked queued", "locked queued", func() { m.dequeue(p.n) })
	q.ended(park.Self)
	b.step("Q5", "locked queued", "locked", func() { m.dequeue(q.n) })
	b.step("Q3", "locked", "locked queued", p.enqueue(false))
	p.ended(park.Self)
	b.step("Q2", "locked queued", "free", m.Unlock)
	b.step("", "free", "free", func() { m.dequeue(p.n) })

	// One wants to queue, but the lock is free.
	b.step("Q1", "free", "locked", p.enqueue(true))

	// Unlock looks again if the queue has emptied meanwhile.
	b.step("", "locked", "locked", func() { must("hand with nobody in the queue", !m.hand()) })
	b.step("Q2", "locked", "free", m.unlockSlow)
	b.taken.demand(t, "fairmutex.go", "Q")
}

func TestFairMutexMisuse(t *testing.T) {
	var m FairMutex
	for _, unlock := range []func(){m.Unlock, m.Locker().Unlock, func() { m.TryLock(); m.Unlock(); m.Unlock() }} {
		func() {
			defer func() {
				if r := recover(); r != "bide/syncs: unlock of unlocked FairMutex" {
					t.Errorf("panic %v", r)
				}
			}()
			unlock()
		}()
		if !m.Idle() {
			t.Error("the panic has broken it")
		}
	}
}

func TestFairMutexPanicWithTheLock(t *testing.T) {
	for _, call := range []func(m *FairMutex, ctx context.Context) error{
		(*FairMutex).Lock,
		func(m *FairMutex, ctx context.Context) error { return m.LockAsync().Wait(ctx) },
	} {
		for _, granted := range []bool{false, true} {
			b := &fairBench{t: t, taken: marks{}}
			m := &b.m
			m.TryLock()
			behind := b.waiter()
			func() {
				defer func() {
					if r := recover(); r != "brittle" {
						t.Errorf("panic %v", r)
					}
				}()
				_ = call(m, &brittle{context.Background(), func() {
					behind.enqueue(false)()
					if granted {
						m.Unlock()
					}
				}})
			}()
			if !granted {
				m.Unlock()
			}
			behind.ended(park.Woken)
			m.Unlock()
			if !m.Idle() {
				t.Errorf("granted %v: the state is %s", granted, bitsOf(m.word.Load()))
			}
		}
	}
}

func TestTicketTransitions(t *testing.T) {
	taken := marks{}
	state := func(k *Ticket, want uint32) {
		t.Helper()
		if got := k.state.Load(); got != want {
			t.Fatalf("state %d, want %d", got, want)
		}
	}
	bg := context.Background()
	canceled, cancel := context.WithCancel(bg)
	cancel()

	// Of a free lock.
	var m FairMutex
	k := m.LockAsync()
	state(k, ticketOpen)
	if err := k.Wait(bg); err != nil || m.TryLock() {
		t.Fatal(err)
	}
	state(k, ticketTaken)
	taken.take("T1 T2")
	k.Cancel()
	if m.TryLock() {
		t.Fatal("Cancel after Wait has unlocked")
	}
	// In the queue, handed over.
	k = m.LockAsync()
	m.Unlock()
	if err := k.Wait(bg); err != nil || m.TryLock() {
		t.Fatal(err)
	}
	state(k, ticketTaken)
	k.Cancel()
	// In the queue, given up: before it waits, by Cancel and by Wait.
	k = m.LockAsync()
	k.Cancel()
	state(k, ticketGivenUp)
	taken.take("T4")
	k = m.LockAsync()
	if err := k.Wait(canceled); err != context.Canceled {
		t.Fatal(err)
	}
	state(k, ticketGivenUp)
	taken.take("T1 T3")
	if m.Queued() {
		t.Fatal("a ticket is left in the queue")
	}
	// While it waits, by its context and by Cancel.
	for name, end := range map[string]func(k *Ticket, cancel func()){
		"context": func(_ *Ticket, cancel func()) { cancel() },
		"Cancel":  func(k *Ticket, _ func()) { k.Cancel() },
	} {
		ctx, cancel := context.WithCancel(bg)
		k = m.LockAsync()
		first := func() {
			state(k, ticketWaiting)
			end(k, cancel)
		}
		if err := k.Wait(&gentle{ctx, first}); err != context.Canceled {
			t.Fatalf("%s: %v", name, err)
		}
		state(k, ticketGivenUp)
		taken.take("T1 T3")
		if m.Queued() {
			t.Fatal("a ticket is left in the queue")
		}
		cancel()
	}
	// The waiter has found another use: an old ticket's Cancel does not end that.
	k = m.LockAsync()
	m.Unlock()
	if err := k.Wait(bg); err != nil {
		t.Fatal(err)
	}
	tok := k.w.Arm(clock.Forever)
	k.Cancel()
	if o := k.w.Withdraw(tok); o != park.Self {
		t.Fatalf("the other wait ended with %v", o)
	}
	taken.demand(t, "ticket.go", "T")
}

// A gentle context calls a function when a wait under it begins.
type gentle struct {
	context.Context
	first func()
}

func (g *gentle) Done() <-chan struct{} {
	g.first()
	return g.Context.Done()
}
