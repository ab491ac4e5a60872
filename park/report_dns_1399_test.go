package park_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// miekg/dns#1399. A query copied its context's deadline onto the socket and never looked at Done: a context that was
// canceled earlier ended nothing. golang/go#35594 is the neighbor: "no deadline" was taken for a deadline at the zero
// time, so that everything had timed out from the start.
func TestReportDNS1399Bubble(t *testing.T) {
	type maker = func(context.Context) (context.Context, func())
	for name, under := range map[string]maker{
		"std with a deadline": func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, time.Hour)
		},
		"std without": func(ctx context.Context) (context.Context, func()) {
			return context.WithCancel(ctx)
		},
		"scope with a deadline": func(ctx context.Context) (context.Context, func()) {
			s := bide.Open(ctx, bide.Timeout(time.Hour))
			return s, func() { s.Cancel(nil) }
		},
		"scope without": func(ctx context.Context) (context.Context, func()) {
			s := bide.Open(ctx)
			return s, func() { s.Cancel(nil) }
		},
		"scope below std with a deadline": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			return bide.Open(ctx), cancel
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := under(context.Background())
				start := time.Now()
				time.AfterFunc(59*time.Minute, cancel)
				w := park.Get()
				defer park.Put(w)
				if o := w.Wait(ctx, w.Arm(clock.Forever), park.KindOther); o != park.Canceled {
					t.Errorf("outcome %v", o)
				}
				if d := time.Since(start); d != 59*time.Minute {
					t.Errorf("ended after %v, was canceled after 59 minutes", d)
				}
			})
		})
	}
}
