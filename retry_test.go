package bide_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// whole has pauses of their full length, which Rand should never.
func whole() float64 { return 1 }

// starts are when the tries of an f that always fails began.
func starts(ctx context.Context, vc *clock.Virtual, r bide.Retries) (at []time.Duration, err error) {
	err = bide.Retry(ctx, r, func(context.Context) error {
		at = append(at, time.Duration(vc.Now()))
		return failure
	})
	return at, err
}

// TestRetryPauses: they grow by the factor, up to the longest.
func TestRetryPauses(t *testing.T) {
	c := &C{T: t}
	const ms = time.Millisecond
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		for _, k := range []struct {
			r    bide.Retries
			want []time.Duration
		}{
			{bide.Retries{Tries: 1}, []time.Duration{0}},
			{bide.Retries{Tries: 4}, []time.Duration{0, 100 * ms, 300 * ms, 700 * ms}},
			{bide.Retries{Tries: 4, Delay: 20 * ms, Factor: 3}, []time.Duration{0, 20 * ms, 80 * ms, 260 * ms}},
			{bide.Retries{Tries: 4, Delay: 20 * ms, Factor: 1}, []time.Duration{0, 20 * ms, 40 * ms, 60 * ms}},
			{bide.Retries{Tries: 4, Delay: 20 * ms, MaxDelay: 30 * ms}, []time.Duration{0, 20 * ms, 50 * ms, 80 * ms}},
			{bide.Retries{Tries: 3, Delay: time.Minute}, []time.Duration{0, time.Minute, 2 * time.Minute}},
			{bide.Retries{Tries: 3, Delay: time.Minute, MaxDelay: ms}, []time.Duration{0, ms, 2 * ms}},
			{bide.Retries{Tries: 3, Factor: math.Inf(1)}, []time.Duration{0, 100 * ms, 10100 * ms}},
		} {
			began := vc.Now()
			k.r.Rand = whole
			at, err := starts(ctx, vc, k.r)
			for i := range at {
				at[i] -= time.Duration(began)
			}
			c.Equal(fmt.Sprint(at), fmt.Sprint(k.want), fmt.Sprintf("%+v: tries at", k.r))
			var e *bide.RetryError
			if c.True(errors.As(err, &e), "%v (%T)", err, err) {
				c.Equal(*e, bide.RetryError{Tries: k.r.Tries, Err: failure}, "error")
			}
		}
	})
}

// TestRetryJitter: a pause lies in its upper half, and by default two are not alike.
func TestRetryJitter(t *testing.T) {
	c := &C{T: t}
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		pause := func(f func() float64) time.Duration {
			began := vc.Now()
			_ = bide.Retry(ctx, bide.Retries{Tries: 2, Delay: time.Second, Rand: f}, func(context.Context) error { return failure })
			return vc.Now().Sub(began)
		}
		c.Equal(pause(func() float64 { return 0 }), time.Second/2, "the shortest")
		c.Equal(pause(func() float64 { return 0.5 }), 3*time.Second/4, "half way")
		c.Equal(pause(whole), time.Second, "the longest")
		first := pause(rand.New(rand.NewPCG(1, 2)).Float64)
		c.Equal(pause(rand.New(rand.NewPCG(1, 2)).Float64), first, "with the same seed")
		seen := map[time.Duration]bool{}
		for range 20 {
			d := pause(nil)
			c.True(d >= time.Second/2 && d <= time.Second, "a pause of %v", d)
			seen[d] = true
		}
		c.True(len(seen) > 10, "20 pauses, %d different ones", len(seen))
	})
}

// TestRetrySucceeds: what comes of a try that succeeds, and of an error that is not worth another.
func TestRetrySucceeds(t *testing.T) {
	c := &C{T: t}
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		n := 0
		c.NoError(bide.Retry(ctx, bide.Retries{}, func(context.Context) error {
			if n++; n < 20 {
				return failure
			}
			return nil
		}))
		c.Equal(n, 20, "tries")

		fatal := errors.New("no such account")
		n = 0
		err := bide.Retry(ctx, bide.Retries{If: func(err error) bool { return err != fatal }}, func(context.Context) error {
			if n++; n == 3 {
				return fatal
			}
			return failure
		})
		c.Equal(err, fatal, "as it is")
		c.Equal(n, 3, "tries")
	})
}

