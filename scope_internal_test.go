package bide

import (
	"context"
	"errors"
	"net/url"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// Each transition of a Scope, from every state that it can start in, and that a scope which nobody shares has nothing
// to undo.
func TestScopeTransitions(t *testing.T) {
	hit := map[string]int{}
	is := func(name string, s *Scope, want uint32) {
		t.Helper()
		hit[name]++
		const dynamic = shared | observed | looked | canceled | closed | called | expired
		if st := s.state.Load() & dynamic; st != want {
			t.Errorf("%s: state %b, want %b", name, st, want)
		}
	}
	linked := func(s *Scope, p *Scope, want bool) {
		t.Helper()
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.links.In() != want {
			t.Errorf("linked: %v, want %v", s.links.In(), want)
		}
	}
	ways := []struct {
		name    string
		observe func(s *Scope)
	}{
		{"the second look", func(s *Scope) { _, _ = s.Err(), s.Err() }},
		{"Done", func(s *Scope) { s.Done() }},
		{"AfterFunc", func(s *Scope) { s.AfterFunc(func() {})() }},
		{"Attach", func(s *Scope) {
			go func() { _ = Sleep(s, time.Nanosecond) }()
			synctest.Wait()
			s.timers().Clock().(*clock.Virtual).Advance(time.Nanosecond)
		}},
		{"an observed child", func(s *Scope) {
			k := Open(s)
			k.observe()
			k.Close(nil)
		}},
	}
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		for _, w := range ways {
			top := Open(context.Background(), Clock(v), Timeout(time.Hour))
			s := Open(top, Timeout(time.Minute))
			is("new", s, 0)
			linked(s, top, false)
			if err := s.Err(); err != nil { // S1
				t.Error(err)
			}
			is("S1", s, looked)
			w.observe(s) // S2
			synctest.Wait()
			is("S2", s, looked|shared|observed)
			if x := s.extra.Load(); w.name != "Done" && x != nil && x.std != nil {
				t.Errorf("%s: a live scope holds a standard context although Done was not asked for", w.name)
			}
			is("S2, above", top, shared|observed)
			linked(s, top, true)
			if top.timers().Stats().Pending != 2 {
				t.Errorf("%s: %d deadlines pending, want 2", w.name, top.timers().Stats().Pending)
			}
			s.Close(nil) // S4, observed: S3 with it
			is("S4, observed", s, looked|shared|observed|canceled|closed)
			linked(s, top, false)
			top.Close(nil)
			if n := top.timers().Stats().Pending; n != 0 {
				t.Errorf("%s: %d deadlines pending after Close", w.name, n)
			}
		}
		top := Open(context.Background(), Clock(v), Timeout(time.Hour))
		s := Open(top)
		s.Close(nil) // S4, new
		is("S4, new", s, closed)
		s = Open(top)
		_ = s.Err()
		s.Close(nil) // S4, looked
		is("S4, looked", s, looked|closed)

		s = Open(top)
		s.Cancel(nil) // S3, new
		is("S3, new, by Cancel", s, canceled|called)
		s.Close(nil)
		is("S4, canceled", s, canceled|called|closed)

		s = Open(top, Timeout(0)) // S3, at opening
		is("S3, at opening", s, canceled|called|expired)
		s.Close(nil)

		s = Open(top, Timeout(time.Second))
		s.Done()
		v.Advance(time.Second) // S3, by the driver
		is("S3, by expiry", s, shared|observed|canceled|called|expired)
		s.Close(nil)

		s = Open(top, Timeout(time.Second))
		v.Advance(time.Second)
		_ = s.Err() // S1, and S3 by what it saw
		is("S3, by the first look", s, looked|canceled|called|expired)
		s.Close(nil)

		s = Open(top)
		s.Done()
		top.Cancel(nil) // S3, from above
		is("S3, from above", s, shared|observed|canceled)
		linked(s, top, false)
		s.Close(nil)
		top.Close(nil)
	})
	if len(hit) != 13 {
		t.Errorf("%d kinds of transition, want 13: %v", len(hit), hit)
	}
}

// An expiry that finds the deadline moved files it again: nothing is lost between the driver's Due and Fire.
func TestExpiryOfAMovedDeadline(t *testing.T) {
	v := clock.NewVirtual()
	s := Open(context.Background(), Clock(v), Timeout(time.Second))
	s.Done()
	again, fired := (*deadline)(s).Due(clock.Instant(time.Second))
	if !fired || again != clock.Forever {
		t.Fatal(again, fired)
	}
	s.timers().Cancel(&s.entry) // as the driver does before Due
	if !s.SetTimeout(time.Minute) {
		t.Fatal("not moved")
	}
	s.timers().Cancel(&s.entry) // the worst case: moved between the driver's unlinking and its Due
	(*deadline)(s).Fire(clock.Instant(time.Second))
	if s.Err() != nil || s.timers().Stats().Pending != 1 {
		t.Fatal(s, s.timers().Stats().Pending)
	}
	v.Advance(time.Minute)
	if s.Err() == nil {
		t.Fatal("never expired")
	}
	s.Close(nil)
}

