package bide_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Bounds at the edges: nothing wraps around, nothing panics, and the body always runs to its first cancel point.

// seen is what a body sees of its bound, and what becomes of it.
type seen struct {
	inside    error // the first cancel point
	remaining time.Duration
	text      string
	moved     bool
	result    error
}

// body returns a body that looks at its bound.
func (s *seen) body() func(context.Context) error {
	return func(ctx context.Context) error {
		s.inside = bide.Check(ctx)
		s.remaining = bide.Remaining(ctx)
		s.text = bide.From(ctx).String()
		return s.inside
	}
}

func (s *seen) scope(sc *bide.Scope) error { return s.body()(sc) }

// unbounded reports whether it is what a body sees that has no bound.
func (s *seen) unbounded() bool {
	return s.inside == nil && s.result == nil && !s.moved && s.remaining == time.Duration(clock.Forever) && !strings.Contains(s.text, "deadline")
}

// durations are the calls that take a duration.
var durations = []struct {
	name string
	call func(ctx context.Context, d time.Duration) (s seen)
}{
	{"FailAfter", func(ctx context.Context, d time.Duration) (s seen) {
		s.result = bide.FailAfter(ctx, d, s.body())
		return s
	}},
	{"Within", func(ctx context.Context, d time.Duration) (s seen) {
		_, s.result = bide.Within(ctx, d, func(ctx context.Context) (int, error) { return 1, s.body()(ctx) })
		return s
	}},
	{"MoveOnAfter", func(ctx context.Context, d time.Duration) (s seen) {
		s.moved, s.result = bide.MoveOnAfter(ctx, d, s.body())
		return s
	}},
	{"Shield", func(ctx context.Context, d time.Duration) (s seen) {
		s.result = bide.Shield(ctx, d, s.body())
		return s
	}},
	{"SetTimeout", func(ctx context.Context, d time.Duration) (s seen) {
		s.result = bide.Run(ctx, func(sc *bide.Scope) error {
			if !sc.SetTimeout(d) {
				return errors.New("SetTimeout reports false")
			}
			return s.scope(sc)
		})
		return s
	}},
	{"SetTimeout of a waiting scope", func(ctx context.Context, d time.Duration) (s seen) {
		s.result = bide.Run(ctx, func(sc *bide.Scope) error {
			sc.Done() // its deadline is in the timer service
			if !sc.SetTimeout(d) {
				return errors.New("SetTimeout reports false")
			}
			return s.scope(sc)
		}, bide.Timeout(time.Hour))
		return s
	}},
	{"Timeout", func(ctx context.Context, d time.Duration) seen { return optionSeen(ctx, bide.Timeout(d))[0] }},
	{"Timeout of Open", func(ctx context.Context, d time.Duration) seen { return optionSeen(ctx, bide.Timeout(d))[1] }},
	{"Timeout of WithNursery", func(ctx context.Context, d time.Duration) seen { return optionSeen(ctx, bide.Timeout(d))[2] }},
	{"Timeout of Go", func(ctx context.Context, d time.Duration) seen { return optionSeen(ctx, bide.Timeout(d))[3] }},
}

// times are the calls that take a time.
var times = []struct {
	name string
	call func(ctx context.Context, t time.Time) (s seen)
}{
	{"FailAt", func(ctx context.Context, t time.Time) (s seen) {
		s.result = bide.FailAt(ctx, t, s.body())
		return s
	}},
	{"MoveOnAt", func(ctx context.Context, t time.Time) (s seen) {
		s.moved, s.result = bide.MoveOnAt(ctx, t, s.body())
		return s
	}},
	{"SetDeadline", func(ctx context.Context, t time.Time) (s seen) {
		s.result = bide.Run(ctx, func(sc *bide.Scope) error {
			if !sc.SetDeadline(t) {
				return errors.New("SetDeadline reports false")
			}
			return s.scope(sc)
		}, bide.Timeout(time.Hour))
		return s
	}},
	{"Deadline", func(ctx context.Context, t time.Time) seen { return optionSeen(ctx, bide.Deadline(t))[0] }},
	{"Deadline of Open", func(ctx context.Context, t time.Time) seen { return optionSeen(ctx, bide.Deadline(t))[1] }},
	{"Deadline of WithNursery", func(ctx context.Context, t time.Time) seen { return optionSeen(ctx, bide.Deadline(t))[2] }},
	{"Deadline of Go", func(ctx context.Context, t time.Time) seen { return optionSeen(ctx, bide.Deadline(t))[3] }},
}