// TestRetryDoesNotFit: it does not sleep in vain, and says how much is missing; no scope takes the error for its own.
func TestRetryDoesNotFit(t *testing.T) {
	c := &C{T: t}
	const ms = time.Millisecond
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		for _, k := range []struct {
			r     bide.Retries
			limit time.Duration
			ended time.Duration
			want  bide.RetryError
		}{
			{bide.Retries{}, 250 * ms, 100 * ms, bide.RetryError{Tries: 2, Left: 150 * ms, Need: 200 * ms}},
			{bide.Retries{}, 300 * ms, 100 * ms, bide.RetryError{Tries: 2, Left: 200 * ms, Need: 200 * ms}},
			{bide.Retries{MinWork: 50 * ms}, 349 * ms, 100 * ms, bide.RetryError{Tries: 2, Left: 249 * ms, Need: 250 * ms}},
			{bide.Retries{MinWork: 50 * ms}, 351 * ms, 300 * ms, bide.RetryError{Tries: 3, Left: 51 * ms, Need: 450 * ms}},
			{bide.Retries{MinWork: math.MaxInt64}, time.Hour, 0, bide.RetryError{Tries: 1, Left: time.Hour, Need: math.MaxInt64}},
		} {
			k.r.Rand = whole
			began := vc.Now()
			err := bide.FailAfter(ctx, k.limit, func(ctx context.Context) error {
				return bide.Retry(ctx, k.r, func(context.Context) error { return failure })
			})
			var e *bide.RetryError
			if !c.True(errors.As(err, &e), "%+v in %v: %v (%T)", k.r, k.limit, err, err) {
				continue
			}
			k.want.Err = failure
			c.Equal(*e, k.want, fmt.Sprintf("%+v in %v", k.r, k.limit))
			c.Equal(vc.Now().Sub(began), k.ended, "ended after")
			c.Is(err, failure)
			c.Is(err, context.DeadlineExceeded)
			var ne net.Error
			c.True(errors.As(err, &ne) && ne.Timeout() && ne.Temporary(), "a timeout")
		}
		// A pause as long as time can be.
		err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			return bide.Retry(ctx, bide.Retries{Delay: math.MaxInt64}, func(context.Context) error { return failure })
		})
		c.Is(err, failure)
		// Also when the scope has expired on the error's way out.
		err = bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			err := bide.Retry(ctx, bide.Retries{Delay: time.Minute}, func(context.Context) error { return failure })
			vc.Advance(time.Hour)
			return err
		})
		c.Is(err, failure)
	})
}

// TestRetryErrorText: every case has its own.
func TestRetryErrorText(t *testing.T) {
	c := &C{T: t}
	for text, e := range map[string]*bide.RetryError{
		"bide: gave up after 1 try: failure":                                         {Tries: 1, Err: failure},
		"bide: gave up after 3 tries: failure":                                       {Tries: 3, Err: failure},
		"bide: gave up after 2 tries, with 150ms left and 400ms needed: failure":     {Tries: 2, Err: failure, Left: 150 * time.Millisecond, Need: 400 * time.Millisecond},
		"bide: gave up after 1 try, with 0s left and 1ns needed: " + failure.Error(): {Tries: 1, Err: failure, Need: 1},
	} {
		c.Equal(e.Error(), text, "text")
		c.Is(e, failure)
		c.Equal(errors.Is(e, context.DeadlineExceeded), e.Need > 0, "a timeout")
		c.Equal(e.Timeout(), e.Need > 0, "Timeout")
		c.Equal(e.Temporary(), e.Need > 0, "Temporary")
	}
}

// TestRetryPerTry: the bound of a try is worth another one, the end of the scope is not.
func TestRetryPerTry(t *testing.T) {
	c := &C{T: t}
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		hang := func(ctx context.Context) error { return new(syncs.Event).Wait(ctx) }
		n := 0
		err := bide.Retry(ctx, bide.Retries{PerTry: time.Second, Tries: 3}, func(ctx context.Context) error {
			n++
			c.Equal(bide.Remaining(ctx), time.Second, "the try's own")
			return hang(ctx)
		})
		c.Equal(n, 3, "tries")
		var e *bide.RetryError
		var late *bide.TimeoutError
		c.True(errors.As(err, &e) && e.Need == 0, "%v (%T)", err, err)
		c.True(errors.As(err, &late) && late.Scope == "try 3" && late.Limit == time.Second, "%v", err)

		// The scope ends in the second try.
		n = 0
		began := vc.Now()
		err = bide.FailAfter(ctx, 1500*time.Millisecond, func(ctx context.Context) error {
			return bide.Retry(ctx, bide.Retries{PerTry: time.Second}, func(ctx context.Context) error { n++; return hang(ctx) })
		}, bide.Name("checkout"))
		c.Equal(n, 2, "tries")
		c.Equal(vc.Now().Sub(began), 1500*time.Millisecond, "ended after")
		late = c.TimeoutError(err)
		c.Equal(late.Scope, "checkout", "whose bound")

		// Both bounds at the same instant: the scope's.
		n = 0
		err = bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			return bide.Retry(ctx, bide.Retries{PerTry: time.Second}, func(ctx context.Context) error { n++; return hang(ctx) })
		}, bide.Name("checkout"))
		c.Equal(n, 1, "tries")
		c.Equal(c.TimeoutError(err).Scope, "checkout", "whose bound")
	})
}

