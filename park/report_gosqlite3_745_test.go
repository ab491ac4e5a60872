package park_test

import (
	"context"
	"sync"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// mattn/go-sqlite3#745. Each query had a goroutine that watched its context and interrupted the connection. The query
// returned without waiting for it, so an interrupt that was already on its way hit the query that came next on the same
// connection, whose context was in good health.
//
// Here a kept waiter is the connection. Its first query's context is canceled in the instant in which it completes; the
// next one's never is.
func TestReportGoSqlite3_745(t *testing.T) {
	std, stop := context.WithCancel(context.Background())
	defer stop()
	for _, c := range []struct {
		name  string
		first func() (ctx context.Context, cancel func(), end func())
	}{
		{"scope", func() (context.Context, func(), func()) {
			s := bide.Open(context.Background())
			return s, func() { s.Cancel(nil) }, func() { s.Close(nil) }
		}},
		{"scope right below std", func() (context.Context, func(), func()) {
			ctx, cancel := context.WithCancel(std)
			s := bide.Open(ctx)
			return s, cancel, func() { s.Close(nil) }
		}},
		{"std", func() (context.Context, func(), func()) {
			ctx, cancel := context.WithCancel(std)
			return ctx, cancel, func() {}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := park.New(nil)
			healthy := open(t, context.Background())
			interrupted := 0
			for i := range some(10_000) {
				ctx, cancel, end := c.first()
				var watchers sync.WaitGroup
				tok := w.Arm(clock.Forever)
				watch, complete := cancel, func() { w.Wake(tok, park.Woken) }
				if i%2 == 0 { // who is started last usually runs first
					watch, complete = complete, watch
				}
				watchers.Go(watch)
				watchers.Go(complete)
				if w.Wait(ctx, tok, park.KindOther) == park.Canceled {
					interrupted++
				}
				next := w.Arm(clock.Forever)
				watchers.Go(func() { w.Wake(next, park.User) })
				if o := w.Wait(healthy, next, park.KindOther); o != park.User {
					t.Fatalf("the next query ended with %v", o)
				}
				watchers.Wait()
				end()
			}
			t.Logf("%d first queries were interrupted", interrupted)
		})
	}
}
