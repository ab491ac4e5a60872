package bide_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// Stops of scopes anywhere in a tree, against everything else that may happen to it: shields that are entered, waited in
// and left, Draining that is asked for, scopes that are opened, canceled, bounded and closed. In the end, after a hard
// stop of the root, every wait has come back, whoever waited for Draining has been told, and nothing is left behind.
func TestStressStop(t *testing.T) {
	until, seed := stressed(t)
	v := clock.NewVirtual()
	service := timer.For(v)
	for round := uint64(0); time.Now().Before(until); round++ {
		r := rand.New(rand.NewPCG(seed, round))
		above := bide.Open(context.Background(), bide.Clock(v))
		root := bide.Open(above)
		ctxs := []context.Context{root}
		later := map[context.Context]bool{} // below a standard context: told by a goroutine
		var stops []context.CancelFunc
		for range 2 + r.IntN(8) {
			ctx := ctxs[r.IntN(len(ctxs))]
			below := later[ctx]
			switch r.IntN(6) {
			case 0:
				ctx = context.WithValue(ctx, valueKey{}, 1)
			case 1:
				child, stop := context.WithCancel(ctx)
				stops, ctx, below = append(stops, stop), child, true
			}
			ctx = bide.Open(ctx)
			ctxs, later[ctx] = append(ctxs, ctx), below
		}
		var never syncs.Event
		var group, told, late sync.WaitGroup
		var waiting atomic.Int64
		wait := func(ctx context.Context) error {
			waiting.Add(1)
			defer waiting.Add(-1)
			err := never.Wait(ctx)
			if err == nil {
				t.Error("woken by nobody")
			}
			return err
		}
		for g := range uint64(4) {
			group.Go(func() {
				r := rand.New(rand.NewPCG(seed+g+1, round))
				for range 12 {
					ctx := ctxs[r.IntN(len(ctxs))]
					s := bide.From(ctx)
					switch r.IntN(12) {
					case 0, 1:
						group.Go(func() { _ = wait(ctx) })
					case 2, 3: // a shield that ends by its own bound, or by a hard end
						d := time.Duration(20 + r.IntN(40))
						group.Go(func() {
							err := bide.Shield(ctx, d, func(ctx context.Context) error {
								return bide.FailAfter(ctx, time.Hour, wait)
							})
							if e := new(bide.TimeoutError); !errors.As(err, &e) || e.Limit > d {
								t.Errorf("a shield of %v: %v", d, err)
							}
						})
					case 4: // and one that is left
						group.Go(func() {
							_ = bide.Shield(ctx, time.Hour, func(ctx context.Context) error { _ = ctx.Err(); return ctx.Err() })
						})
					case 5:
						d := bide.Draining(ctx)
						told.Go(func() { <-d })
					case 6:
						s.Stop(time.Duration(r.IntN(30)), errStop)
						if !isClosed(bide.Draining(ctx)) {
							t.Error("Draining is open after Stop")
						}
					case 7:
						s.Stop(0, errStop)
						if s.Err() == nil && !later[ctx] {
							t.Error("live after a hard Stop")
						}
					case 8:
						s.SetTimeout(time.Duration(r.IntN(60)))
					case 9:
						v.Advance(time.Duration(r.IntN(10)))
					case 10:
						k := bide.Open(ctx)
						_, _ = k.Err(), k.Err()
						k.Stop(time.Duration(r.IntN(5)), errStop)
						k.Close(nil)
					case 11:
						if s != root && r.IntN(4) == 0 {
							s.Cancel(errStop)
						}
					}
				}
			})
		}
		grace := time.Duration(r.IntN(50))
		late.Go(func() { root.Stop(grace, errStop) }) // it may come when all is closed
		group.Go(func() { root.Stop(0, errStop) })
		group.Wait()
		if waiting.Load() != 0 {
			t.Errorf("%d waiting", waiting.Load())
		}
		told.Wait()
		for _, ctx := range ctxs {
			if later[ctx] {
				<-ctx.Done()
			}
			if s := bide.From(ctx); s.Cause() == nil {
				t.Errorf("%v is live after the hard stop of the root", s)
			}
		}
		for _, ctx := range ctxs {
			group.Go(func() { bide.From(ctx).Close(nil) })
		}
		group.Wait()
		above.Close(nil)
		for _, stop := range stops {
			stop()
		}
		late.Wait() // until then the timer of a Stop that it has replaced may be pending
		if n := service.Stats().Pending; n != 0 {
			t.Errorf("%d pending", n)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}