// optionSeen gives the option to Run, Open, WithNursery and Go.
func optionSeen(ctx context.Context, opt bide.Option) (s [4]seen) {
	s[0].result = bide.Run(ctx, s[0].scope, opt)
	open := bide.Open(ctx, opt)
	s[1].result = s[1].scope(open)
	open.Close(&s[1].result)
	s[2].result = bide.WithNursery(ctx, func(ctx context.Context, _ *bide.Nursery) error { return s[2].body()(ctx) }, opt)
	s[3].result = nursery(ctx, func(n *bide.Nursery) { n.Go(s[3].body(), opt) })
	return s
}

// onClocks runs f under each kind of clock, and in a bubble.
func onClocks(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	t.Run("monotonic", func(t *testing.T) { f(t, context.Background()) })
	t.Run("bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, context.Background()) })
	})
	for name, start := range map[string]time.Duration{"virtual": 0, "virtual, later": time.Hour} {
		t.Run(name, func(t *testing.T) {
			vc := clock.NewVirtual()
			vc.Advance(start)
			service := timer.For(vc)
			s := bide.Open(context.Background(), bide.Clock(vc))
			defer s.Close(nil)
			f(t, s)
			if n := service.Stats().Pending; n != 0 {
				t.Error("timers pending: ", n)
			}
		})
	}
}

// checkPast checks a bound that has passed.
func checkPast(t *testing.T, what string, s seen) {
	t.Helper()
	var c *bide.Canceled
	if !errors.As(s.inside, &c) || c.Source != bide.ByDeadline {
		t.Errorf("%s: the first cancel point says %v", what, s.inside)
	}
	if s.remaining != 0 {
		t.Errorf("%s: remaining %v", what, s.remaining)
	}
	if s.moved {
		if s.result != nil {
			t.Errorf("%s: moved, and %v", what, s.result)
		}
		return
	}
	var timeout *bide.TimeoutError
	if !errors.As(s.result, &timeout) {
		t.Fatalf("%s: %v", what, s.result)
	}
	if timeout.Limit < 0 || timeout.Limit > time.Minute || timeout.Elapsed < 0 {
		t.Errorf("%s: limit %v, elapsed %v", what, timeout.Limit, timeout.Elapsed)
	}
}

// now is the time on the clock of ctx.
func now(ctx context.Context) time.Time {
	s := bide.Open(ctx)
	defer s.Close(nil)
	s.Cancel(nil)
	return s.Cause().(*bide.Canceled).At
}

// A bound that had passed before the scope was opened has not canceled it then, but when it was opened.
func TestMisusePastBoundIsMetAtOpening(t *testing.T) {
	onClocks(t, func(t *testing.T, ctx context.Context) {
		opened := now(ctx).Add(-time.Second) // some slack, for clocks that go on
		check := func(what string, s seen) {
			t.Helper()
			var c *bide.Canceled
			if !errors.As(s.inside, &c) || c.At.Before(opened) {
				t.Fatalf("%s: opened at %v, canceled at %v: %v", what, opened, c.At, s.inside)
			}
		}
		for _, c := range durations {
			for _, d := range []time.Duration{0, -time.Hour, math.MinInt64} {
				check(c.name+" "+d.String(), c.call(ctx, d))
			}
		}
		for _, c := range times {
			if c.name != "SetDeadline" {
				check(c.name+" of the zero time", c.call(ctx, time.Time{}))
			}
			check(c.name, c.call(ctx, time.Unix(0, 0)))
		}
	})
}

