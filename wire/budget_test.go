package wire_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/wire"
)

func TestBudget(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		b          wire.Budget
		left       time.Duration // 0: no deadline
		want, need time.Duration
	}{
		{wire.Budget{}, 0, forever, 0},
		{wire.Budget{Slack: ms, MinWork: ms}, 0, forever, 0},
		{wire.Budget{MaxPerTry: 5 * ms}, 0, 5 * ms, 0},
		{wire.Budget{}, 100 * ms, 100 * ms, 0},
		{wire.Budget{}, 1, 1, 0},
		{wire.Budget{Slack: 20 * ms}, 100 * ms, 80 * ms, 0},
		{wire.Budget{Slack: 20 * ms, MaxPerTry: 50 * ms}, 100 * ms, 50 * ms, 0},
		{wire.Budget{Slack: 20 * ms, MaxPerTry: 50 * ms}, 60 * ms, 40 * ms, 0},
		{wire.Budget{Slack: 20 * ms, MinWork: 80 * ms}, 100 * ms, 80 * ms, 0},
		{wire.Budget{Slack: 20 * ms, MinWork: 80*ms + 1}, 100 * ms, 0, 100*ms + 1},
		{wire.Budget{Slack: 100 * ms}, 100 * ms, 0, 100 * ms},
		{wire.Budget{Slack: 99 * ms}, 100 * ms, ms, 0},
		{wire.Budget{MinWork: 80 * ms, MaxPerTry: 50 * ms}, 100 * ms, 50 * ms, 0}, // what is left would do
	} {
		ctx, _ := bidetest.Virtual(t)
		s := bide.Open(ctx)
		if c.left > 0 {
			s.SetTimeout(c.left)
		}
		got, err := c.b.Next(s, "stock")
		var e *wire.BudgetError
		switch {
		case c.need == 0 && (err != nil || got != c.want):
			t.Errorf("%+v of %v: %v, %v; want %v", c.b, c.left, got, err, c.want)
		case c.need > 0 && (!errors.As(err, &e) || *e != wire.BudgetError{Hop: "stock", Left: c.left, Need: c.need} || got != 0):
			t.Errorf("%+v of %v: %v, %v; want %v needed", c.b, c.left, got, err, c.need)
		}
		s.Close(nil)
	}
}

// A canceled context is what ended it, whatever the budget says.
func TestBudgetCanceled(t *testing.T) {
	ctx, _ := bidetest.Virtual(t)
	err := bide.FailAfter(ctx, 0, func(ctx context.Context) error {
		_, err := wire.Budget{MinWork: time.Second}.Next(ctx, "stock")
		var c *bide.Canceled
		if !errors.As(err, &c) || c.Source != bide.ByDeadline {
			t.Errorf("%v (%T)", err, err)
		}
		return err
	}, bide.Name("checkout"))
	var late *bide.TimeoutError
	if !errors.As(err, &late) || late.Scope != "checkout" {
		t.Error(err)
	}
}

// The error is a timeout to whoever asks, and survives a scope that expires before it has come out.
func TestBudgetError(t *testing.T) {
	ctx, vc := bidetest.Virtual(t)
	err := bide.FailAfter(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		vc.Advance(88 * time.Millisecond)
		_, err := wire.Budget{Slack: 20 * time.Millisecond, MinWork: 100 * time.Millisecond}.Next(ctx, "stock.example")
		vc.Advance(time.Second)
		return err
	})
	var e *wire.BudgetError
	if !errors.As(err, &e) || e.Hop != "stock.example" {
		t.Fatalf("%v (%T)", err, err)
	}
	if got, want := err.Error(), "bide/wire: stock.example was not asked: 12ms left, 120ms needed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := (&wire.BudgetError{Need: 1}).Error(), "bide/wire: the next hop was not asked: 0s left, 1ns needed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var ne net.Error
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || !errors.As(err, &ne) || !ne.Timeout() || !ne.Temporary() {
		t.Errorf("what %v matches", err)
	}
	defer func() {
		if p := recover(); p != "bide/wire: a Budget with a negative duration" {
			t.Error(p)
		}
	}()
	wire.Budget{Slack: -1}.Next(ctx, "")
}

// Down a chain each hop gets less, and what it gets is never more than what was left.
func TestBudgetChain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.Custom(func(rt *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(rt, "d"))
		})
		ctx, _ := bidetest.Virtual(t)
		left := d.Draw(rt, "left") + 1
		var open []*bide.Scope
		defer func() {
			for i := range open {
				open[len(open)-1-i].Close(nil)
			}
		}()
		for range rapid.IntRange(1, 5).Draw(rt, "hops") {
			s := bide.Open(ctx, bide.Timeout(left))
			open, ctx = append(open, s), s
			b := wire.Budget{Slack: d.Draw(rt, "slack") / 4, MinWork: d.Draw(rt, "min") / 4, MaxPerTry: d.Draw(rt, "max")}
			got, err := b.Next(ctx, "next")
			if fits := left-b.Slack >= max(b.MinWork, 1); (err == nil) != fits {
				rt.Fatalf("%+v of %v: %v, %v", b, left, got, err)
			}
			if err != nil {
				return
			}
			if got <= 0 || got > left-b.Slack || b.MaxPerTry > 0 && got > b.MaxPerTry {
				rt.Fatalf("%+v of %v gives %v", b, left, got)
			}
			left = got
		}
	})
}
