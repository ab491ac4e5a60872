package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// What a bound may allocate. Under the race detector sync.Pool drops a part of what it is given, so each budget is one
// more there.
func TestAllocs(t *testing.T) {
	bg := context.Background()
	std, stop := context.WithCancel(bg)
	defer stop()
	observed := bide.Open(bg, bide.Timeout(time.Hour))
	defer observed.Close(nil)
	observed.Done()
	below := bide.Open(std, bide.Timeout(time.Hour))
	defer below.Close(nil)
	below.Done()
	value := context.WithValue(observed, valueKey{}, 1)
	var mu, held syncs.Mutex
	held.TryLock()
	n := 0
	for _, b := range []struct {
		name   string
		budget float64
		f      func()
	}{
		{"FailAfter, a capturing closure", 1, func() {
			_ = bide.FailAfter(bg, time.Hour, func(context.Context) error { n++; return nil })
		}},
		{"FailAfter, looked at", 1, func() {
			_ = bide.FailAfter(bg, time.Hour, func(ctx context.Context) error { n++; return ctx.Err() })
		}},
		{"FailAfter, a lock in it", 1, func() {
			_ = bide.FailAfter(bg, time.Hour, func(ctx context.Context) error {
				if err := mu.Lock(ctx); err != nil {
					return err
				}
				mu.Unlock()
				return nil
			})
		}},
		{"FailAfter, expired in a lock", 2, func() { // the errors, with who waited, are one
			_ = bide.FailAfter(bg, 100*time.Microsecond, held.Lock)
		}},
		{"FailAfter, observed", 1, func() {
			_ = bide.FailAfter(bg, time.Hour, func(ctx context.Context) error { _, _ = ctx.Err(), ctx.Err(); return ctx.Err() })
		}},
		{"FailAfter below a standard context, looked at", 1, func() {
			_ = bide.FailAfter(std, time.Hour, func(ctx context.Context) error { return ctx.Err() })
		}},
		{"three nested, looked at", 3, func() {
			_ = bide.FailAfter(bg, time.Hour, func(ctx context.Context) error {
				return bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error {
					return bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { return ctx.Err() })
				})
			})
		}},
		{"MoveOnAfter", 1, func() {
			_, _ = bide.MoveOnAfter(bg, time.Hour, func(context.Context) error { n++; return nil })
		}},
		{"Shield", 1, func() { _ = bide.Shield(observed, time.Hour, func(context.Context) error { n++; return nil }) }},
		{"Open and Close", 1, func() { bide.Open(bg, bide.Timeout(time.Hour)).Close(nil) }},
		{"Err, Check, From of an observed scope", 0, func() {
			_, _, _ = observed.Err(), observed.Check(), bide.From(observed)
		}},
		{"Err below a standard context", 0, func() { _ = below.Err() }},
		{"SetTimeout", 0, func() { observed.SetTimeout(time.Hour) }},
		{"Sleep", 0.1, func() { _ = bide.Sleep(observed, time.Nanosecond) }},
		{"a standard child", 2, func() { _, stop := context.WithCancel(observed); stop() }},
		{"a standard child below a value", 2, func() { _, stop := context.WithCancel(value); stop() }},
		{"a nursery of one", 3, func() {
			_ = bide.WithNursery(bg, func(_ context.Context, n *bide.Nursery) error {
				n.Go(func(context.Context) error { return nil })
				return nil
			})
		}},
		{"a nursery of ten", 12, func() {
			_ = bide.WithNursery(bg, func(_ context.Context, n *bide.Nursery) error {
				for range 10 {
					n.Go(func(context.Context) error { return nil })
				}
				return nil
			})
		}},
	} {
		budget := b.budget
		if raceEnabled {
			budget++ // the pools
		}
		if got := testing.AllocsPerRun(200, b.f); got > budget {
			t.Errorf("%s: %v allocations, budget %v", b.name, got, budget)
		}
	}
}
