package bidetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

func TestBounded(t *testing.T) {
	var mu syncs.Mutex
	mu.TryLock()
	short := func(f func(ctx context.Context) error) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			bide.MoveOnAfter(ctx, time.Second, f)
			return nil
		}
	}
	for _, x := range []struct {
		name  string
		f     func(ctx context.Context) error
		wants string
	}{
		{"a bound around it", short(mu.Lock), ""},
		{"a bound further up", short(func(ctx context.Context) error { return bide.Run(ctx, func(s *bide.Scope) error { return mu.Lock(s) }) }), ""},
		{"a sleep", func(ctx context.Context) error { return bide.Sleep(ctx, time.Second) }, ""},
		{"a deadline of its own", func(ctx context.Context) error {
			_, err := syncs.WaitAny(ctx, new(syncs.Event), syncs.At(clock.After(time.Second)))
			return err
		}, ""},
		{"no wait", func(ctx context.Context) error { return new(syncs.Mutex).Lock(ctx) }, ""},
		{"a shield", func(ctx context.Context) error { bide.Shield(ctx, time.Second, mu.Lock); return nil }, ""},
		{"none", func(ctx context.Context) error {
			time.AfterFunc(time.Second, mu.Unlock)
			return mu.Lock(ctx)
		}, "bidetest: Bounded: a wait (lock) without a bound, in syncs.(*Mutex).Lock at bounded_test.go:"},
		{"none in a child", func(ctx context.Context) error {
			time.AfterFunc(time.Second, mu.Unlock)
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(mu.Lock)
				return nil
			})
		}, "a wait (lock) without a bound, in syncs.(*Mutex).Lock at bide.(*Nursery).child"},
		{"a waiter of one's own", func(ctx context.Context) error {
			w := park.Get()
			defer park.Put(w)
			token := w.Arm(clock.Forever)
			time.AfterFunc(time.Second, func() { w.Wake(token, park.Woken) })
			w.Wait(ctx, token, park.KindUser)
			return nil
		}, "a wait (kind+64) without a bound, in park.(*Waiter).Wait at bounded_test.go:"},
	} {
		t.Run(x.name, func(t *testing.T) {
			bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
				f := new(fake)
				if err := bidetest.Bounded(f, ctx, x.f); err != nil {
					t.Error(err)
				}
				if x.wants == "" {
					complains(t, f.text())
				} else {
					complains(t, f.text(), x.wants)
				}
			})
		})
	}
	want := errors.New("f's")
	if err := bidetest.Bounded(t, context.Background(), func(context.Context) error { return want }); err != want {
		t.Error(err)
	}
}
