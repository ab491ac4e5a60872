package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#44343. Sleeps of some microseconds took a millisecond on Linux, where the runtime's poller counts in
// milliseconds, and up to sixteen on Windows.
//
// Here a sleep says what it tolerates, and with less than a millisecond it is on the precise service. How late that is, is
// measured elsewhere; it is never early, and by default a sleep stays on the coarse one.
func TestReportGo44343RealTime(t *testing.T) {
	spans := []time.Duration{1, time.Microsecond, 27 * time.Microsecond, 100 * time.Microsecond, 999 * time.Microsecond}
	for _, c := range []struct {
		name string
		opts []timer.Option
		s    *timer.Service
	}{
		{"tolerance 0", []timer.Option{timer.Tolerance(0)}, timer.Precise()},
		{"tolerance 50µs", []timer.Option{timer.Tolerance(50 * time.Microsecond)}, timer.Precise()},
		{"default", nil, timer.Default()},
	} {
		for place, enter := range map[string]func(f func(ctx context.Context) error) error{
			"background": func(f func(ctx context.Context) error) error { return f(context.Background()) },
			"scope": func(f func(ctx context.Context) error) error {
				return bide.FailAfter(context.Background(), time.Hour, f)
			},
		} {
			fired := map[*timer.Service]int64{}
			for _, s := range []*timer.Service{timer.Default(), timer.Precise()} {
				fired[s] = s.Stats().Fired
			}
			err := enter(func(ctx context.Context) error {
				for _, d := range spans {
					at, start := clock.After(d), time.Now()
					if err := bide.Sleep(ctx, d, c.opts...); err != nil {
						return err
					}
					if now := clock.Now(); now < at {
						t.Errorf("%s, %s: a sleep of %v was %v too short", c.name, place, d, at.Sub(now))
					}
					if took := time.Since(start); took < d {
						t.Errorf("%s, %s: a sleep of %v took %v", c.name, place, d, took)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := c.s.Stats().Fired - fired[c.s]; n < int64(len(spans)) {
				t.Errorf("%s, %s: the service that was meant has fired %d of %d", c.name, place, n, len(spans))
			}
			if p := timer.Precise(); c.s != p && p.Stats().Fired != fired[p] {
				t.Errorf("%s, %s: the precise service has fired", c.name, place)
			}
		}
	}
	if n := timer.Precise().Stats().Pending; n != 0 {
		t.Errorf("%d pending", n)
	}
}
