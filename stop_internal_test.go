package bide

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
)

// Each transition of a shutdown, from every state that it can start in, with what is scheduled afterwards.
func TestShutdownTransitions(t *testing.T) {
	hit := map[string]int{}
	const second = clock.Instant(time.Second)
	var v *clock.Virtual
	var s *Scope
	is := func(name string, st *shutdown, holds, fired bool, pending int) {
		t.Helper()
		hit[name]++
		if (s.stopping() == st) != holds || st.fired.Load() != fired {
			t.Errorf("%s: holds %v, fired %v", name, s.stopping() == st, st.fired.Load())
		}
		if n := s.timers().Stats().Pending; n != pending {
			t.Errorf("%s: %d pending, want %d", name, n, pending)
		}
		if dead := s.state.Load()&canceled != 0; dead != s.stopping().fired.Load() {
			t.Errorf("%s: canceled %v", name, dead)
		}
	}
	begin := func() *shutdown {
		v = clock.NewVirtual()
		s = Open(context.Background(), Clock(v))
		s.Stop(10*time.Second, nil)
		return s.stopping()
	}

	st := begin()
	is("P1", st, true, false, 1)
	if again, fired := st.Due(9 * second); fired || again != 10*second {
		t.Error("Due before the end:", again, fired)
	}
	s.Stop(time.Minute, nil)
	is("P1, and a longer one", st, true, false, 1)
	s.Stop(5*time.Second, nil) // P2
	is("P2", st, false, false, 1)
	is("P1 again", s.stopping(), true, false, 1)
	st.settle()
	is("P2, and settled all the same", st, false, false, 1)
	v.Advance(5 * time.Second) // P3
	is("P3, the timer", s.stopping(), true, true, 0)
	st.Fire(v.Now()) // a driver that had popped it
	is("P2, and fired all the same", st, false, false, 0)
	s.stopping().Fire(v.Now())
	is("P3 twice", s.stopping(), true, true, 0)
	last := s.stopping()
	s.Stop(0, nil)
	is("P3, and Stop", last, true, true, 0)
	last.settle()
	is("P3, and settled", last, true, true, 0)
	s.Close(nil)

	st = begin()
	s.Stop(0, nil) // P2, P1, P3
	is("P2, at once", st, false, false, 0)
	is("P3, Stop", s.stopping(), true, true, 0)
	s.Close(nil)

	v = clock.NewVirtual()
	late := &slowed{Virtual: v}
	s = Open(context.Background(), Clock(late))
	s.Stop(10*time.Second, nil)
	late.ahead = 10 * time.Second
	if s.Err() == nil { // P3
		t.Error("a look does not see that the hard end has passed")
	}
	is("P3, a look", s.stopping(), true, true, 0)
	s.Close(nil)

	s = Open(context.Background(), Clock(late))
	s.Stop(10*time.Second, nil)
	in := s.stopping()
	late.ahead += 10 * time.Second
	sh := Open(s)
	sh.or(shield)
	if sh.Err() == nil { // P3
		t.Error("a shield's look does not see that the hard end has passed")
	}
	is("P3, a shield's look", in, true, true, 0)
	sh.Close(nil)
	s.Close(nil)

	s = Open(context.Background(), Clock(v))
	s.Stop(time.Duration(clock.Forever), nil)
	is("P1, without an end", s.stopping(), true, false, 0)
	s.Close(nil)
	if len(hit) != 15 {
		t.Errorf("%d kinds of transition, want 15: %v", len(hit), hit)
	}
}

// slowed is a virtual clock whose alarms are late.
type slowed struct {
	*clock.Virtual
	ahead time.Duration
}

func (s *slowed) Now() clock.Instant { return s.Virtual.Now().Add(s.ahead) }

