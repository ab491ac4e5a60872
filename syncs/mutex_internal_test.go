package syncs

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// The tests from outside ask these what a call has left behind.

// Idle reports whether the mutex is as when it was new.
func (m *Mutex) Idle() bool { return m.state() == "free" && !m.Queued() }

// Queued reports whether somebody is in the queue, canceled or not.
func (m *Mutex) Queued() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.queue.Empty()
}

func bitsOf(word uint32) string {
	var names []string
	for i, name := range []string{"locked", "queued"} {
		if word&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "free"
	}
	return strings.Join(names, " ")
}

// state is the word, and whether a woken waiter is coming.
func (m *Mutex) state() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := bitsOf(m.word.Load())
	if m.coming {
		s += " coming"
	}
	return s
}

// A bench is a mutex that is taken through its transitions one by one.
type bench struct {
	t     *testing.T
	m     Mutex
	taken marks
}

// step runs op, and records the transitions if the word went from one state to the other.
func (b *bench) step(names, from, to string, op func()) {
	b.t.Helper()
	before := b.m.state()
	op()
	after := b.m.state()
	if before != from || after != to {
		b.t.Fatalf("%s: from %s to %s, want from %s to %s", names, before, after, from, to)
	}
	b.taken.take(names)
	word, queue, coming := b.m.word.Load(), b.m.Queued(), b.m.coming
	if !coming && (word&queued != 0) != queue {
		b.t.Errorf("I1: %s, and somebody in the queue: %v", after, queue)
	}
	if word == queued {
		b.t.Errorf("I2: %s", after)
	}
	if word == 0 && queue && !coming {
		b.t.Errorf("I3: %s, somebody is in the queue, and nobody is coming", after)
	}
}

// A waiting is a call of Lock that does one step at a time.
type waiting struct {
	b *bench
	w *park.Waiter
	n *park.Node
	t park.Token
}

func (b *bench) waiter() *waiting {
	w := park.New(nil)
	return &waiting{b: b, w: w, n: &w.Nodes(1)[0]}
}

// enqueue reports whether it took the lock instead. lost is when it first lost its race; Forever: it was not woken yet.
func (c *waiting) enqueue(lost clock.Instant) (took bool) {
	next := park.Pending
	if lost != clock.Forever {
		l := losses{3, lost}
		next = l.next()
	}
	c.t, took = c.b.m.enqueue(c.w, c.n, clock.Forever, next)
	return took
}

func (c *waiting) ended(want park.Outcome) {
	c.b.t.Helper()
	if o := c.w.Wait(context.Background(), c.t, park.KindLock); o != want {
		c.b.t.Fatalf("the wait ended with %v, want %v", o, want)
	}
}

func (b *bench) must(what string, ok bool) {
	b.t.Helper()
	if !ok {
		b.t.Fatal(what)
	}
}

