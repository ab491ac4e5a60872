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
		var s side
		s.init(park.KindRead, func(time.Time) error { return nil })
		want := func(flags uint32, where string) {
			t.Helper()
			if got := s.flags.Load(); got != flags {
				t.Errorf("%s: the flags are %b, want %b", where, got, flags)
			}
		}
		token := make(chan park.Token, 2)
		failed := make(chan error, 2)
		begin := func(ctx context.Context) {
			t, err := s.begin(ctx)
			if err != nil {
				failed <- err
				return
			}
			token <- t
		}
		end := func(t park.Token) {
			var err error
			s.end(context.Background(), t, &err)
		}
		begin(t.Context()) // R1
		end(<-token)       // R3
		want(0, "R3")
		begin(t.Context())
		scope := bide.Open(t.Context())
		defer scope.Close(nil)
		go begin(t.Context())
		synctest.Wait()
		want(wanted, "R2")
		go begin(scope)
		synctest.Wait()
		if len(token) != 1 || len(failed) != 0 {
			t.Fatal("two have the turn")
		}
		end(<-token)
		want(wanted, "R4 with one left")
		next := <-token
		scope.Cancel(nil)
		if err := <-failed; err != scope.Cause() {
			t.Error(err)
		}
		want(wanted, "wanted in vain")
		end(next)
		want(0, "R4 with nobody left")
		begin(scope)
		if err := <-failed; err != scope.Cause() {
			t.Error(err)
		}
		s.close()
		want(shut, "closed")
		begin(t.Context())
		end(<-token)
		want(shut, "for ever")
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