// TestRetryCanceled: nothing is tried under a canceled context, in a try or in a pause it ends, and what an explicit
// Cancel has caused is dropped by its scope.
func TestRetryCanceled(t *testing.T) {
	c := &C{T: t}
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		n := 0
		count := func(context.Context) error { n++; return failure }
		s, err := run(ctx, func(s *bide.Scope) error {
			s.Cancel(nil)
			err := bide.Retry(s, bide.Retries{}, count)
			c.Equal(err, s.Cause(), "not begun")
			return err
		})
		c.NoError(err)
		c.True(s.Caught(), "caught")
		c.Equal(n, 0, "tries")

		// In a pause: told in the text, but not found.
		_, err = run(ctx, func(s *bide.Scope) error {
			go func() {
				c.NoError(bide.Sleep(ctx, 20*time.Millisecond))
				s.Cancel(nil)
			}()
			began := vc.Now()
			err := bide.Retry(s, bide.Retries{}, count)
			c.Equal(vc.Now().Sub(began), 20*time.Millisecond, "at once")
			c.Equal(err.Error(), "bide: canceled by cancel (the last try: "+failure.Error()+")", "text")
			c.IsNot(err, failure)
			c.Is(err, context.Canceled)
			return err
		})
		c.NoError(err)
		c.Equal(n, 1, "tries")

		// In a try that fails for a reason of its own, which counts.
		_, err = run(ctx, func(s *bide.Scope) error {
			return bide.Retry(s, bide.Retries{}, func(context.Context) error { s.Cancel(nil); return failure })
		})
		c.Equal(err, failure, "as it is")

		// A cancellation that is not the context's is an error like others.
		n = 0
		err = bide.Retry(ctx, bide.Retries{Tries: 2}, func(context.Context) error { n++; return context.Canceled })
		c.Equal(n, 2, "tries")
		c.Is(err, context.Canceled)
	})
}

type retryKey struct{}

// TestRetryAtDeadline: a try that the scope's deadline has ended, on a timer that was faster than the scope's, as that of
// a dialer, is not one that has used up the tries: the scope is late.
func TestRetryAtDeadline(t *testing.T) {
	c := &C{T: t}
	for name, derive := range map[string]func(context.Context) context.Context{
		"the scope": func(ctx context.Context) context.Context { return ctx },
		"values":    func(ctx context.Context) context.Context { return context.WithValue(ctx, retryKey{}, 1) },
		"a child": func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			t.Cleanup(cancel)
			return ctx
		},
	} {
		w := &wall{Virtual: clock.NewVirtual()}
		err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
			ctx = derive(ctx)
			return bide.Retry(ctx, bide.Retries{Tries: 1}, func(ctx context.Context) error {
				_ = ctx.Done() // from here on the scope relies on its timer
				w.late(time.Second)
				c.NoError(ctx.Err())
				return &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
			})
		}, bide.Clock(w))
		var late *bide.TimeoutError
		c.True(errors.As(err, &late), "%s: %v (%T)", name, err, err)
	}
}

// TestRetryStop: in the soft phase it goes on, and the hard end is its deadline.
func TestRetryStop(t *testing.T) {
	c := &C{T: t}
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		_, err := run(ctx, func(s *bide.Scope) error {
			s.Stop(250*time.Millisecond, nil)
			return bide.Retry(s, bide.Retries{Rand: whole}, func(context.Context) error { return failure })
		})
		var e *bide.RetryError
		c.True(errors.As(err, &e) && e.Tries == 2 && e.Need > e.Left, "%v (%T)", err, err)
	})
}

func TestRetryMisuse(t *testing.T) {
	var none context.Context
	ctx := context.Background()
	panicsWith(t, "bide: Retry: nil context", func() { discard(bide.Retry(none, bide.Retries{}, fine)) })
	panicsWith(t, "bide: Retry: nil function", func() { discard(bide.Retry(ctx, bide.Retries{}, nil)) })
	for what, r := range map[string]bide.Retries{"Tries is negative: -1": {Tries: -1}, "Delay is negative: -1ns": {Delay: -1},
		"MaxDelay is negative: -1s": {MaxDelay: -time.Second}, "PerTry is negative: -1ns": {PerTry: -1},
		"MinWork is negative: -1ns": {MinWork: -1}} {
		panicsWith(t, "bide: Retry: "+what, func() { discard(bide.Retry(ctx, r, fine)) })
	}
	panicsWith(t, "bide: Retry: Factor must be 1 or more, not 0.5", func() { discard(bide.Retry(ctx, bide.Retries{Factor: 0.5}, fine)) })
	panicsWith(t, "bide: Retry: Factor must be 1 or more, not NaN", func() { discard(bide.Retry(ctx, bide.Retries{Factor: math.NaN()}, fine)) })
}