func TestMutexTransitions(t *testing.T) {
	b := &bench{t: t, taken: marks{}}
	m := &b.m
	bg := context.Background()
	first, never := clock.Now(), clock.Forever

	// Nobody waits.
	b.step("M1", "free", "locked", func() { b.must("Lock", m.Lock(bg) == nil) })
	b.step("M2", "locked", "free", m.Unlock)
	b.step("M1", "free", "locked", func() { b.must("TryLock", m.TryLock()) })
	b.step("M2", "locked", "free", m.Unlock)
	b.step("M1", "free", "locked", func() { b.must("LockUntil", m.LockUntil(never) == nil) })

	// Two wait; the first is woken, and takes the lock.
	p, q := b.waiter(), b.waiter()
	b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
	b.step("M3", "locked queued", "locked queued", func() { b.must("enqueue", !q.enqueue(never)) })
	b.step("M4", "locked queued", "free coming", m.Unlock)
	p.ended(park.Woken)
	b.step("M1 M6", "free coming", "locked queued", func() { b.must("tryWoken", m.tryWoken()) })
	b.step("M4", "locked queued", "free coming", m.Unlock)
	q.ended(park.Woken)

	// The second loses against others, again and again, until it has starved and is handed the lock.
	b.step("M1", "free coming", "locked coming", func() { b.must("TryLock", m.TryLock()) })
	b.step("M2", "locked coming", "free coming", m.Unlock)
	b.step("M1", "free coming", "locked coming", func() { b.must("TryLock", m.TryLock()) })
	b.step("", "locked coming", "locked coming", func() { b.must("tryWoken of a lock that is taken", !m.tryWoken()) })
	notStarved := first.Add(time.Hour) // however slow this machine is
	b.step("M3 M6", "locked coming", "locked queued", func() { b.must("enqueue", !q.enqueue(notStarved)) })
	b.step("M3", "locked queued", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
	b.step("M4", "locked queued", "free coming", m.Unlock)
	q.ended(park.Woken) // it was put back at the front
	b.step("M1", "free coming", "locked coming", func() { b.must("TryLock", m.TryLock()) })
	b.step("M3 M6", "locked coming", "locked queued", func() { b.must("enqueue", !q.enqueue(first.Add(-time.Hour))) })
	b.step("M5", "locked queued", "locked queued", m.Unlock)
	q.ended(granted)
	b.must("TryLock of a lock that was handed over", !m.TryLock())

	// While one is coming another one queues: nobody has to be woken for it, and it is not forgotten.
	b.step("M4", "locked queued", "free coming", m.Unlock)
	p.ended(park.Woken)
	b.step("M1", "free coming", "locked coming", func() { b.must("TryLock", m.TryLock()) })
	b.step("M3", "locked coming", "locked queued coming", func() { b.must("enqueue", !q.enqueue(never)) })
	b.step("M2", "locked queued coming", "free coming", m.Unlock)
	b.step("M1 M6", "free coming", "locked queued", func() { b.must("tryWoken", m.tryWoken()) })
	b.step("M4", "locked queued", "free coming", m.Unlock)
	q.ended(park.Woken)
	b.step("M1 M6", "free coming", "locked", func() { b.must("tryWoken", m.tryWoken()) })

	// Handed over to the only one.
	b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(first.Add(-time.Hour))) })
	b.step("M5", "locked queued", "locked", m.Unlock)
	p.ended(granted)

	// A woken waiter leaves, because its context panics; it is alone, or others are queued.
	for _, others := range []bool{false, true} {
		left := "locked"
		b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
		if others {
			b.step("M3", "locked queued", "locked queued", func() { b.must("enqueue", !q.enqueue(never)) })
			left = "locked queued"
		}
		b.step("M4", "locked queued", "free coming", m.Unlock)
		p.ended(park.Woken)
		b.step("M1", "free coming", "locked coming", func() { b.must("TryLock", m.TryLock()) })
		b.step("M6", "locked coming", left, func() { b.must("tryLeave", m.tryLeave()) })
		if others {
			b.step("M4", "locked queued", "free coming", m.Unlock)
			q.ended(park.Woken)
			b.step("M1 M6", "free coming", "locked", func() { b.must("tryWoken", m.tryWoken()) })
		}
	}
	b.step("M2", "locked", "free", m.Unlock)

	// It wants to leave, but the lock is free: it takes it.
	b.step("M1", "free", "locked", func() { b.must("TryLock", m.TryLock()) })
	b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
	b.step("M3", "locked queued", "locked queued", func() { b.must("enqueue", !q.enqueue(never)) })
	b.step("M4", "locked queued", "free coming", m.Unlock)
	p.ended(park.Woken)
	b.step("M1 M6", "free coming", "locked queued", func() { b.must("tryLeave of a free lock", !m.tryLeave()) })

	// It wants to go back to the queue, but the lock is free: it takes it.
	b.step("M4", "locked queued", "free coming", m.Unlock)
	q.ended(park.Woken)
	b.step("M1", "free coming", "locked coming", func() { b.must("TryLock", m.TryLock()) })
	b.step("M3", "locked coming", "locked queued coming", func() { b.must("enqueue", !p.enqueue(never)) })
	b.step("M2", "locked queued coming", "free coming", m.Unlock)
	b.step("M1 M6", "free coming", "locked queued", func() { b.must("enqueue", q.enqueue(clock.Now())) })
	b.step("M4", "locked queued", "free coming", m.Unlock)
	p.ended(park.Woken)

	// Another wants to queue, but the lock is free.
	b.step("M1", "free coming", "locked coming", func() { b.must("enqueue", q.enqueue(never)) })
	b.step("M6", "locked coming", "locked", func() { b.must("tryLeave", m.tryLeave()) })

	// Waiters that were canceled: taken out by themselves, or by Unlock, which goes on to the next.
	b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
	b.step("M3", "locked queued", "locked queued", func() { b.must("enqueue", !q.enqueue(never)) })
	p.w.Withdraw(p.t)
	b.step("M4", "locked queued", "free coming", m.Unlock)
	q.ended(park.Woken)
	m.dequeue(p.n)
	b.step("M1 M6", "free coming", "locked", func() { b.must("tryWoken", m.tryWoken()) })
	b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
	p.w.Withdraw(p.t)
	b.step("M2", "locked queued", "free", m.Unlock)
	m.dequeue(p.n)
	b.step("M1", "free", "locked", func() { b.must("TryLock", m.TryLock()) })
	b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
	p.w.Withdraw(p.t)
	b.step("queued: cleared", "locked queued", "locked", func() { m.dequeue(p.n) })

	// Canceled while another one is coming: queued may be clear, and the one who is coming finds nobody else.
	b.step("M3", "locked", "locked queued", func() { b.must("enqueue", !p.enqueue(never)) })
	b.step("M3", "locked queued", "locked queued", func() { b.must("enqueue", !q.enqueue(never)) })
	b.step("M4", "locked queued", "free coming", m.Unlock)
	p.ended(park.Woken)
	q.w.Withdraw(q.t)
	b.step("", "free coming", "free coming", func() { m.dequeue(q.n) })
	b.step("M1 M6", "free coming", "locked", func() { b.must("tryWoken", m.tryWoken()) })
	b.step("M2", "locked", "free", m.Unlock)

	if s := m.Stats(); s.Held != 0 || s.Waiting != 0 || s.Failed == 0 || s.Waits <= s.Failed {
		t.Errorf("%+v", s)
	}
	b.taken.demand(t, "mutex.go", "M", "queued: cleared")
}

