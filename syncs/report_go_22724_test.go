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

// golang/go#22724. net's resolver let one lookup serve all who asked for the same name, under the context of the first.
// When that one was canceled, the others, who had all the time in the world, got its cancellation.
//
// Here the lookup has a context of its own, which ends when nobody is left who wants the answer.
func TestReportGo22724(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lookups syncs.Flight[string, string]
		lookup := func(ctx context.Context) (string, error) {
			return "192.0.2.1", bide.Sleep(ctx, 10*time.Second)
		}
		ask := func(bound time.Duration) chan error {
			got := make(chan error, 1)
			go func() {
				v, err := bide.Within(bg, bound, func(ctx context.Context) (string, error) {
					return lookups.Do(ctx, "example.com", lookup)
				})
				if (err == nil) != (v == "192.0.2.1") {
					t.Errorf("%q, %v", v, err)
				}
				got <- err
			}()
			synctest.Wait()
			return got
		}
		start := time.Now()
		hasty, patient := ask(time.Second), ask(time.Hour)
		if err := <-hasty; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first one: %v", err)
		}
		if err := <-patient; err != nil || time.Since(start) != 10*time.Second {
			t.Errorf("the other one: %v after %v", err, time.Since(start))
		}
	})
}
