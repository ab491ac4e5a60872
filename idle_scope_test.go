package bide_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// TestIdleScope: the limit begins anew with each Progress, from the scope itself or from one below it.
func TestIdleScope(t *testing.T) {
	c := &C{T: t}
	for name, progress := range map[string]func(ctx context.Context){
		"the scope": func(ctx context.Context) { bide.From(ctx).Progress() },
		"one below": func(ctx context.Context) {
			bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { bide.From(ctx).Progress(); return nil })
		},
		"behind a shield": func(ctx context.Context) {
			bide.Shield(ctx, time.Hour, func(ctx context.Context) error { bide.From(ctx).Progress(); return nil })
		},
	} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			n := 0
			took, err := c.Timed(vc, func() error {
				return bide.Run(ctx, func(s *bide.Scope) error {
					for ; n < 10; n++ {
						if err := bide.Sleep(s, 9*time.Second); err != nil {
							return err
						}
						progress(s)
					}
					return bide.Sleep(s, time.Hour)
				}, bide.Idle(10*time.Second), bide.Name("copy"))
			})
			e := c.TimeoutError(err)
			c.Equal(n, 10, name+": pieces")
			c.Equal(took, 100*time.Second, name+": ended at")
			c.Equal(*e, bide.TimeoutError{Scope: "copy", Limit: 10 * time.Second, Elapsed: 100 * time.Second, Idle: true, Ledger: e.Ledger}, name)
			c.Equal(e.Error(), "bide: copy: timeout after 10s without progress: waiting for sleep; ended after 1m40s", name)
		})
	}
}

// TestIdleExpired: what has expired does not come back; the source says what it was; other scopes are not concerned.
func TestIdleExpired(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx, bide.Idle(time.Second))
		vc.Advance(time.Second)
		s.Progress()
		c.Equal(c.Canceled(s.Check()).Source, bide.ByIdle, "source")
		c.Is(s.Cause(), context.DeadlineExceeded)
		s.Progress()
		c.True(s.Err() != nil, "for ever")
		s.Close(nil)

		s = bide.Open(ctx, bide.Timeout(time.Second))
		s.Progress() // no limit of this kind
		c.Equal(s.Remaining(), time.Second, "remaining")
		vc.Advance(time.Second)
		c.Equal(c.Canceled(s.Check()).Source, bide.ByDeadline, "source of another scope")
		s.Close(nil)

		s = bide.Open(ctx, bide.Idle(time.Second))
		s.SetDeadline(time.Time{})
		s.Progress() // the limit was removed
		c.Equal(s.Remaining(), time.Duration(clock.Forever), "remaining")
		s.SetTimeout(2 * time.Second)
		s.Progress() // not earlier than it was moved to
		c.Equal(s.Remaining(), 2*time.Second, "remaining")
		vc.Advance(1500 * time.Millisecond)
		s.Progress()
		c.Equal(s.Remaining(), time.Second, "remaining")
		s.Close(nil)

		s = bide.Open(ctx, bide.Idle(0))
		c.Equal(c.Canceled(s.Check()).Source, bide.ByDeadline, "no time at all")
		s.Close(nil)
	})
	c.Panics(func() { bide.Open(context.Background(), bide.Idle(1), bide.Timeout(1)) }, "Open: Idle and Timeout are both given")
}

// TestIdleScopeTimers: a million of Progress leave one timer.
func TestIdleScopeTimers(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx, bide.Idle(time.Minute))
		s.Check()
		s.Check()
		for range 1000 {
			vc.Advance(time.Second)
			for range 100 {
				s.Progress()
			}
		}
		c.Equal(c.Pending(), 1, "timers")
		c.NoError(s.Check())
		if allocs := testing.AllocsPerRun(100, s.Progress); allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
		s.Close(nil)
	})
}

// TestIdleMoved: a deadline that was set in the place of the limit is not lack of progress, and the error has its length;
// after a Progress that brings a later one the limit holds again.
func TestIdleMoved(t *testing.T) {
	c := &C{T: t}
	const s = time.Second
	for _, k := range []struct {
		set, progress time.Duration
		source        bide.Source
		want          bide.TimeoutError
	}{
		{set: s / 10, source: bide.ByDeadline, want: bide.TimeoutError{Limit: s / 10, Elapsed: s / 10}},
		{set: 5 * s, source: bide.ByDeadline, want: bide.TimeoutError{Limit: 5 * s, Elapsed: 5 * s}},
		{set: 5 * s, progress: s, source: bide.ByDeadline, want: bide.TimeoutError{Limit: 5 * s, Elapsed: 5 * s}},
		{set: 5 * s, progress: 4*s + 1, source: bide.ByIdle, want: bide.TimeoutError{Limit: s, Elapsed: 5*s + 1, Idle: true}},
		{set: s, source: bide.ByDeadline, want: bide.TimeoutError{Limit: s, Elapsed: s}},
		{set: -s, source: bide.ByDeadline},
	} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var cause error
			_, err := c.Timed(vc, func() error {
				return bide.Run(ctx, func(s *bide.Scope) error {
					c.True(s.SetTimeout(k.set), "set")
					if k.progress > 0 {
						c.NoError(bide.Sleep(s, k.progress))
						s.Progress()
					}
					cause = bide.Sleep(s, time.Hour)
					return cause
				}, bide.Idle(s))
			})
			e := *c.TimeoutError(err)
			e.Ledger = nil
			c.Equal(e, k.want, k.set.String())
			c.Equal(c.Canceled(cause).Source, k.source, k.set.String()+": source")
		})
	}
}

// TestIdleRace: Progress against the expiry and a canceled waiter, on real time; whoever was told of the end stays told.
func TestIdleRace(t *testing.T) {
	c := &C{T: t}
	c.Rounds(50, func(round int, r *rand.Rand) {
		s := bide.Open(context.Background(), bide.Idle(time.Duration(500+r.IntN(2000))*time.Microsecond))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for i := 0; s.Err() == nil && i < 2000; i++ {
					s.Progress()
				}
			})
		}
		wg.Wait()
		err := blk(s)
		c.Equal(c.Canceled(err).Source, bide.ByIdle, "source")
		c.True(s.Check() != nil, "for ever")
		s.Close(nil)
	})
}
