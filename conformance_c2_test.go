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

// C, continued: what deadlines leave behind, and which of several holds.

// However often one scope's deadline is moved, the timer queue has one entry for it, or none.
var _ = register(45, "deadline_toggled", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx, within(time.Hour)...)
		op := c.Start(func() error { return blk(s) })
		op.Parked("a wait")
		near, far := at(vc, time.Minute), at(vc, 100*time.Hour)
		most, refused := 0, 0
		times := 1_000_000
		if testing.Short() || raceEnabled { // there it is slow, and nothing races
			times /= 10
		}
		for i := range times {
			t := far
			switch {
			case i%2 == 0:
				t = near
			case i%8 == 7:
				t = time.Time{}
			}
			if !s.SetDeadline(t) {
				refused++
			}
			if i%512 < 8 {
				most = max(most, c.Pending())
			}
		}
		c.Equal(refused, 0, "calls that were refused")
		c.Equal(most, 1, "most entries that were pending")
		c.True(s.SetDeadline(near), "moved for the last time")
		c.Equal(c.Pending(), 1, "pending at the end")
		vc.Advance(time.Minute - 1)
		op.Parked("the wait, before the last deadline")
		vc.Advance(1)
		c.Canceled(op.Returned("the wait"))
		c.Equal(c.Pending(), 0, "pending after the expiry")
		s.Close(nil)
	})
	// The same by several goroutines, while the clock moves.
	c.Rounds(100, func(_ int, r *rand.Rand) {
		seeds := [...]uint64{r.Uint64(), r.Uint64(), r.Uint64()}
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			s := bide.Open(ctx, within(time.Hour)...)
			op := c.Start(func() error { return blk(s) })
			op.Parked("a wait")
			var all sync.WaitGroup
			for _, seed := range seeds {
				all.Go(func() {
					r := rand.New(rand.NewPCG(seed, 0))
					for range 100 {
						d := time.Hour + time.Duration(r.Int64N(int64(100*time.Hour)))
						c.True(s.SetDeadline(at(vc, d)), "moved")
						if n := c.Pending(); n > 1 {
							c.Errorf("pending: %d", n)
						}
					}
				})
			}
			for range 20 {
				vc.Advance(time.Minute)
				yield(3)
			}
			all.Wait()
			c.True(s.SetDeadline(at(vc, time.Hour)), "moved for the last time")
			c.Equal(c.Pending(), 1, "pending")
			vc.Advance(time.Hour - elapsed(vc) - 1)
			op.Parked("the wait, before the last deadline")
			vc.Advance(1)
			c.Canceled(op.Returned("the wait"))
			c.Equal(c.Pending(), 0, "pending after the expiry")
			s.Close(nil)
		})
	})
})

// A scope that is left before its deadline leaves nothing that could expire.
var _ = register(46, "left_before_expiry", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx)
		for _, look := range []func(s *bide.Scope){
			func(*bide.Scope) {},
			func(s *bide.Scope) { c.NoError(s.Check()) },
			func(s *bide.Scope) { s.Done() },
			func(s *bide.Scope) { c.open(s, bide.Timeout(time.Second)).Done() }, // left open below it
			func(s *bide.Scope) {
				took, err := c.Timed(vc, func() error { return bide.Sleep(s, time.Second) })
				c.True(took == time.Second && err == nil, "a sleep: %v, %v", took, err)
			},
		} {
			for _, opts := range [][]bide.Option{within(time.Minute), {bide.Timeout(time.Minute)}} {
				s, err := run(outer, func(s *bide.Scope) error {
					look(s)
					return nil
				}, opts...)
				c.NoError(err)
				c.Equal(c.Pending(), 0, "pending")
				vc.Advance(time.Hour)
				c.standing(s, "s", false, false)
				c.NoError(outer.Check())
			}
		}
		op := c.Start(func() error { return blk(outer) })
		op.Parked("a wait in what is around")
		vc.Advance(time.Hour)
		op.Parked("the wait, an hour later")
		outer.Cancel(nil)
		c.Canceled(op.Returned("the wait"))
		outer.Close(nil)
	})
})

