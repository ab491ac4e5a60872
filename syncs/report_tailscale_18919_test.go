package syncs_test

import (
	"context"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

// tailscale/tailscale#18919. A singleflight with contexts canceled the shared call when its last caller had left, but
// left it where others could find it until it had ended. Who came in between joined a call that was canceled already,
// and got that cancellation, although nothing was wrong with its own context.
//
// Here the call is out of sight before it is canceled. Callers come and go all the time, and none of those who stay ever
// sees another one's cancellation.
func TestReportTailscale18919(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g syncs.Flight[int, int]
		slow := make(chan struct{}) // how long the call takes to end after it was canceled
		ctx, cancel := context.WithCancel(bg)
		left := make(chan error, 1)
		go func() {
			_, err := g.Do(ctx, 1, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				<-slow
				return 0, ctx.Err()
			})
			left <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-left; err != context.Canceled {
			t.Error(err)
		}
		if v, err := g.Do(bg, 1, func(context.Context) (int, error) { return 1, nil }); v != 1 || err != nil {
			t.Errorf("who came while it ended: %d, %v", v, err)
		}
		close(slow)
	})

	// And at the very moment.
	for _, x := range contexts {
		var g syncs.Flight[int, int]
		for i := range some(1000) {
			ctx, cancel := x.make(t)
			call := func(ctx context.Context) (int, error) {
				for range i % 5 {
					if ctx.Err() != nil {
						return 0, ctx.Err()
					}
					yield()
				}
				return 1, nil
			}
			racers := race(func() bool { return true }, inTurn(i, func() { _, _ = g.Do(ctx, 1, call) }, cancel)...)
			for range i % 7 {
				yield()
			}
			if v, err := g.Do(bg, 1, call); v != 1 || err != nil {
				t.Fatalf("%s: %d, %v", x.name, v, err)
			}
			racers.Wait()
		}
	}
}
