package syncs_test

import (
	"context"
	"testing"
)

// golang/go#63615. A semaphore's Acquire under a context that was already done succeeded if there were permits, and
// failed if there were none: whether a cancellation was noticed hung on luck, and loops that relied on it ran on.
//
// Cancellation is a state here: every call under it fails, and takes nothing, however much there is to take. See also
// TestCanceledBefore, which goes through all kinds of contexts.
func TestReportGo63615(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range calls {
		c, name := c.make(), c.name
		c.grant()
		for range 100 {
			if err := c.wait(ctx); err != context.Canceled {
				t.Fatalf("%s with something to take: %v", name, err)
			}
		}
		if err := c.wait(context.Background()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