// A bound that passed as long ago as a bound can be is printed as that, too.
func TestMisusePastBoundIsPrinted(t *testing.T) {
	onClocks(t, func(t *testing.T, ctx context.Context) {
		for _, s := range []seen{
			durations[0].call(ctx, math.MinInt64), durations[0].call(ctx, math.MinInt64+1),
			times[0].call(ctx, time.Time{}), times[0].call(ctx, time.Unix(-1<<40, 0)),
		} {
			if !strings.Contains(s.text, "deadline") || !strings.Contains(s.text, "ago") || strings.Contains(s.text, "-") {
				t.Errorf("printed as %q", s.text)
			}
		}
	})
}

func TestMisuseDurations(t *testing.T) {
	onClocks(t, func(t *testing.T, ctx context.Context) {
		for _, c := range durations {
			for _, d := range []time.Duration{0, -1, -time.Hour, math.MinInt64 + 1, math.MinInt64} {
				s := c.call(ctx, d)
				checkPast(t, c.name+" "+d.String(), s)
				if s.moved != (c.name == "MoveOnAfter") {
					t.Errorf("%s %v: moved %v", c.name, d, s.moved)
				}
			}
			if s := c.call(ctx, math.MaxInt64); !s.unbounded() {
				t.Errorf("%s of the longest duration: %+v", c.name, s)
			}
			// One less is a deadline, or overflows: never an early end.
			if s := c.call(ctx, math.MaxInt64-1); s.inside != nil || s.result != nil || s.remaining < 1e6*time.Hour {
				t.Errorf("%s of almost the longest duration: %+v", c.name, s)
			}
			if s := c.call(ctx, time.Hour); s.inside != nil || s.result != nil || s.remaining > time.Hour || s.remaining < time.Minute {
				t.Errorf("%s of an hour: %+v", c.name, s)
			}
		}
	})
}

func TestMisuseTimes(t *testing.T) {
	last := time.Unix(1<<63-62135596801, 999999999) // the last that a time.Time can be
	onClocks(t, func(t *testing.T, ctx context.Context) {
		for _, c := range times {
			for _, past := range []time.Time{{}, time.Unix(0, 0), time.Unix(-1<<40, 0), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)} {
				s := c.call(ctx, past)
				if past.IsZero() && c.name == "SetDeadline" {
					if !s.unbounded() { // the one place where it means none, as for net.Conn
						t.Errorf("SetDeadline of the zero time: %+v", s)
					}
					continue
				}
				checkPast(t, c.name+" "+past.String(), s)
				if s.moved != (c.name == "MoveOnAt") {
					t.Errorf("%s %v: moved %v", c.name, past, s.moved)
				}
			}
			for _, future := range []time.Time{time.Unix(1<<40, 0), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), last} {
				if s := c.call(ctx, future); !s.unbounded() {
					t.Errorf("%s %v: %+v", c.name, future, s)
				}
			}
		}
	})
}

func TestMisuseSleep(t *testing.T) {
	onClocks(t, func(t *testing.T, ctx context.Context) {
		for _, d := range []time.Duration{0, -1, math.MinInt64} {
			if err := bide.Sleep(ctx, d); err != nil {
				t.Errorf("Sleep %v: %v", d, err)
			}
		}
		for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, 0, -1, math.MinInt64} {
			s := bide.Open(ctx)
			stop := make(chan struct{})
			go func() {
				if d > 0 {
					<-stop
				}
				s.Cancel(nil)
				if d <= 0 {
					<-stop
				}
			}()
			if d <= 0 {
				<-s.Done()
			}
			close(stop)
			err := bide.Sleep(s, d)
			if err == nil || err != s.Cause() {
				t.Errorf("Sleep %v in a canceled scope: %v", d, err)
			}
			s.Close(nil)
		}
	})
}
