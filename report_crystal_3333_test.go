package bide_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// Crystal 3333. A home-made with_timeout spawned one fiber for the work and one that slept, and took what arrived first on
// a channel. Whoever was second stayed: the sleeper until its time had passed, the worker for ever.
//
// Here the bound is an entry in the caller's scope. Work that is done in time takes it along, an hour before it would have
// come; work that is late ends, since its own wait does.
func TestReportCrystal3333(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waits = 1000
		v := clock.NewVirtual()
		s := timer.For(v)
		scheduled, most := s.Stats().Scheduled, 0
		for range waits {
			var f syncs.Future[int]
			got := 0
			go func() {
				synctest.Wait() // until it is waited for
				most = max(most, s.Stats().Pending)
				f.Set(42)
			}()
			err := bide.FailAfter(context.Background(), time.Hour, func(ctx context.Context) (err error) {
				got, err = f.Wait(ctx)
				return err
			}, bide.Clock(v))
			if err != nil || got != 42 {
				t.Fatalf("%d, %v", got, err)
			}
			if n := s.Stats().Pending; n != 0 {
				t.Fatalf("%d timeouts are pending after a wait", n)
			}
		}
		if n := s.Stats().Scheduled - scheduled; n < waits || most != 1 {
			t.Errorf("%d timeouts for %d waits, at most %d at once", n, waits, most)
		}
		if v.Jump() {
			t.Error("an alarm is set, though nobody waits")
		}
		if g := ours(); g != nil {
			t.Errorf("%d goroutines are left:\n%s", len(g), strings.Join(g, "\n\n"))
		}
	})
}

// TestReportCrystal3333Late: what is late leaves nothing either; nobody sets the future any more.
func TestReportCrystal3333Late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waits = 1000
		v := clock.NewVirtual()
		s := timer.For(v)
		ended := make(chan error, waits)
		for range waits {
			go func() {
				var f syncs.Future[int]
				ended <- bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
					_, err := f.Wait(ctx)
					return err
				}, bide.Clock(v))
			}()
		}
		synctest.Wait()
		if n := s.Stats().Pending; n != waits {
			t.Errorf("%d timeouts for %d waits", n, waits)
		}
		v.Advance(time.Second)
		for range waits {
			var late *bide.TimeoutError
			if err := <-ended; !errors.As(err, &late) {
				t.Fatalf("%v, want a *TimeoutError", err)
			}
		}
		if n := s.Stats().Pending; n != 0 || v.Jump() {
			t.Errorf("%d timeouts are pending, or an alarm is set", n)
		}
		if g := ours(); g != nil {
			t.Errorf("%d goroutines are left:\n%s", len(g), strings.Join(g, "\n\n"))
		}
	})
}
