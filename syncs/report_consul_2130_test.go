package syncs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// hashicorp/consul#2130 (and the kernels of GoBench that it is alike). A function that had the lock for reading called
// another that took it for reading once more. When a writer had come in between, the second RLock waited for the writer,
// and the writer for the end of the first: an agent that stood still for good.
//
// Here each of the two is bounded, and when one leaves the other goes on.
func TestReportConsul2130(t *testing.T) {
	for _, leaves := range []string{"reader", "writer"} {
		synctest.Test(t, func(t *testing.T) {
			var m syncs.RWMutex
			m.TryRLock()
			limits := map[string]time.Duration{"reader": time.Hour, "writer": time.Hour}
			limits[leaves] = time.Second
			start := time.Now()
			writer := make(chan error)
			go func() { writer <- bide.FailAfter(context.Background(), limits["writer"], m.Lock) }()
			synctest.Wait()
			err := bide.FailAfter(context.Background(), limits["reader"], m.RLock)
			if d := time.Since(start); d != time.Second {
				t.Errorf("the second RLock returned after %v", d)
			}
			if leaves == "reader" {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the reader: %v", err)
				}
				m.RUnlock()
				if err := <-writer; err != nil {
					t.Errorf("the writer: %v", err)
				}
				m.Unlock()
			} else {
				if err != nil {
					t.Errorf("the reader: %v", err)
				}
				if err := <-writer; !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the writer: %v", err)
				}
				m.RUnlock()
				m.RUnlock()
			}
			if !m.Idle() {
				t.Error("something is left")
			}
		})
	}
}