// A deadline whose timer is late, and comes after a hard end of the same scope, is not what ended it; nor the other way
// round.
func TestLateTimers(t *testing.T) {
	for _, x := range []struct {
		deadline, stop time.Duration
		want           Source
	}{{2 * time.Second, time.Second, ByShutdown}, {time.Second, 2 * time.Second, ByDeadline}} {
		late := &slowed{Virtual: clock.NewVirtual()}
		s := Open(context.Background(), Clock(late), Timeout(x.deadline))
		s.Done()
		s.Stop(x.stop, nil)
		late.ahead = time.Minute
		if x.want == ByShutdown {
			(*deadline)(s).Fire(late.Now())
		} else {
			s.stopping().Fire(late.Now())
		}
		if c := s.cause.Load(); c == nil || c.Source != x.want {
			t.Errorf("%v: %v", x.want, c)
		}
		s.Close(nil)

		top := Open(context.Background(), Clock(late), Timeout(time.Second)) // above: outer wins
		s = Open(top)
		s.Done()
		s.Stop(time.Second, nil)
		late.ahead += time.Minute
		s.stopping().Fire(late.Now())
		if c := s.cause.Load(); c == nil || c.Source != ByDeadline {
			t.Errorf("below a deadline: %v", c)
		}
		s.Close(nil)
		top.Close(nil)
	}
}

// Which islands are in the list at the top, from when to when.
func TestIslands(t *testing.T) {
	listed := func(top *Scope) (n int) {
		x := top.extra.Load()
		if x == nil || x.halt.Load() == nil {
			return 0
		}
		h := x.halt.Load()
		h.mu.Lock()
		defer h.mu.Unlock()
		for k := h.islands.Front(); k != nil; k = h.islands.Next(k) {
			n++
		}
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		look := func(s *Scope) { _ = s.Err() }
		twice := func(s *Scope) { look(s); look(s) }
		wait := func(s *Scope) {
			go func() { _ = Sleep(s, time.Hour) }()
			synctest.Wait()
		}
		child := func(s *Scope) {
			k := Open(s)
			k.Done()
			k.Close(nil)
		}
		done := func(s *Scope) { s.Done() }
		drain := func(s *Scope) { Draining(s) }
		shielding := func(ctx context.Context) *Scope {
			s := &Scope{}
			s.open(&callShield, ctx, nil)
			s.bound(time.Hour)
			return s
		}
		std := func(ctx context.Context) *Scope {
			ctx, stop := context.WithCancel(ctx)
			t.Cleanup(stop)
			return Open(ctx)
		}
		detached := func(ctx context.Context) *Scope { return Open(context.WithoutCancel(ctx)) }
		plain := func(ctx context.Context) *Scope { return Open(ctx) }
		for _, x := range []struct {
			name string
			open func(context.Context) *Scope
			does func(*Scope)
			want int
		}{
			{"a shield, new", shielding, func(*Scope) {}, 0},
			{"a shield, looked", shielding, look, 0},
			{"a shield, observed", shielding, twice, 1},
			{"a shield, waited under", shielding, wait, 1},
			{"a shield, a child", shielding, child, 1},
			{"a shield, Draining", shielding, drain, 1},
			{"below a std context, new", std, func(*Scope) {}, 0},
			{"below a std context, observed", std, twice, 0},
			{"below a std context, waited under", std, wait, 1},
			{"below a std context, Done", std, done, 1},
			{"below a std context, a child", std, child, 1},
			{"below a std context, Draining", std, drain, 1},
			{"below WithoutCancel, looked", detached, look, 0},
			{"below WithoutCancel, observed", detached, twice, 1},
			{"a scope", plain, wait, 0},
			{"a scope, Draining", plain, drain, 0},
		} {
			for _, above := range []bool{true, false} {
				top := Open(context.Background())
				parent, want := Open(top), x.want
				ctx := context.Context(parent)
				if !above {
					ctx, want = context.Background(), 0
				}
				s := x.open(ctx)
				if n := listed(top); n != 0 {
					t.Errorf("%s: %d listed at first", x.name, n)
				}
				x.does(s)
				if want > 0 {
					x.does(s) // once in the list is enough
				}
				if n := listed(top); n != want {
					t.Errorf("%s: %d listed, want %d", x.name, n, want)
				}
				parent.Close(nil)
				if n := listed(top); n != want {
					t.Errorf("%s: %d listed after the parent's Close, want %d", x.name, n, want)
				}
				s.Close(nil)
				if n := listed(top); n != 0 || s.links.In() {
					t.Errorf("%s: %d listed after Close", x.name, n)
				}
				top.Close(nil)
			}
		}
	})
}

