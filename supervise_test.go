package bide_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// Under Supervise a child that fails concerns nobody else; a body that fails does.
func TestSuperviseBodyFailsBubble(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		failure, other := errors.New("the body's"), errors.New("a child's")
		begun := time.Now()
		var slept error
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { return other })
			n.Go(func(ctx context.Context) error { slept = bide.Sleep(ctx, time.Hour); return slept })
			if err := bide.Sleep(ctx, time.Second); err != nil {
				t.Errorf("a child's failure has ended the body: %v", err)
			}
			return failure
		}, bide.Supervise())
		var c *bide.Canceled
		if !errors.As(slept, &c) || c.Source != bide.ByBody || time.Since(begun) != time.Second {
			t.Errorf("the other child has ended after %v, with %v", time.Since(begun), slept)
		}
		if !errors.Is(err, failure) || !errors.Is(err, other) {
			t.Error(err)
		}
	})
}
