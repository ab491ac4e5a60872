package syncs_test

import (
	"context"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

// golang/go#37852. In a semaphore's queue the first waiter wanted more than there was, and those behind it would have
// been content. When the first was canceled it left, and nobody looked whether the next ones could go on now; they hung
// until somebody happened to release something.
//
// A mutex has the same shape when the one who is to be woken leaves: before the Unlock, after it, and in the moment of
// being woken. Those behind must not notice.
func TestReportGo37852(t *testing.T) {
	for _, c := range contexts {
		for _, when := range []string{"long before", "just before", "just after"} {
			synctest.Test(t, func(t *testing.T) {
				var m syncs.Mutex
				m.TryLock()
				ctx, cancel := c.make(t)
				front := make(chan error, 1)
				go func() {
					err := m.Lock(ctx)
					if err == nil {
						m.Unlock()
					}
					front <- err
				}()
				synctest.Wait()
				behind := waitFor(3, func() error {
					err := m.Lock(context.Background())
					if err == nil {
						m.Unlock()
					}
					return err
				})
				switch when {
				case "long before":
					cancel()
					synctest.Wait()
					m.Unlock()
				case "just before":
					cancel()
					m.Unlock()
				default:
					m.Unlock()
					cancel()
				}
				if n := behind(); n != 3 {
					t.Errorf("%s, %s: %d of 3 behind the front got the lock", c.name, when, n)
				}
				if err := <-front; when == "long before" && err == nil {
					t.Errorf("%s: the front got it although it had left", c.name)
				}
				if !m.Idle() {
					t.Errorf("%s: something is left", c.name)
				}
			})
		}
	}
}