// A body of a nursery is found by its scope, and only by that.
func TestNurseryOf(t *testing.T) {
	_ = WithNursery(context.Background(), func(ctx context.Context, n *Nursery) error {
		if n.scope.nursery() != n || From(ctx).nursery() != n {
			t.Error("another nursery")
		}
		n.Go(func(ctx context.Context) error {
			if From(ctx).nursery() != nil {
				t.Error("a child's own scope has a nursery")
			}
			return nil
		}, Name("child"))
		n.Service(func(ctx context.Context) error {
			if From(ctx).nursery() != nil {
				t.Error("the services' scope has a nursery")
			}
			return nil
		})
		return nil
	})
}

// Stacks are read from the runtime's text: those with a mark, alike ones once.
func TestParseStacks(t *testing.T) {
	const text = `goroutine 1 [running]:
main.main()
	/src/main.go:10 +0x1d

goroutine 18 [chan receive, 2 minutes labels:{"bide": "main/a[x]: b"}]:
m.example/x/park.(*Waiter).await(0xc0000b2000, {0x0, 0x0})
	/src/x/park/waiter.go:238 +0x85
m.example/x/park.(*Waiter).Wait(...)
	/src/x/park/waiter.go:221
main.(*app).stuck.func1({0x5a8b30, 0xc000014080})
	/src/app.go:42 +0x11c
created by net/http.(*Server).Serve in goroutine 1
	/go/net/http/server.go:3454 +0x485

goroutine 19 [select (durable), synctest bubble 1]:
m.example/x.(*Nursery).child(0xc0000b2000)
	/src/x/child.go:8 +0x85
...additional frames elided...
created by m.example/x.(*Scope).run in goroutine 1
	/src/x/scope.go:1 +0x485

goroutine 20 [chan receive]:
m.example/x/park.(*Waiter).await(0xc0000b3000, {0x0, 0x0})
	/src/x/park/waiter.go:238 +0x85
m.example/x/park.(*Waiter).Wait(...)
	/src/x/park/waiter.go:221
main.(*app).stuck.func1({0x5a8b30, 0xc000014090})
	/src/app.go:42 +0x11c
created by net/http.(*Server).Serve in goroutine 2
	/go/net/http/server.go:3454 +0x485

goroutine 21 [IO wait]:
other.m.example/x.(*Nursery).child(0xc0000b2000)
	/src/x/child.go:8 +0x85
created by m.example/x.(*Nursery).child in goroutine 1
	/src/x/child.go:1 +0x485`
	got := parseStacks(text, "m.example/x")
	want := []Stack{
		{2, "chan receive, 2 minutes", []string{"park.(*Waiter).await waiter.go:238", "park.(*Waiter).Wait waiter.go:221", "main.(*app).stuck.func1 app.go:42"}},
		{1, "select (durable), synctest bubble 1", []string{"x.(*Nursery).child child.go:8"}},
	}
	if len(got) != len(want) {
		t.Fatalf("%d stacks: %v", len(got), got)
	}
	for i, g := range got {
		if g.Count != want[i].Count || g.State != want[i].State || !slices.Equal(g.Frames, want[i].Frames) {
			t.Errorf("got %v, want %v", g, want[i])
		}
	}
	for _, text := range []string{"", "\n\n", "goroutine", "goroutine 1 [", "goroutine 1 [running]:\nm.example/x.WithNursery("} {
		if got := parseStacks(text, "m.example/x"); got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Every kind of goroutine that a report promises is found in a real traceback.
func TestTakeStacks(t *testing.T) {
	end := make(chan struct{})
	blocked := func(ctx context.Context) error { <-end; return nil }
	err := WithNursery(context.Background(), func(ctx context.Context, n *Nursery) error {
		n.Go(blocked)
		n.Go(blocked, Name("own scope"))
		n.Service(blocked)
		n.Go(func(ctx context.Context) error { return FailAfter(ctx, time.Hour, blocked) })
		n.Go(func(ctx context.Context) error {
			_, err := Start(ctx, n, func(ctx context.Context, ready func(int) bool) error {
				ready(1)
				return blocked(ctx)
			})
			return err
		})
		n.Go(func(ctx context.Context) error {
			_, _ = Blocking(ctx, func(ctx context.Context) (int, error) { return 0, blocked(ctx) }, Abandon())
			return nil
		})
		inOpen := make(chan error)
		go func() { // neither a child nor a body, but it waits under a scope
			s := Open(ctx)
			defer s.Close(nil)
			inOpen <- Sleep(s, time.Hour)
		}()
		wanted := []string{
			"bide.(*Nursery).child child.go", "bide.(*Nursery).service child.go", "bide.FailAfter bide.go", "bide.(*handover[...]).run start.go",
			"bide.leave[...].func1 blocking.go", "bide.Sleep bide.go", "bide.WithNursery nursery.go", "bide.(*Scope).run scope.go",
		}
		var missing []string
		for range 10_000 {
			var all strings.Builder
			for _, g := range takeStacks() {
				all.WriteString(strings.Join(g.Frames, "\n"))
			}
			missing = slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return strings.Contains(all.String(), w) })
			if missing == nil || len(missing) == 0 {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("not found: %q", missing)
		}
		close(end)
		n.Cancel(nil)
		<-inOpen
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The report's reason for a Stop by a signal, and what a program makes of errors, is in main_internal_test.go; this is
// about a hook that Main hangs in.
func TestStopHook(t *testing.T) {
	s := Open(context.Background(), Clock(clock.NewVirtual()))
	n := 0
	s.halting().hook = func() {
		n++
		if s.StopReport() == nil || s.state.Load()&canceled != 0 {
			t.Error("the hook is called with the report, before anybody is canceled")
		}
	}
	s.Stop(0, errors.New("why"))
	s.Stop(0, nil)
	if n != 1 {
		t.Errorf("called %d times", n)
	}
	s.Close(nil)
}

// A Close that meets somebody who is about to enlist the island leaves nothing in the list, and nothing scheduled.
func TestCloseAgainstEnlist(t *testing.T) {
	rounds := 20_000
	if testing.Short() || step.On || invariant.On {
		rounds = 2000
	}
	v := clock.NewVirtual()
	for _, c := range []*call{&callShield, &callOpen} {
		top := Open(context.Background(), Clock(v))
		ctx, stop := context.WithCancel(top)
		h := top.halting()
		for range rounds {
			s := &Scope{}
			s.open(c, ctx, nil)
			met := make(chan struct{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				<-met
				_ = s.Err()
				_ = Sleep(s, time.Hour) // refused, or canceled
			}()
			close(met)
			s.Close(nil)
			<-done
		}
		h.mu.Lock()
		if !h.islands.Empty() {
			t.Error(c.name, ": a closed island is listed")
		}
		h.mu.Unlock()
		if n := top.timers().Stats().Pending; n != 0 {
			t.Errorf("%s: %d pending", c.name, n)
		}
		stop()
		top.Close(nil)
	}
}

// Whoever asks for Draining while somebody stops the scope, or one above, is told, whatever comes first. (The stop is
// soft for good: nothing else would tell.)
func TestStopAgainstDraining(t *testing.T) {
	rounds := 20_000
	if testing.Short() || step.On || invariant.On {
		rounds = 2000
	}
	for i := range rounds {
		top := Open(context.Background())
		ctx := context.Context(top)
		var stop context.CancelFunc
		switch i % 3 {
		case 1:
			ctx, stop = context.WithCancel(top)
		case 2:
			s := &Scope{}
			s.open(&callShield, ctx, nil)
			defer s.Close(nil)
			ctx = s
		}
		s := Open(ctx)
		met := make(chan struct{})
		asked := make(chan (<-chan struct{}), 2)
		for range 2 {
			go func() {
				<-met
				asked <- Draining(s)
			}()
		}
		close(met)
		top.Stop(time.Duration(clock.Forever), nil)
		for range 2 {
			select {
			case <-<-asked: // both have returned, so it is closed by now
			default:
				t.Fatalf("round %d: not told", i)
			}
		}
		s.Close(nil)
		if stop != nil {
			stop()
		}
	}
}
