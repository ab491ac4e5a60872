package syncs

import (
	"context"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in line, canceled or not.
func (s *Semaphore) Queued() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.line.Empty()
}

// Held returns how many permits are taken.
func (s *Semaphore) Held() int64 { return s.Stats().Held }

// A semBench is a semaphore that is taken through its transitions one by one.
type semBench struct {
	t     *testing.T
	s     Semaphore
	taken marks
}

// step runs op, and records the transitions if size, held and line went as said.
func (b *semBench) step(names string, size, held int64, line int, op func()) {
	b.t.Helper()
	op()
	n := 0
	for a := b.s.line.Front(); a != nil; a = b.s.line.Next(a) {
		n++
	}
	if b.s.Size() != size || b.s.Held() != held || n != line {
		b.t.Fatalf("%s: size %d, held %d, %d in line, want %d, %d, %d", names, b.s.Size(), b.s.Held(), n, size, held, line)
	}
	if (b.s.word.Load()&inLine != 0) != (n != 0) {
		b.t.Errorf("I2: %s: word %x, %d in line", names, b.s.word.Load(), n)
	}
	b.taken.take(names)
}

// A semWait is a call of Acquire that does one step at a time.
type semWait struct {
	b *semBench
	a *acquirer
}

func (b *semBench) acquirer(n int64) *semWait {
	w := park.New(nil)
	return &semWait{b, &acquirer{w: w, t: w.Arm(clock.Forever), n: n}}
}

func (c *semWait) ended(want park.Outcome) {
	c.b.t.Helper()
	if o := c.a.w.Wait(context.Background(), c.a.t, park.KindOther); o != want {
		c.b.t.Fatalf("the wait ended with %v, want %v", o, want)
	}
}

func (c *semWait) queue(want park.Outcome) {
	c.b.t.Helper()
	if o := c.b.s.queue(c.a); o != want {
		c.b.t.Fatalf("queue: %v, want %v", o, want)
	}
}

func TestSemaphoreTransitions(t *testing.T) {
	b := &semBench{t: t, taken: marks{}}
	s := &b.s
	b.step("S4", 5, 0, 0, func() { s.SetSize(5) })
	b.step("S1", 5, 2, 0, func() { _ = s.Acquire(context.Background(), 2) })
	b.step("S1", 5, 3, 0, func() { s.TryAcquire(1) })
	b.step("S3", 5, 1, 0, func() { s.Release(2) })

	// Release finds somebody in line, or finds that nobody is any more.
	b.step("S3", 5, 0, 0, func() { s.releaseSlow(1) })
	b.step("S1", 5, 1, 0, func() { s.TryAcquire(1) })

	// A queue of four. The first does not fit, so nobody is given anything.
	p, q, r, v := b.acquirer(5), b.acquirer(1), b.acquirer(4), b.acquirer(3)
	b.step("S2", 5, 1, 1, func() { p.queue(park.Pending) })
	b.step("S2", 5, 1, 2, func() { q.queue(park.Pending) })
	b.step("S2", 5, 1, 3, func() { r.queue(park.Pending) })
	b.step("S2", 5, 1, 4, func() { v.queue(park.Pending) })
	b.step("", 5, 1, 4, func() { s.TryAcquire(1) })

	// The size shrinks below what the first wants, who is refused; the second fits.
	b.step("S4 S6 S5", 4, 2, 2, func() { s.SetSize(4) })
	p.ended(tooLarge)
	q.ended(park.Woken)

	// The first is canceled, and leaves; the second fits.
	r.a.w.Withdraw(r.a.t)
	b.step("", 4, 2, 2, func() { s.SetSize(4) })
	b.step("S7", 4, 2, 1, func() { s.leave(r.a) })
	b.step("S3 S5", 4, 4, 0, func() { s.Release(1) })
	v.ended(park.Woken)

	// A waiter that was canceled, and has not left, is passed over when its turn comes.
	p, q = b.acquirer(2), b.acquirer(2)
	b.step("S2", 4, 4, 1, func() { p.queue(park.Pending) })
	b.step("S2", 4, 4, 2, func() { q.queue(park.Pending) })
	p.a.w.Withdraw(p.a.t)
	b.step("S3 S5", 4, 4, 0, func() { s.Release(2) })
	q.ended(park.Woken)
	b.step("S7: of one that is not in line any more", 4, 4, 0, func() { s.leave(p.a) })

	// The same, refused.
	p = b.acquirer(2)
	b.step("S2", 4, 4, 1, func() { p.queue(park.Pending) })
	p.a.w.Withdraw(p.a.t)
	b.step("S4", 1, 4, 0, func() { s.SetSize(1) })
	b.step("S7", 1, 4, 0, func() { s.leave(p.a) })

	// More is taken than there is: nothing is given until enough is back.
	p = b.acquirer(1)
	b.step("S2", 1, 4, 1, func() { p.queue(park.Pending) })
	b.step("S3", 1, 1, 1, func() { s.Release(3) })
	b.step("S3 S5", 1, 1, 0, func() { s.Release(1) })
	p.ended(park.Woken)

	// The look under the lock that queues: too large, or to be had.
	p, q = b.acquirer(2), b.acquirer(1)
	b.step("S6: at the door", 1, 1, 0, func() { p.queue(tooLarge) })
	b.step("S3", 1, 0, 0, func() { s.Release(1) })
	b.step("S1", 1, 1, 0, func() { q.queue(park.Woken) })
	b.taken.demand(t, "semaphore.go", "S")
	if got, want := s.Stats(), (Stats{Held: 1, Waits: 8, Failed: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What a context that panics in a wait was given goes to the next.
func TestSemaphorePanicWithPermits(t *testing.T) {
	for name, c := range map[string]struct {
		first  func(s *Semaphore)
		behind park.Outcome
		held   int64
	}{
		"given":   {func(s *Semaphore) { s.Release(2) }, park.Woken, 1},
		"refused": {func(s *Semaphore) { s.SetSize(1) }, park.Pending, 2},
		"neither": {func(s *Semaphore) {}, park.Pending, 2},
	} {
		b := &semBench{t: t, taken: marks{}}
		s := &b.s
		s.SetSize(2)
		s.TryAcquire(2)
		p, q := b.acquirer(2), b.acquirer(1)
		p.queue(park.Pending)
		q.queue(park.Pending)
		func() {
			defer func() {
				if r := recover(); r != "brittle" {
					t.Errorf("%s: panic %v", name, r)
				}
			}()
			ctx := &brittle{context.Background(), func() { c.first(s) }}
			safeWait(ctx, p.a.w, p.a.t, park.KindOther, func(o park.Outcome) { s.undo(p.a, o) })
		}()
		if s.Held() != c.held {
			t.Errorf("%s: held %d", name, s.Held())
		}
		if o := q.a.w.Withdraw(q.a.t); o != c.behind && o != park.Self {
			t.Errorf("%s: who was behind: %v", name, o)
		} else if o == park.Self {
			s.leave(q.a)
		}
		if s.Queued() {
			t.Errorf("%s: somebody is left in line", name)
		}
	}
}
