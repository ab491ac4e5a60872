package bide_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
)

// doneless is a context whose Done panics.
type doneless struct{ context.Context }

func (doneless) Done() <-chan struct{} { panic("doneless") }

// A context that panics while Start waits for a slot leaves no child counted, and takes no slot along.
func TestStartContextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := bide.WithNursery(t.Context(), func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Second) })
			func() {
				defer func() {
					if p := recover(); p != "doneless" {
						t.Error(p)
					}
				}()
				_, _ = bide.Start(doneless{context.Background()}, n, func(context.Context, func(int) bool) error { return nil })
			}()
			time.Sleep(2 * time.Second)
			if !n.TryGo(func(context.Context) error { return nil }) {
				t.Error("the slot is gone")
			}
			return nil
		}, bide.Limit(1))
		if err != nil {
			t.Error(err)
		}
	})
}
