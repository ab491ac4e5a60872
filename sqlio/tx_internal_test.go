package sqlio

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// What was not sent when end returns is not sent any more, wherever the hard stop comes between.
func TestEndStorm(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	var sentOnes, unsent int
	for i := range rounds {
		bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
			_ = bide.Run(ctx, func(s *bide.Scope) error {
				go func() {
					for range i % 20 {
						runtime.Gosched()
					}
					s.Stop(0, nil)
				}()
				var called atomic.Bool
				sent, err := end(s, "test", func() error { called.Store(true); return nil })
				bidetest.Settle(t)
				if sent != called.Load() || !sent && err == nil {
					t.Errorf("sent %v, called %v, %v", sent, called.Load(), err)
				}
				if sent {
					sentOnes++
				} else {
					unsent++
				}
				return nil
			})
		})
	}
	t.Logf("%d were sent, %d were not", sentOnes, unsent)
}
