package bide_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// C. Deadlines.

// A bound that has passed at the entry: canceled from the start, but the body runs, up to its first cancel point.
var _ = register(36, "bound_has_passed_at_the_entry", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		vc.Advance(time.Hour)
		for _, b := range blocks {
			ran := 0
			body := func(ctx context.Context) error {
				ran++
				c.True(bide.From(ctx).CancelCalled(), "canceled when the body starts")
				err := b.wait(ctx) // on the goroutine that drives everything
				c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
				c.Is(err, context.DeadlineExceeded)
				return err
			}
			past := []time.Time{at(vc, time.Hour), at(vc, time.Hour-1), at(vc, 0), {}}
			calls := 0
			for _, d := range []time.Duration{0, -1, -time.Hour, -1 << 63} {
				calls += 3
				c.TimeoutError(bide.FailAfter(ctx, d, body))
				moved, err := bide.MoveOnAfter(ctx, d, body)
				c.True(moved && err == nil, "moved on: %v, %v", moved, err)
				s, err := run(ctx, func(s *bide.Scope) error { return body(s) }, bide.Timeout(d))
				c.Equal(c.TimeoutError(err).Elapsed, time.Duration(0), "elapsed")
				c.standing(s, "s", true, true)
			}
			for _, t := range past {
				calls += 3
				c.TimeoutError(bide.FailAt(ctx, t, body))
				moved, err := bide.MoveOnAt(ctx, t, body)
				c.True(moved && err == nil, "moved on: %v, %v", moved, err)
				s, err := run(ctx, func(s *bide.Scope) error { return body(s) }, bide.Deadline(t), bide.MoveOn())
				c.NoError(err)
				c.standing(s, "s", true, true)
			}
			c.Equal(ran, calls, "bodies that ran")
			c.Equal(c.Pending(), 0, "pending")
		}
	})
})

// Timeout counts from where it is given, not from where the option was made.
var _ = register(37, "timeout_counts_from_the_opening", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		bound := bide.Timeout(5 * time.Second)
		vc.Advance(3 * time.Second)
		for range 2 { // one option, given twice
			start := elapsed(vc)
			s := bide.Open(ctx, bound)
			c.Equal(s.Remaining(), 5*time.Second, "remaining at the opening")
			took, err := c.Timed(vc, func() error { return bide.Sleep(s, time.Hour) })
			c.Equal(took, 5*time.Second, "took")
			s.Close(&err)
			c.Equal(c.TimeoutError(err).Limit, 5*time.Second, "limit")
			c.Equal(elapsed(vc), start+5*time.Second, "time of the expiry")
		}
		// The first one came to its end 8 s after the beginning.
		c.Equal(elapsed(vc), 13*time.Second, "time at the end")
	})
})

// Open with a deadline in the past: canceled, and no later deadline brings it back.
var _ = register(38, "past_deadline_is_final", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		vc.Advance(time.Hour)
		for _, past := range []time.Duration{time.Hour, time.Minute} {
			s := bide.Open(ctx, bide.Deadline(at(vc, past)))
			c.True(s.CancelCalled(), "canceled at the opening")
			c.True(!s.SetDeadline(at(vc, 2*time.Hour)), "SetDeadline reports false")
			c.True(!s.SetTimeout(time.Hour), "SetTimeout reports false")
			c.True(!s.SetDeadline(time.Time{}), "removing it reports false")
			c.Equal(c.Canceled(s.Check()).Source, bide.ByDeadline, "source")
			c.Is(s.Err(), context.DeadlineExceeded)
			c.Equal(s.Remaining(), time.Duration(0), "remaining")
			c.Equal(blk(s), s.Cause(), "error of a wait")
			c.Equal(c.Pending(), 0, "pending")
			s.Close(nil)
		}
	})
})

// Timeout and Deadline together panic at once, and both are named.
var _ = register(39, "two_bounds_panic", func(c *C) {
	ctx := context.Background()
	both := [][]bide.Option{
		{bide.Timeout(time.Hour), bide.Deadline(time.Now().Add(time.Hour))},
		{bide.Deadline(time.Now()), bide.Name("x"), bide.MoveOn(), bide.Timeout(0)},
	}
	for _, opts := range both {
		parts := []string{"Timeout", "Deadline"}
		ran := false
		c.Panics(func() { bide.Open(ctx, opts...) }, append(parts, "Open")...)
		c.Panics(func() {
			_ = bide.Run(ctx, func(*bide.Scope) error { ran = true; return nil }, opts...)
		}, append(parts, "Run")...)
		c.Panics(func() {
			_ = bide.WithNursery(ctx, func(context.Context, *bide.Nursery) error { ran = true; return nil }, opts...)
		}, append(parts, "WithNursery")...)
		c.NoError(bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			c.Panics(func() { n.Go(func(context.Context) error { ran = true; return nil }, opts...) }, append(parts, "Go")...)
			return nil
		}))
		c.True(!ran, "no body has run")
	}
})

