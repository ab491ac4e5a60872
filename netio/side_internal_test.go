package netio

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// Filed reports whether c is in a list of some context's.
func Filed(c *Conn) bool {
	return c.r.host != nil || c.r.link != nil || c.w.host != nil || c.w.link != nil
}

func (s *side) state() string {
	switch {
	case s.host != nil && s.link != nil:
		return "both"
	case s.host != nil:
		return "hosted"
	case s.link != nil:
		return "linked"
	}
	return "out"
}

// F1 to F5, one after the other.
func TestFiling(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	c := New(a)
	go func() {
		for {
			if _, err := b.Write([]byte("x")); err != nil {
				return
			}
		}
	}()
	std, cancel := context.WithCancel(t.Context())
	defer cancel()
	one, two, accounts, below := bide.Open(t.Context()), bide.Open(t.Context()), bide.Open(t.Context(), bide.Account()), bide.Open(std)
	for _, s := range []*bide.Scope{one, two, accounts, below} {
		defer s.Close(nil)
	}
	for i, x := range []struct {
		ctx  context.Context
		want string
	}{
		{one, "hosted"},               // F1
		{one, "hosted"},               // stays
		{two, "hosted"},               // F3, F1
		{std, "linked"},               // F3, F2
		{std, "linked"},               // stays
		{below, "hosted"},             // F4, F1
		{accounts, "out"},             // F3, F1, F3
		{one, "hosted"},               // F1
		{context.Background(), "out"}, // F3: it cannot end
	} {
		if _, err := c.ReadContext(x.ctx, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if got := c.r.state(); got != x.want {
			t.Errorf("step %d: %s, want %s", i, got, x.want)
		}
	}
	c.ReadContext(one, make([]byte, 1))
	c.Close()
	if got := c.r.state(); got != "out" { // F5, by Close
		t.Errorf("closed: %s", got)
	}
	c.ReadContext(one, make([]byte, 1))
	if got := c.r.state(); got != "out" { // F5, by whoever has the turn
		t.Errorf("an operation behind Close: %s", got)
	}
}

// R1 to R4.
func TestTurnTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turn turn
		want := func(w uint32, where string) {
			t.Helper()
			if got := turn.word.Load(); got != w {
				t.Errorf("%s: the word is %b, want %b", where, got, w)
			}
		}
		take := func(ctx context.Context, done chan error) { done <- turn.take(ctx, park.KindRead) }
		if err := turn.take(t.Context(), park.KindRead); err != nil {
			t.Fatal(err)
		}
		want(taken, "R1")
		turn.give()
		want(0, "R3")
		turn.take(t.Context(), park.KindRead)
		first, second := make(chan error, 1), make(chan error, 1)
		s := bide.Open(t.Context())
		defer s.Close(nil)
		go take(t.Context(), first)
		synctest.Wait()
		want(taken|wanted, "R2")
		go take(s, second)
		synctest.Wait()
		turn.give()
		want(wanted, "R4")
		if turn.want() {
			t.Error("free, but not to be had")
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		want(taken|wanted, "R1 with somebody in the lot")
		s.Cancel(nil)
		if err := <-second; err != s.Cause() {
			t.Error(err)
		}
		want(taken|wanted, "wanted in vain")
		turn.give()
		want(0, "R4 with nobody left")
		if err := turn.take(s, park.KindRead); err != nil {
			t.Error("a free turn is taken without a look:", err)
		}
		if err := turn.take(s, park.KindRead); err != s.Cause() {
			t.Error(err)
		}
	})
}

// Poked too late: the operation is over, its end waits for the poke and undoes it.
func TestPokeBehindTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set []time.Time
		var s side
		s.init(park.KindRead, func(t time.Time) error { set = append(set, t); return nil })
		scope := bide.Open(t.Context())
		defer scope.Close(nil)
		token, err := s.begin(scope)
		if err != nil {
			t.Fatal(err)
		}
		scope.Cancel(nil)
		err = nil
		s.end(scope, token, &err)
		if err != nil || len(set) != 3 || !set[1].Equal(longAgo) || !set[2].IsZero() {
			t.Errorf("%v, deadlines set: %v", err, set)
		}
		if s.poked {
			t.Error("still poked")
		}
	})
}
