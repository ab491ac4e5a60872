package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// The bound of a child does not run while Go waits for a slot.
func TestLimitBoundBubble(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		var left time.Duration
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Minute) })
			n.Go(func(ctx context.Context) error {
				left = bide.Remaining(ctx)
				return bide.Sleep(ctx, time.Second/2)
			}, bide.Timeout(time.Second))
			return nil
		}, bide.Limit(1))
		if err != nil || left != time.Second {
			t.Errorf("%v, with %v left at the beginning", err, left)
		}
	})
}

// A child whose options are wrong is none: it has no slot, and nobody waits for it.
func TestMisuseOptionsOfChildBubble(t *testing.T) {
	for name, call := range map[string]func(n *bide.Nursery, o bide.Option){
		"Go":      func(n *bide.Nursery, o bide.Option) { n.Go(succeed, o) },
		"TryGo":   func(n *bide.Nursery, o bide.Option) { n.TryGo(succeed, o) },
		"Service": func(n *bide.Nursery, o bide.Option) { n.Service(succeed, o) },
	} {
		bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
			err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				func() {
					defer func() {
						if v, want := recover(), "bide: "+name+" has no use for Limit"; v != want {
							t.Errorf("%s: panic %v, want %s", name, v, want)
						}
					}()
					call(n, bide.Limit(1))
				}()
				if !n.TryGo(succeed) {
					t.Errorf("%s: the slot is not free", name)
				}
				return nil
			}, bide.Limit(1))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func succeed(context.Context) error { return nil }