// Moved later while somebody waits: nothing at the old time, expiry at the new one.
var _ = register(40, "moved_later", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, b := range blocks {
			s := bide.Open(ctx, within(5*time.Second)...)
			op := c.Start(func() error { return b.wait(s) })
			op.Parked(b.name)
			vc.Advance(3 * time.Second)
			c.True(s.SetTimeout(7*time.Second), "moved to 10")
			vc.Advance(2 * time.Second)
			op.Parked(b.name + " at the old time")
			c.True(s.SetDeadline(at(vc, elapsed(vc)+15*time.Second)), "moved to 20")
			vc.Advance(15*time.Second - 1)
			op.Parked(b.name + " just before the new time")
			vc.Advance(1)
			err := op.Returned(b.name)
			c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
			s.Close(&err)
			c.NoError(err)
			c.standing(s, "s", true, true)
		}
	})
})

// Moved earlier by another goroutine while the driver waits for the old time: expiry at the new one.
var _ = register(41, "moved_earlier", func(c *C) {
	const old, young = 100 * time.Second, 50 * time.Second
	for _, b := range blocks {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			s := bide.Open(ctx, within(old)...)
			op := c.Start(func() error { return b.wait(s) })
			op.Parked(b.name)
			mover := c.Start(func() error {
				c.True(s.SetTimeout(young), "moved")
				return nil
			})
			c.NoError(mover.Returned("the mover"))
			vc.Advance(young - 1)
			op.Parked(b.name + " just before the new time")
			vc.Advance(1)
			c.Canceled(op.Returned(b.name))
			s.Close(nil)
		})
		c.Bubble(func(ctx context.Context) { // the same on the monotonic clock, whose time moves itself here
			start := time.Now()
			s := bide.Open(ctx, within(old)...)
			op := c.Start(func() error { return b.wait(s) })
			op.Parked(b.name)
			time.Sleep(time.Second)
			go s.SetTimeout(young - time.Second)
			c.Canceled(op.Wait())
			c.Equal(time.Since(start), young, "time of the expiry")
			s.Close(nil)
		})
	}
	// The move meets a driver that is under way, and timers of others.
	c.Rounds(300, func(_ int, r *rand.Rand) {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			crowd := bide.Open(ctx)
			for range r.IntN(20) {
				c.open(crowd, bide.Timeout(time.Duration(1+r.Int64N(int64(2*old))))).Done()
			}
			s := bide.Open(ctx, within(old)...)
			op := c.Start(func() error { return blk(s) })
			op.Parked("the wait")
			yields := r.IntN(20)
			mover := c.Start(func() error {
				yield(yields)
				c.True(s.SetDeadline(at(vc, young)), "moved")
				return nil
			})
			for range 8 {
				vc.Advance(5 * time.Second)
				runtime.Gosched()
			}
			c.NoError(mover.Wait())
			vc.Advance(young - elapsed(vc) - 1)
			op.Parked("the wait, just before the new time")
			vc.Advance(1)
			c.Canceled(op.Returned("the wait"))
			s.Close(nil)
			crowd.Close(nil)
		})
	})
})

// Moved into the past while somebody waits: its wait is resolved when the call returns.
var _ = register(42, "moved_into_the_past", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		vc.Advance(time.Hour)
		for _, move := range []func(s *bide.Scope) bool{
			func(s *bide.Scope) bool { return s.SetTimeout(0) },
			func(s *bide.Scope) bool { return s.SetTimeout(-time.Hour) },
			func(s *bide.Scope) bool { return s.SetDeadline(at(vc, time.Hour)) },
			func(s *bide.Scope) bool { return s.SetDeadline(at(vc, time.Minute)) },
		} {
			for _, opts := range [][]bide.Option{within(time.Hour), {bide.MoveOn()}} {
				s := bide.Open(ctx, opts...)
				inner := c.open(c.open(s))
				var ended atomic.Int32
				hook := func() { ended.Add(1) }
				hooked := []*Op{c.hooked(s, hook), c.hooked(inner, hook)}
				for _, b := range blocks {
					op := c.Start(func() error { return b.wait(inner) })
					op.Parked(b.name)
					hooked = append(hooked, op)
				}
				c.True(move(s), "moved")
				c.Equal(ended.Load(), int32(2), "waits that were resolved when SetDeadline has returned")
				c.Equal(s.Err(), context.DeadlineExceeded, "Err at once")
				for _, op := range hooked {
					c.Equal(op.Returned("a wait"), s.Cause(), "its error")
				}
				c.Equal(elapsed(vc), time.Hour, "the time")
				s.Close(nil)
				c.Equal(c.Pending(), 0, "pending")
			}
		}
	})
})

