package bide_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// The report lists who is left at the hard end, as it was before anybody was canceled.
func TestStopReport(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		var m syncs.Mutex
		m.TryLock()
		var never syncs.Event
		var value syncs.Future[int]
		s := bide.Open(ctx, bide.Name("app"))
		std, stop := context.WithCancel(s)
		defer stop()
		op := c.Start(func() error {
			return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(m.Lock)
				n.Go(m.Lock)
				n.Go(never.Wait)
				n.Go(func(ctx context.Context) error {
					return bide.FailAfter(ctx, time.Hour, never.Wait, bide.Name("bounded"))
				}, bide.Name("job"))
				n.Go(func(ctx context.Context) error {
					return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
						n.Service(never.Wait)
						n.Service(func(ctx context.Context) error {
							return bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error {
								std, stop := context.WithCancel(ctx)
								defer stop()
								return bide.FailAfter(std, time.Hour, never.Wait)
							})
						}, bide.Name("service"))
						n.Go(func(ctx context.Context) error { _, err := value.Wait(ctx); return err })
						return nil
					})
				})
				return never.Wait(ctx)
			}, bide.Name("crew"))
		})
		op.Parked("a crew")
		vc.Advance(time.Second)
		handler := c.Start(func() error { // right below a std context: it is linked to nobody
			return bide.FailAfter(std, time.Hour, func(ctx context.Context) error { _, err := value.Wait(ctx); return err }, bide.Name("GET /"))
		})
		handler.Parked("a handler")
		goodbye := c.Start(func() error {
			gone := bide.Open(s)
			defer gone.Close(nil)
			gone.Cancel(nil)
			return bide.Shield(gone, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) })
		})
		goodbye.Parked("a shield in a canceled scope")
		c.NoError(bide.FailAfter(s, time.Hour, func(ctx context.Context) error { ctx.Done(); return nil }, bide.Name("ended")))
		s.Stop(grace, failure)
		at, _ := vc.Time(vc.Now().Add(grace))
		c.True(s.StopReport() == nil, "none in the grace")
		vc.Advance(grace)
		r := s.StopReport()
		if !c.True(r != nil, "a report") {
			return
		}
		c.Equal(r.Scope, "app", "scope")
		c.Equal(r.Reason, failure, "reason")
		c.Equal(r.Grace, grace, "grace")
		c.Equal(r.At, at, "at")
		c.True(r.Stacks == nil, "stacks were not asked for")
		slices.SortFunc(r.Left, func(a, b bide.Straggler) int { return strings.Compare(a.Path, b.Path) })
		for i, want := range []bide.Straggler{
			{"app/(shield)", grace, bide.Ledger{{Kind: park.KindSleep, Open: 1}}, 0},
			{"app/GET /", grace, bide.Ledger{{Kind: park.KindFuture, Open: 1}}, 0},
			{"app/crew", grace + time.Second, bide.Ledger{{Kind: park.KindLock, Open: 2}, {Kind: park.KindEvent, Open: 2}}, 5},
			{"app/crew/(nursery)", grace + time.Second, bide.Ledger{{Kind: park.KindFuture, Open: 1}}, 1},
			{"app/crew/job/bounded", grace + time.Second, bide.Ledger{{Kind: park.KindEvent, Open: 1}}, 0},
		} {
			if c.True(i < len(r.Left), "%d are left, and %s is missing", len(r.Left), want.Path) {
				c.Equal(r.Left[i], want, want.Path)
			}
		}
		c.Equal(len(r.Left), 5, "how many are left")
		var b strings.Builder
		n, err := r.WriteTo(&b)
		c.NoError(err)
		c.Equal(int(n), b.Len(), "length")
		c.Equal(b.String(), `hard end of scope "app" after a grace of 10s: failure
	app/(shield): open 10s, waiting for sleep
	app/GET /: open 10s, waiting for future
	app/crew: open 11s, waiting for 2 lock, 2 event, children: 5
	app/crew/(nursery): open 11s, waiting for future, children: 1
	app/crew/job/bounded: open 11s, waiting for event
`, "text")
		op.Wait()
		handler.Wait()
		goodbye.Wait()
		s.Stop(0, nil)
		c.True(s.StopReport() == r, "the report stays")
		s.Close(nil)
		c.True(s.StopReport() == r, "the report stays")
	})
}

// Who waits for nothing of ours is left as well, if somebody has looked; who has not looked is found by the stacks.
func TestStopReportOfTheDeaf(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		for _, looks := range []int{0, 2} {
			end := make(chan struct{})
			op := c.Start(func() error {
				return bide.Run(ctx, func(s *bide.Scope) error {
					s.Stop(grace, nil)
					return deaf(s, looks, end)
				}, bide.Name("app"), bide.Stacks())
			})
			op.Parked("deaf")
			var s *bide.Scope
			vc.Advance(grace)
			close(end)
			c.NoError(op.Returned("deaf"))
			s = deafScope
			r := s.StopReport()
			if !c.True(r != nil, "a report") {
				return
			}
			want := "app: open 0s, waiting for nothing of ours"
			if looks > 0 {
				want = "app/deaf: open 10s, waiting for nothing of ours"
			}
			c.Equal(len(r.Left), 1, "left")
			c.Equal(r.Left[0].String(), want, "who")
			found := slices.ContainsFunc(r.Stacks, func(g bide.Stack) bool {
				return g.Count == 1 && strings.HasPrefix(g.State, "chan receive") && strings.HasPrefix(g.Frames[0], "bide_test.deaf.func1 stopreport_test.go:")
			})
			c.True(found, "the stack of the deaf one: %v", r.Stacks)
		}
	})
}

var deafScope *bide.Scope

func deaf(s *bide.Scope, looks int, end chan struct{}) error {
	deafScope = s
	return bide.FailAfter(s, time.Hour, func(ctx context.Context) error {
		for range looks {
			_ = ctx.Err()
		}
		<-end
		return bide.Check(ctx)
	}, bide.Name("deaf"))
}

// There is no report where nobody was left: no Stop, no hard end, nobody there.
func TestStopReportNone(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		c.True(s.StopReport() == nil, "not stopped")
		s.Cancel(nil)
		c.True(s.StopReport() == nil, "canceled")
		s.Close(nil)
		s.Stop(0, nil)
		c.True(s.StopReport() == nil, "closed")
		s = bide.Open(ctx)
		s.Stop(grace, nil)
		s.Close(nil)
		vc.Advance(grace)
		c.True(s.StopReport() == nil, "closed in time")
	})
}

// A writer's error comes back.
func TestStopReportWriteTo(t *testing.T) {
	r := &bide.StopReport{
		Scope: "a", Grace: time.Second,
		Left:   []bide.Straggler{{Path: "a/b", Open: time.Minute, Waits: bide.Ledger{{Kind: park.KindUser, Open: 2}, {Kind: park.KindLock, Open: 1}}}},
		Stacks: []bide.Stack{{Count: 2, State: "select", Frames: []string{"f a.go:1", "g a.go:2"}}},
	}
	var b strings.Builder
	if _, err := r.WriteTo(&b); err != nil || b.String() != `hard end of scope "a" after a grace of 1s
	a/b: open 1m0s, waiting for 2 kind+64, lock
	2 × [select]
		f a.go:1
		g a.go:2
` {
		t.Error(err, b.String())
	}
	if _, err := r.WriteTo(broken{}); err != errBroken {
		t.Error(err)
	}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }
