package rows

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// P12: the round trip of two bounded waits of two goroutines: under a scope, under an absolute deadline, and right below
// a standard context.
var p12 = pair.Row{
	Name: "P12", Title: "wait for another goroutine, bounded", Quick: true,
	Run: runP12,
	Lines: []pair.Line{
		{Case: "scope", Ours: "scope", Rival: "channel", Of: pair.Ns, Target: pair.Within(1.4)},
		{Case: "scope", Ours: "scope", Rival: "select+NewTimer", Of: pair.Ns, Target: pair.AtLeast(2.5)},
		{Case: "scope", Ours: "scope", Rival: "select+WithTimeout", Of: pair.Ns},
		{Case: "deadline", Ours: "deadline", Rival: "channel", Of: pair.Ns, Target: pair.Within(1.4)},
		{Case: "deadline", Ours: "deadline", Rival: "select+NewTimer", Of: pair.Ns, Target: pair.AtLeast(2.5)},
		{Case: "below a standard context", Ours: "below std", Rival: "select+ctx.Done", Of: pair.Ns, Target: pair.Within(1.2)},
		{Case: "scope", Ours: "scope", Of: pair.Bytes, Target: pair.AtMost(0)},
		{Case: "deadline", Ours: "deadline", Of: pair.Bytes, Target: pair.AtMost(0)},
		{Case: "below a standard context", Ours: "below std", Of: pair.Bytes, Target: pair.AtMost(0)},
	},
}

func runP12(r *pair.Run) error {
	std, cancel := context.WithCancel(context.Background())
	defer cancel()
	scope := bide.Open(context.Background(), bide.Timeout(time.Hour))
	defer scope.Close(nil)
	below := bide.Open(std, bide.Timeout(time.Hour))
	defer below.Close(nil)
	far := clock.After(time.Hour)
	for r.Next() {
		r.Op("channel", channels(func(ch chan struct{}) bool { _, ok := <-ch; return ok }))
		r.Op("scope", waiters(scope, clock.Forever))
		r.Op("select+NewTimer", channels(func(ch chan struct{}) bool {
			t := time.NewTimer(time.Minute)
			defer t.Stop()
			select {
			case _, ok := <-ch:
				return ok
			case <-t.C:
				return false
			}
		}))
		r.Op("deadline", waiters(context.Background(), far))
		r.Op("select+WithTimeout", channels(func(ch chan struct{}) bool {
			ctx, cancel := context.WithTimeout(std, time.Minute)
			defer cancel()
			select {
			case _, ok := <-ch:
				return ok
			case <-ctx.Done():
				return false
			}
		}))
		r.Op("below std", waiters(below, clock.Forever))
		r.Op("select+ctx.Done", channels(func(ch chan struct{}) bool {
			select {
			case _, ok := <-ch:
				return ok
			case <-std.Done():
				return false
			}
		}))
	}
	return nil
}

// channels goes to and fro over two channels n times.
func channels(wait func(ch chan struct{}) bool) func(n int) {
	return func(n int) {
		ping, pong, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			for wait(ping) {
				pong <- struct{}{}
			}
		}()
		for range n {
			ping <- struct{}{}
			wait(pong)
		}
		close(ping)
		<-over
	}
}

// A partner is one side of a game of waiters. Its token is written by its owner before that wakes the other side.
type partner struct {
	w *park.Waiter
	t park.Token
	_ [64]byte
}

// waiters does it with two waiters that are kept.
func waiters(ctx context.Context, due clock.Instant) func(n int) {
	ping, pong := partner{w: park.New(nil)}, partner{w: park.New(nil)}
	return func(n int) {
		over := make(chan struct{})
		pong.t = pong.w.Arm(due)
		go func() {
			defer close(over)
			for pong.w.Wait(ctx, pong.t, park.KindOther) == park.Woken {
				pong.t = pong.w.Arm(due)
				ping.w.Wake(ping.t, park.Woken)
			}
		}()
		for range n {
			ping.t = ping.w.Arm(due)
			pong.w.Wake(pong.t, park.Woken)
			ping.w.Wait(ctx, ping.t, park.KindOther)
		}
		pong.w.Wake(pong.t, park.Closed)
		<-over
		ping.w.Release()
		pong.w.Release()
	}
}