// A Close that meets an observer half way leaves nothing linked and nothing armed.
func TestCloseAgainstObserve(t *testing.T) {
	rounds := 20_000
	if testing.Short() || step.On {
		rounds = 1000
	}
	v := clock.NewVirtual()
	top := Open(context.Background(), Clock(v))
	for range rounds {
		s := Open(top, Timeout(time.Second))
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Done()
			_ = s.Err()
			_ = Sleep(s, time.Hour) // refused, or canceled
		}()
		s.Close(nil)
		<-done
		<-s.Done()
	}
	top.mu.Lock()
	if !top.kids.Empty() {
		t.Error("a closed scope is linked")
	}
	top.mu.Unlock()
	if n := top.timers().Stats().Pending; n != 0 {
		t.Errorf("%d deadlines of closed scopes pending", n)
	}
	top.Close(nil)
}

// Where the bridge does not work children of package context are canceled all the same, with the same errors.
func TestBridgeFallback(t *testing.T) {
	if !bridgeWorks() {
		t.Error("the bridge does not work on this release of Go: Done falls back to a channel and AfterFunc")
	}
	for _, works := range []bool{true, false} {
		for _, source := range []Source{ByCancel, ByDeadline} {
			s := Open(context.Background())
			s.connect(works)
			type key struct{}
			direct, stop := context.WithCancel(s)
			defer stop()
			below, stop := context.WithTimeout(context.WithValue(s, key{}, 1), time.Hour)
			defer stop()
			reason := errors.New("why")
			c := s.canceled(source, reason)
			s.cancel(c, 0, clock.Forever)
			for _, ctx := range []context.Context{s, direct, below} {
				<-ctx.Done()
				if ctx.Err() != c.sentinel() || context.Cause(ctx) != error(c) {
					t.Errorf("bridge %v, %v: %T: %v, %v", works, source, ctx, ctx.Err(), context.Cause(ctx))
				}
			}
			s.Close(nil)
			if late, stop := context.WithCancel(s); late.Err() != c.sentinel() {
				stop()
				t.Errorf("bridge %v: a child of a closed scope: %v", works, late.Err())
			} else {
				stop()
			}
		}
	}
}

// As package context promises, Err is nil while Done is open; and the cause is there when Err is.
func TestErrNotBeforeDone(t *testing.T) {
	rounds := 20_000
	if testing.Short() || step.On {
		rounds = 1000
	}
	for i := range rounds {
		s := Open(context.Background())
		s.Done()
		_ = s.Err()
		end := make(chan struct{})
		go func() {
			defer close(end)
			if i%2 == 0 {
				s.Cancel(nil)
			} else {
				s.Close(nil)
			}
		}()
		for s.Err() == nil {
		}
		select {
		case <-s.Done():
		default:
			t.Fatalf("round %d: %v, and Done is open", i, s.Err())
		}
		if _, ok := context.Cause(s).(*Canceled); !ok && i%2 == 0 {
			t.Fatalf("round %d: the cause is %v", i, context.Cause(s))
		}
		<-end
		if i%2 == 0 {
			s.Close(nil)
		}
	}
}

// A method of the result that panics leaves nothing open, and no child behind.
func TestExitPanics(t *testing.T) {
	var broken *url.Error // Unwrap of it panics
	panics := func(name string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", name)
			}
		}()
		f()
	}
	var s *Scope
	panics("run", func() {
		_ = Run(context.Background(), func(r *Scope) error { s = r; r.Done(); return broken })
	})
	if s.state.Load()&closed == 0 {
		t.Error("the scope of Run is open")
	}
	panics("Close", func() {
		var err error = broken
		s = Open(context.Background())
		s.Done()
		s.Close(&err)
	})
	if s.state.Load()&closed == 0 {
		t.Error("the scope of Open is open")
	}
	ended := false
	panics("nursery", func() {
		_ = WithNursery(context.Background(), func(_ context.Context, n *Nursery) error {
			s = n.Scope()
			n.Go(func(ctx context.Context) error {
				defer func() { ended = true }()
				return Sleep(ctx, time.Hour)
			})
			return broken
		})
	})
	if s.state.Load()&closed == 0 || !ended {
		t.Error("the nursery is open, or was left before its child ended:", ended)
	}
}

// A waiter whose wait is over is in no scope's list, however it has ended: it may wait elsewhere by then.
func TestDetach(t *testing.T) {
	for o, end := range map[park.Outcome]func(s *Scope, w *park.Waiter, tok park.Token){
		park.Woken:    func(_ *Scope, w *park.Waiter, tok park.Token) { w.Wake(tok, park.Woken) },
		park.Canceled: func(s *Scope, _ *park.Waiter, _ park.Token) { s.Cancel(nil) },
	} {
		s := Open(context.Background())
		w := park.New(nil)
		tok := w.Arm(clock.Forever)
		ended := make(chan park.Outcome)
		go func() { ended <- w.Wait(s, tok, park.KindOther) }()
		for len((*host)(s).Waits()) == 0 {
			runtime.Gosched()
		}
		end(s, w, tok)
		if got := <-ended; got != o {
			t.Errorf("the wait ended with %v, want %v", got, o)
		}
		tok = w.Arm(clock.Forever) // Waits tells of those that are armed
		if waits := (*host)(s).Waits(); len(waits) > 0 {
			t.Errorf("%v: still in the list, as %v", o, waits)
		}
		w.Withdraw(tok)
		w.Release()
		s.Close(nil)
	}
}
