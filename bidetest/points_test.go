package bidetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// count checks how many points f passes.
func count(t *testing.T, what string, want int, f func(ctx context.Context) error) {
	t.Helper()
	n, err := bidetest.CancelPoints(context.Background(), f)
	if n != want || err != nil {
		t.Errorf("%s: %d points, want %d; error %v", what, n, want, err)
	}
}

type valueKey struct{}

func TestCancelPoints(t *testing.T) {
	var mu syncs.Mutex
	lock := func(ctx context.Context) error {
		if err := mu.Lock(ctx); err != nil {
			return err
		}
		mu.Unlock()
		return nil
	}
	thrice := func(ctx context.Context) error { return errors.Join(lock(ctx), bide.Check(ctx), ctx.Err()) }
	count(t, "none", 0, func(ctx context.Context) error { return nil })
	count(t, "a lock", 1, lock)
	count(t, "three", 3, thrice)
	count(t, "many", 300, func(ctx context.Context) error {
		for range 100 {
			thrice(ctx)
		}
		return nil
	})
	count(t, "below a value", 3, func(ctx context.Context) error { return thrice(context.WithValue(ctx, valueKey{}, 1)) })
	count(t, "in a scope", 3, func(ctx context.Context) error { return bide.FailAfter(ctx, time.Hour, thrice) })
	count(t, "in a scope below a value, twice", 6, func(ctx context.Context) error {
		return bide.FailAfter(context.WithValue(ctx, valueKey{}, 1), time.Hour, func(ctx context.Context) error {
			return bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { return errors.Join(thrice(ctx), thrice(ctx)) })
		})
	})
	count(t, "in a shield", 3, func(ctx context.Context) error { return bide.Shield(ctx, time.Hour, thrice) })
	count(t, "in a shield below a canceled scope", 3, func(ctx context.Context) error {
		return bide.Run(ctx, func(s *bide.Scope) error {
			s.Cancel(nil)
			return bide.Shield(s, time.Hour, thrice)
		})
	})
	count(t, "below a context of another kind", 3, func(ctx context.Context) error {
		std, stop := context.WithCancel(ctx)
		defer stop()
		return bide.FailAfter(std, time.Hour, thrice)
	})
	count(t, "on other goroutines", 9, func(ctx context.Context) error {
		return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			looks := func(ctx context.Context) error { return errors.Join(ctx.Err(), bide.Check(ctx), bide.Sleep(ctx, 0)) }
			n.Go(looks)
			n.Go(looks, bide.Timeout(time.Hour))
			n.Service(looks)
			return nil
		})
	})
	count(t, "Done is none", 0, func(ctx context.Context) error {
		ctx.Done()
		bide.From(ctx).AfterFunc(func() {})()
		_, stop := context.WithTimeout(ctx, time.Hour)
		stop()
		return nil
	})
	count(t, "canceled", 4, func(ctx context.Context) error {
		bide.From(ctx).Cancel(nil)
		for range 3 {
			if bide.Sleep(ctx, time.Hour) == nil {
				t.Error("not canceled")
			}
		}
		return bide.Check(ctx) // dropped, since it is the scope's own
	})
}

// A count within a count counts for both.
func TestCancelPointsNested(t *testing.T) {
	inner := 0
	count(t, "both", 3, func(ctx context.Context) error {
		bide.Check(ctx)
		n, err := bidetest.CancelPoints(ctx, func(ctx context.Context) error { return errors.Join(bide.Check(ctx), bide.Check(ctx)) })
		inner = n
		return err
	})
	if inner != 2 {
		t.Errorf("the inner one has counted %d", inner)
	}
}

// Who counts is told before the look, so that he may decide what it sees. (Whoever explores cancellations will.)
func TestPointIsBeforeTheLook(t *testing.T) {
	var s *bide.Scope
	points := 0
	root := bide.Open(context.Background())
	root.Value(park.Key{}).(registry.Scope).OnPoint(func(registry.Point) {
		if points++; points == 5 {
			root.Cancel(nil)
		}
	})
	s = bide.Open(bide.Open(root))
	for range 4 {
		if s.Err() != nil {
			t.Error("too early")
		}
	}
	if s.Err() != context.Canceled || points != 5 {
		t.Errorf("Err = %v at point %d", s.Err(), points)
	}
	root.Close(nil)
}

func TestCancelPointsResult(t *testing.T) {
	want := errors.New("f's")
	if _, err := bidetest.CancelPoints(context.Background(), func(context.Context) error { return want }); err != want {
		t.Errorf("error %v", err)
	}
	s := bide.Open(context.Background())
	s.Cancel(want)
	n, err := bidetest.CancelPoints(s, bide.Check)
	if e, ok := err.(*bide.Canceled); n != 1 || !ok || e.Reason != want {
		t.Errorf("%d points, error %v", n, err)
	}
	s.Close(nil)
	defer func() {
		if v := recover(); v != any("f's") {
			t.Errorf("panicked with %v", v)
		}
	}()
	bidetest.CancelPoints(context.Background(), func(context.Context) error { panic("f's") })
}