// The effective deadline is the earliest that can be seen from inside; a shield hides what is outside.
var _ = register(47, "effective_deadline", func(c *C) {
	const s1, s3, s4, s5, s10 = time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 10 * time.Second
	type value struct{}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		remaining := func(ctx context.Context, want time.Duration, what string) {
			c.Helper()
			c.Equal(bide.Remaining(ctx), want, "remaining "+what)
			c.Equal(bide.Remaining(context.WithValue(ctx, value{}, 0)), want, "remaining below a value "+what)
			c.Equal(bide.From(ctx).Remaining(), want, "the method: remaining "+what)
		}
		for _, watched := range []bool{false, true} {
			outer := bide.Open(ctx, bide.Timeout(s5))
			inner := c.open(outer, bide.Timeout(s10))
			if watched {
				inner.Done()
			}
			remaining(ctx, time.Duration(clock.Forever), "without a bound")
			remaining(outer, s5, "outside")
			remaining(inner, s5, "inside")
			c.True(inner.SetTimeout(s3), "inner: 3 s")
			remaining(inner, s3, "inside, at 3")
			remaining(outer, s5, "outside, still")
			c.True(inner.SetTimeout(s10), "inner: 10 s")
			remaining(inner, s5, "inside, at 10")
			c.True(inner.SetDeadline(time.Time{}), "inner: none")
			remaining(inner, s5, "inside, with none of its own")
			vc.Advance(s1)
			remaining(inner, s4, "inside, a second later")

			inShield := func(ctx context.Context) error {
				remaining(ctx, s10, "in a shield")
				below := bide.Open(ctx, bide.Timeout(s3))
				remaining(below, s3, "in a scope in a shield")
				below.Close(nil)
				return nil
			}
			c.NoError(bide.Shield(inner, s10, inShield))
			outer.Cancel(failure)
			remaining(outer, 0, "outside, canceled")
			remaining(inner, 0, "inside, canceled from above")
			c.NoError(bide.Shield(inner, s10, inShield))
			outer.Close(nil)
		}
	})
	// What the standard library is told agrees, on a clock that it knows.
	c.Bubble(func(ctx context.Context) {
		start := time.Now()
		deadline := func(ctx context.Context, want time.Duration) {
			c.Helper()
			t, ok := ctx.Deadline()
			c.True(ok == (want > 0) && (!ok || t.Sub(start) == want), "Deadline at %v, %t, want %v", t.Sub(start), ok, want)
		}
		outer := bide.Open(ctx, bide.Timeout(s5))
		inner := bide.Open(outer, bide.Timeout(s10))
		deadline(inner, s5)
		c.True(inner.SetTimeout(s3), "inner: 3 s")
		deadline(inner, s3)
		c.True(inner.SetTimeout(s10), "inner: 10 s")
		deadline(inner, s5)
		std, stop := context.WithTimeout(inner, s3)
		defer stop()
		c.Equal(bide.Remaining(std), s3, "remaining below an earlier std bound")
		c.Equal(bide.Remaining(bide.Open(std, bide.Timeout(s4))), s3, "remaining in a scope below it")
		c.NoError(bide.Shield(inner, s10, func(ctx context.Context) error {
			deadline(ctx, s10)
			return nil
		}))
		bare := bide.Open(ctx)
		deadline(bare, 0)
		bare.Close(nil)
		outer.Cancel(nil)
		c.Equal(bide.Remaining(std), time.Duration(0), "remaining below what is canceled")
		outer.Close(nil)
	})
})

// The standard library drops a child's timer if the parent ends earlier: such a child does not fire by itself when the
// parent is extended. Our scopes always have a timer of their own, and do.
var _ = register(48, "std_child_of_a_scope_that_is_extended", func(c *C) {
	const ms = time.Millisecond
	c.Bubble(func(ctx context.Context) {
		start := time.Now()
		s := bide.Open(ctx, bide.MoveOn(), bide.Timeout(50*ms))
		std, stop := context.WithTimeout(s, 100*ms)
		defer stop()
		ours := bide.Open(s, within(100*ms)...)
		op := c.Start(func() error { return blk(ours) })
		op.Parked("a wait under our child")
		c.True(s.SetTimeout(time.Hour), "extended")

		time.Sleep(100*ms - 1)
		op.Parked("a wait under our child, before its time")
		err := op.Wait()
		c.Equal(time.Since(start), 100*ms, "time at which our child fires")
		c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
		c.Settle()
		c.NoError(std.Err())
		ours.Close(&err)
		c.NoError(err)
		c.standing(ours, "our child", true, true)

		time.Sleep(time.Hour - 100*ms - 1)
		c.Settle()
		c.NoError(std.Err())
		<-std.Done()
		c.Equal(time.Since(start), time.Hour, "time at which the std child ends, with its parent")
		c.Equal(std.Err(), context.DeadlineExceeded, "Err of the std child")
		c.Equal(context.Cause(std), s.Cause(), "cause of the std child")
		s.Close(nil)
	})
})