// SetDeadline on what is over reports false and does nothing; the zero time removes the deadline and its timer.
var _ = register(43, "set_deadline_when_it_is_over", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		refuses := func(s *bide.Scope, what string) {
			c.Helper()
			cause, called := s.Cause(), s.CancelCalled()
			later := at(vc, elapsed(vc)+time.Hour)
			c.True(!s.SetDeadline(later) && !s.SetTimeout(time.Hour), "%s: later is refused", what)
			c.True(!s.SetDeadline(at(vc, 0)) && !s.SetTimeout(-1), "%s: the past is refused", what)
			c.True(!s.SetDeadline(time.Time{}), "%s: none is refused", what)
			c.Equal(s.Cause(), cause, what+": cause")
			c.Equal(s.CancelCalled(), called, what+": CancelCalled")
			c.Equal(c.Pending(), 0, what+": pending")
			c.True(!vc.Jump(), "%s: nothing is scheduled", what)
		}
		for _, watched := range []bool{false, true} {
			open := func(opts ...bide.Option) *bide.Scope {
				s := bide.Open(ctx, opts...)
				if watched {
					s.Done()
				}
				return s
			}
			s := open(bide.Timeout(time.Minute))
			s.Cancel(failure)
			vc.Advance(time.Hour) // the alarm of a watched one
			refuses(s, "canceled")
			c.Is(c.Canceled(blk(s)), failure)
			s.Close(nil)
			refuses(s, "canceled and exited")

			s = open(bide.Timeout(time.Minute))
			vc.Advance(time.Hour)
			refuses(s, "expired")
			c.Equal(c.Canceled(blk(s)).Source, bide.ByDeadline, "source")
			s.Close(nil)

			above := open()
			s = c.open(above)
			above.Cancel(failure)
			refuses(s, "canceled from above")
			above.Close(nil)

			for _, opts := range [][]bide.Option{nil, {bide.Timeout(time.Minute)}} {
				s = open(opts...)
				s.Close(nil)
				vc.Advance(time.Hour)
				refuses(s, "exited")
				c.True(!s.CancelCalled(), "leaving is no Cancel")
			}

			// None: the timer is gone, and another one can be set.
			s = open(within(time.Minute)...)
			op := c.Start(func() error { return blk(s) })
			op.Parked("a wait")
			c.Equal(c.Pending(), 1, "pending")
			c.True(s.SetDeadline(time.Time{}), "removed")
			c.Equal(c.Pending(), 0, "pending when it is removed")
			c.Equal(s.Remaining(), time.Duration(clock.Forever), "remaining")
			vc.Advance(time.Hour)
			op.Parked("the wait, at the old time")
			c.True(s.SetTimeout(time.Second), "set again")
			c.Equal(c.Pending(), 1, "pending again")
			vc.Advance(time.Second)
			c.Canceled(op.Returned("the wait"))
			s.Close(nil)
		}
	})
})

// An expiry and a SetDeadline meet: exactly one wins, and what SetDeadline says is what has happened.
var _ = register(44, "expiry_against_set_deadline", func(c *C) {
	const d, later = 5 * time.Second, 15 * time.Second
	// The driver has looked, and is about to cancel, when a SetDeadline comes that has read the clock before.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, stale := range []bool{true, false} {
			read := &slow{Virtual: vc}
			before := bide.Open(ctx, bide.Clock(read), bide.Timeout(d)) // expires just before s
			var s *bide.Scope
			var moved bool
			until := at(vc, elapsed(vc)+later)
			first := c.hooked(before, func() {
				if stale {
					read.ahead.Store(-1)
				}
				moved = s.SetDeadline(until)
				read.ahead.Store(0)
			})
			s = bide.Open(ctx, within(d, bide.Clock(read))...)
			op := c.Start(func() error { return blk(s) })
			op.Parked("a wait")
			vc.Advance(d)
			c.Canceled(first.Returned("the wait that ends before"))
			c.Equal(moved, stale, "what SetDeadline says")
			c.Equal(s.Err() == nil, stale, "whether the scope lives")
			if stale {
				vc.Advance(later - d - 1)
				op.Parked("the wait, before the new deadline")
				vc.Advance(1)
			}
			c.Canceled(op.Returned("the wait"))
			s.Close(nil)
			before.Close(nil)
		}
	})
	wins := map[bool]int{}
	c.Rounds(4000, func(round int, r *rand.Rand) {
		yields := [...]int{r.IntN(6), r.IntN(6), r.IntN(6)}
		parked := round%2 == 0 // else nobody waits: the expiry is noticed by a look
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			s := bide.Open(ctx, within(d)...)
			var op *Op
			if parked {
				op = c.Start(func() error { return blk(s) })
				op.Parked("a wait")
			}
			var moved [2]bool
			var all sync.WaitGroup
			for i := range moved {
				all.Go(func() {
					yield(yields[i])
					moved[i] = s.SetDeadline(at(vc, later))
				})
			}
			all.Go(func() {
				yield(yields[2])
				vc.Advance(d)
				if !parked {
					_ = s.Check()
				}
			})
			all.Wait()
			won := s.Err() == nil
			wins[won]++
			c.Equal(moved, [2]bool{won, won}, "what SetDeadline says, by whether the scope lives")
			if !parked {
				op = c.Start(func() error { return blk(s) })
			}
			if won {
				op.Parked("the wait, at the old deadline")
				vc.Advance(later - d - 1)
				op.Parked("the wait, before the new deadline")
				c.True(!s.CancelCalled(), "not canceled")
				vc.Advance(1)
			}
			err := op.Returned("the wait")
			c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
			s.Close(&err)
			c.NoError(err)
			c.standing(s, "s", true, true)
		})
	})
	c.Logf("SetDeadline won %d times, expiry %d times", wins[true], wins[false])
})
