package park_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A partner is one side of a ping-pong of kept waiters. Its token is written by its owner before the owner wakes the
// other side, and read by that side when it has been woken, so it needs no atomic.
type partner struct {
	w   *park.Waiter
	tok park.Token
	_   [64]byte
}

// pingPong measures round trips of two waits, each armed with what due says and under a context of its own.
func pingPong(b *testing.B, due func() clock.Instant, ctxs [2]context.Context) {
	var ping, pong partner
	ping.w, pong.w = park.New(nil), park.New(nil)
	defer ping.w.Release()
	defer pong.w.Release()
	pong.tok = pong.w.Arm(due())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for pong.w.Wait(ctxs[1], pong.tok, park.KindOther) == park.Woken {
			pong.tok = pong.w.Arm(due())
			ping.w.Wake(ping.tok, park.Woken)
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		ping.tok = ping.w.Arm(due())
		pong.w.Wake(pong.tok, park.Woken)
		if ping.w.Wait(ctxs[0], ping.tok, park.KindOther) != park.Woken {
			b.Fatal("not woken")
		}
	}
	pong.w.Wake(pong.tok, park.Closed)
	<-over
}

func both(ctx context.Context) [2]context.Context { return [2]context.Context{ctx, ctx} }

// BenchmarkP12 is the round trip of two bounded waits of two goroutines.
func BenchmarkP12(b *testing.B) {
	bg := context.Background()
	std, cancel := context.WithCancel(bg)
	defer cancel()
	scope := func(b *testing.B, ctx context.Context) context.Context {
		s := bide.Open(ctx, bide.Timeout(time.Hour))
		b.Cleanup(func() { s.Close(nil) })
		return s
	}
	never := func() clock.Instant { return clock.Forever }
	far := clock.After(time.Hour)
	b.Run("park/background", func(b *testing.B) { pingPong(b, never, both(bg)) })
	b.Run("park/deadline", func(b *testing.B) { pingPong(b, func() clock.Instant { return far }, both(bg)) })
	b.Run("park/relative", func(b *testing.B) {
		pingPong(b, func() clock.Instant { return clock.After(time.Minute) }, both(bg))
	})
	b.Run("park/scope", func(b *testing.B) { pingPong(b, never, both(scope(b, bg))) })
	b.Run("park/scope-each", func(b *testing.B) {
		pingPong(b, never, [2]context.Context{scope(b, bg), scope(b, bg)})
	})
	b.Run("park/below-std", func(b *testing.B) { pingPong(b, never, both(scope(b, std))) })
	b.Run("park/std", func(b *testing.B) { pingPong(b, never, both(std)) })
	for _, c := range anchors {
		b.Run(c.name, func(b *testing.B) {
			ping, pong, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			go func() {
				defer close(over)
				for c.wait(std, ping) {
					pong <- struct{}{}
				}
			}()
			b.ReportAllocs()
			for b.Loop() {
				ping <- struct{}{}
				c.wait(std, pong)
			}
			close(ping)
			<-over
		})
	}
}

// anchors are what users write today: one wait for a channel each; false: it was closed.
var anchors = []struct {
	name string
	wait func(ctx context.Context, ch <-chan struct{}) bool
}{
	{"anchor/channel", func(_ context.Context, ch <-chan struct{}) bool {
		_, ok := <-ch
		return ok
	}},
	{"anchor/select-done", func(ctx context.Context, ch <-chan struct{}) bool {
		select {
		case _, ok := <-ch:
			return ok
		case <-ctx.Done():
			return false
		}
	}},
	{"anchor/select-newtimer", func(_ context.Context, ch <-chan struct{}) bool {
		t := time.NewTimer(time.Minute)
		defer t.Stop()
		select {
		case _, ok := <-ch:
			return ok
		case <-t.C:
			return false
		}
	}},
	{"anchor/select-withtimeout", func(ctx context.Context, ch <-chan struct{}) bool {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		select {
		case _, ok := <-ch:
			return ok
		case <-ctx.Done():
			return false
		}
	}},
}

// BenchmarkArm is what one wait costs without the waiting.
func BenchmarkArm(b *testing.B) {
	kept := func(due func() clock.Instant) func(b *testing.B) {
		return func(b *testing.B) {
			w := park.New(nil)
			defer w.Release()
			b.ReportAllocs()
			for b.Loop() {
				w.Withdraw(w.Arm(due()))
			}
		}
	}
	far := clock.After(time.Hour)
	b.Run("kept/forever", kept(func() clock.Instant { return clock.Forever }))
	b.Run("kept/absolute", kept(func() clock.Instant { return far }))
	b.Run("kept/relative", kept(func() clock.Instant { return clock.After(time.Minute) }))
	pooled := func(due clock.Instant) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := park.GetUntil(due)
				w.Withdraw(w.Arm(due))
				park.Put(w)
			}
		}
	}
	b.Run("pooled/forever", pooled(clock.Forever))
	b.Run("pooled/absolute", pooled(far))
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			park.Put(park.Get())
		}
	})
}
