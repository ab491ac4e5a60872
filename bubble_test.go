package bide_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// waits are ways to be bounded, by a second of the clock that they run on.
var waits = []struct {
	name string
	wait func(ctx context.Context) error
}{
	{"sleep", func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) }},
	{"lock", func(ctx context.Context) error {
		var mu syncs.Mutex
		mu.TryLock()
		return mu.Lock(ctx)
	}},
	{"event", func(ctx context.Context) error { return new(syncs.Event).Wait(ctx) }},
	{"any", func(ctx context.Context) error {
		_, err := syncs.WaitAny(ctx, new(syncs.Event), new(syncs.Future[int]))
		return err
	}},
	{"value", func(ctx context.Context) error {
		return new(syncs.Event).Wait(context.WithValue(ctx, valueKey{}, 1))
	}},
	{"standard child", func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		return new(syncs.Event).Wait(ctx)
	}},
	{"select", func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}},
	{"nursery", func(ctx context.Context) error {
		return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) })
			n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) }, bide.Timeout(2*time.Hour))
			return nil
		})
	}},
}

type valueKey struct{}

// boundedRealTime checks that each wait ends with the bound. On the real clock it takes a millisecond or two each.
func boundedRealTime(t *testing.T, where string, d time.Duration, exact bool) {
	t.Helper()
	for _, w := range waits {
		began := time.Now()
		err := bide.FailAfter(context.Background(), d, w.wait, bide.Name(w.name))
		took := time.Since(began)
		var late *bide.TimeoutError
		if !errors.As(err, &late) || late.Scope != w.name {
			t.Errorf("%s, %s: %v", where, w.name, err)
		}
		if took < d || exact && took != d {
			t.Errorf("%s, %s: bounded by %v, took %v", where, w.name, d, took)
		}
	}
}

// Pools and shards are filled outside; inside, timed and untimed waits are durable and exact; and outside again
// everything is as before.
func TestBubble(t *testing.T) {
	boundedRealTime(t, "before", time.Millisecond, false)
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			boundedRealTime(t, "inside", time.Hour/2, true)
			untimed(t)
		})
		boundedRealTime(t, "after", time.Millisecond, false)
	}
}

// untimed waits under a scope without a deadline, and under none, are at rest for synctest, and are woken.
func untimed(t *testing.T) {
	for _, ctx := range []context.Context{bide.Open(context.Background()), context.Background()} {
		var e syncs.Event
		var f syncs.Future[int]
		var mu syncs.Mutex
		mu.TryLock()
		done := 0
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { return e.Wait(ctx) })
			n.Go(func(ctx context.Context) error { _, err := f.Wait(ctx); return err })
			n.Go(func(ctx context.Context) error { defer func() { done++ }(); return mu.Lock(ctx) })
			synctest.Wait() // returns only if all three are durably blocked
			if done != 0 {
				t.Error("locked a locked mutex")
			}
			mu.Unlock()
			f.Set(1)
			e.Set()
			synctest.Wait()
			return nil
		})
		if err != nil || done != 1 {
			t.Error(err, done)
		}
	}
}

// A timer, and a scope's deadline, that is pending when the bubble ends harms nobody.
func TestBubbleLeavesPending(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		timer.AfterFunc(time.Hour, func() { t.Error("fired after the bubble's end") })
		bide.Open(context.Background(), bide.Timeout(time.Hour)).Done()
	})
	boundedRealTime(t, "after", time.Millisecond, false)
}