// Unlock of a lock that is not taken panics whatever else the word says, and leaves it as it was.
func TestMutexUnlockOfUnlocked(t *testing.T) {
	for _, c := range []struct {
		state string
		make  func(b *bench)
	}{
		{"free", func(*bench) {}},
		{"free coming", func(b *bench) {
			b.m.TryLock()
			b.waiter().enqueue(clock.Forever)
			b.m.Unlock()
		}},
		{"free coming", func(b *bench) {
			b.m.TryLock()
			b.waiter().enqueue(clock.Forever)
			b.waiter().enqueue(clock.Forever)
			b.m.Unlock()
		}},
	} {
		t.Run(c.state, func(t *testing.T) {
			b := &bench{t: t}
			c.make(b)
			if got := b.m.state(); got != c.state {
				t.Fatalf("the state is %s", got)
			}
			func() {
				defer func() {
					if r := recover(); r != "bide/syncs: unlock of unlocked Mutex" {
						t.Errorf("panicked with %v", r)
					}
				}()
				b.m.Unlock()
			}()
			if got := b.m.state(); got != c.state {
				t.Errorf("the state became %s", got)
			}
			if !b.m.TryLock() {
				t.Error("the lock cannot be taken any more")
			}
			b.m.Unlock() // and its internal lock is free
		})
	}
}

// A context and a deadline at once: the context comes first.
func TestMutexFailure(t *testing.T) {
	live := context.Background()
	canceled, cancel := context.WithCancelCause(live)
	cancel(errors.New("because"))
	for _, c := range []struct {
		name string
		ctx  context.Context
		due  clock.Instant
		want error
	}{
		{"context", canceled, clock.Forever, context.Canceled},
		{"deadline", live, 1, os.ErrDeadlineExceeded},
		{"both", canceled, 1, context.Canceled},
	} {
		if err := failure(c.ctx, c.due); err != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		var m Mutex
		m.TryLock()
		if err := m.lockSlow(c.ctx, c.due); err != c.want {
			t.Errorf("%s, of a lock that is taken: %v, want %v", c.name, err, c.want)
		}
		m.Unlock()
		if !m.Idle() {
			t.Errorf("%s: something is left", c.name)
		}
	}
}

// A context that panics while the waiter is handed the lock: it is given back.
type brittle struct {
	context.Context
	first func()
}

func (b *brittle) Done() <-chan struct{} {
	b.first()
	panic("brittle")
}

func TestMutexPanicWithTheLock(t *testing.T) {
	b := &bench{t: t, taken: marks{}}
	c := b.waiter()
	b.m.TryLock()
	c.enqueue(clock.Forever)
	b.step("queued: cleared", "locked queued", "locked", func() {
		defer func() { _ = recover() }()
		b.m.wait(&brittle{context.Background(), func() {}}, c.w, c.n, &c.t, nil)
	})
	for name, lost := range map[string]clock.Instant{"granted": clock.Now().Add(-time.Hour), "woken": clock.Forever} {
		for _, others := range []int{0, 1} {
			b := &bench{t: t}
			m := &b.m
			m.TryLock()
			c := b.waiter()
			c.enqueue(lost)
			var o *waiting
			if others > 0 {
				o = b.waiter()
				o.enqueue(clock.Forever)
			}
			func() {
				defer func() { _ = recover() }()
				m.wait(&brittle{context.Background(), m.Unlock}, c.w, c.n, &c.t, nil)
			}()
			if others > 0 {
				o.ended(park.Woken)
				b.must("tryWoken by who was behind", m.tryWoken())
				m.Unlock()
			}
			if !m.Idle() {
				t.Errorf("%s, with %d others: the state is %s", name, others, m.state())
			}
		}
	}
}

// Whoever has starved is granted the lock at one of the next four losses, however many there were before.
func TestMutexLosses(t *testing.T) {
	var l losses
	for range 100 {
		l.next()
	}
	l.since = l.since.Add(-time.Hour)
	for range 4 {
		if l.next() == granted {
			return
		}
	}
	t.Error("not granted after four losses")
}
