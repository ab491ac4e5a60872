package syncs

import (
	"fmt"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in the queue, canceled or not.
func (s *Sequencer) Queued() bool { return s.Lowest() != 0 }

// Lowest is the lowest number at which somebody is queued, canceled or not; 0: nobody is.
func (s *Sequencer) Lowest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if least := s.levels.least(); least != s.lowest.Load() {
		panic(fmt.Sprintf("I1: the lowest is said to be %d, and is %d", s.lowest.Load(), least))
	}
	return s.lowest.Load()
}

// Queued is the same for who waits for a post.
func (f *Futex) Queued() bool { return f.s.Queued() }

func TestSequencerTransitions(t *testing.T) {
	var s Sequencer
	taken := marks{}
	step := func(name, from, to string, op func()) {
		t.Helper()
		state := func() string {
			text := fmt.Sprintf("%d/%d", s.Get(), s.Lowest()) // I1
			if s.word.Load()&shut != 0 {
				text += " shut"
			}
			s.levels.check(t)
			return text
		}
		before := state()
		op()
		if after := state(); before != from || after != to {
			t.Fatalf("%s: from %s to %s, want from %s to %s", name, before, after, from, to)
		}
		if s.reaches(s.Get()) {
			t.Errorf("I2: %s: %d waits although %d is reached", name, s.Lowest(), s.Get())
		}
		taken.take(name)
	}
	must := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Fatal(what)
		}
	}
	// at queues p at n.
	at := func(p *spot, n uint64, want park.Outcome) func() {
		return func() {
			t.Helper()
			p.t = p.w.Arm(clock.Forever)
			if o := s.add(n, p.node(), p.w, p.t, park.Woken); o != want {
				t.Fatalf("add at %d returned %v, want %v", n, o, want)
			}
			if want != park.Pending {
				p.w.Withdraw(p.t)
			}
		}
	}
	leave := func(p *spot, n uint64) func() {
		return func() { s.remove(n, p.node()) }
	}
	p, q, r := newSpot(), newSpot(), newSpot()

	// Nobody waits.
	step("Q1", "0/0", "1/0", s.Increment)
	step("Q2", "1/0", "5/0", func() { must("Advance", s.Advance(5)) })
	step("", "5/0", "5/0", func() { must("Advance back", !s.Advance(5) && !s.Advance(4) && !s.Advance(0)) })
	step("Q3", "5/0", "2/0", func() { s.Reset(2) })
	step("Q5", "2/0", "2/0", at(p, 2, park.Woken))

	// Three wait, at two numbers. One leaves its level to another, one leaves for good.
	step("Q5", "2/0", "2/6", at(p, 6, park.Pending))
	step("", "2/6", "2/6", at(q, 6, park.Pending))
	step("Q5", "2/6", "2/4", at(r, 4, park.Pending))
	step("Q5", "2/4", "2/4", at(newSpot(), 1, park.Woken)) // stored and put back
	step("Q1", "2/4", "3/4", s.Increment)
	step("Q1 Q6", "3/4", "4/6", s.Increment)
	must("r was not woken", r.ended() == park.Woken)
	must("p was not waiting", p.ended() == park.Self)
	step("", "4/6", "4/6", leave(p, 6))
	step("Q5", "4/6", "4/5", at(r, 5, park.Pending))
	must("r was not waiting", r.ended() == park.Self)
	step("Q6", "4/5", "4/6", leave(r, 5))
	step("", "4/6", "4/6", leave(r, 5))
	step("", "4/6", "4/6", leave(p, 6))
	step("Q2 Q6", "4/6", "9/0", func() { must("Advance", s.Advance(9)) })
	must("q was not woken", q.ended() == park.Woken)

	// Canceled waiters that have not left are no waiters, but a Reset is not certain of it.
	step("Q5", "9/0", "9/12", at(p, 12, park.Pending))
	p.ended()
	step("", "9/12", "9/12", func() { must("Reset while somebody is queued", !s.reset(0)) })
	step("Q2 Q6", "9/12", "12/0", func() { s.Advance(12) })
	step("", "12/0", "12/0", leave(p, 12))
	step("Q3", "12/0", "0/0", func() { s.Reset(0) })

	// Flushed: what is reached is woken, all others closed.
	step("Q5", "0/0", "0/1", at(p, 1, park.Pending))
	step("", "0/1", "0/1", at(q, 2, park.Pending))
	step("", "0/1", "0/1", at(r, 3, park.Pending))
	s.word.Add(1) // an Increment that has not looked at who waits yet
	s.CancelWaiters()
	taken.take("Q6")
	must("reached, and flushed: not woken", p.ended() == park.Woken)
	must("flushed: not closed", q.ended() == park.Closed && r.ended() == park.Closed)
	step("Q5", "1/0", "1/2", at(p, 2, park.Pending)) // it is not closed
	step("", "1/2", "1/2", at(q, 7, park.Pending))
	step("Q4 Q6", "1/2", "1/0 shut", s.Close)
	must("closed", p.ended() == park.Closed && q.ended() == park.Closed)
	step("", "1/0 shut", "1/0 shut", s.Close)
	step("Q5", "1/0 shut", "1/0 shut", at(p, 1, park.Woken))
	step("Q5", "1/0 shut", "1/0 shut", at(p, 2, park.Closed))
	step("Q1", "1/0 shut", "2/0 shut", s.Increment)
	step("Q2", "2/0 shut", "8/0 shut", func() { s.Advance(8) })
	step("Q3", "8/0 shut", "3/0 shut", func() { s.Reset(3) })
	taken.demand(t, "sequencer.go", "Q")
}
