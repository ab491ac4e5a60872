package bide_test

import (
	"context"
	"errors"
	"sync"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// C. Deadlines, continued: several clocks, and many deadlines.

// A scope within another may be on another clock: each expires by its own, and nothing is converted.
var _ = register(49, "clocks_within_clocks", func(c *C) {
	expired := func(op *Op, what string) {
		c.Helper()
		c.Equal(c.Canceled(op.Returned(what)).Source, bide.ByDeadline, what+": source")
	}
	c.Virtual(func(ctx context.Context, inner *clock.Virtual) {
		outer := clock.NewVirtual()
		outer.Advance(1000 * time.Hour) // an instant of the one is nothing to the other
		open := func() (o, i *bide.Scope, op *Op) {
			o = bide.Open(context.Background(), within(10*time.Second, bide.Clock(outer))...)
			i = bide.Open(o, within(5*time.Second, bide.Clock(inner))...)
			op = c.Start(func() error { return blk(i) })
			op.Parked("under both")
			return o, i, op
		}

		o, i, op := open()
		outer.Advance(10*time.Second - 1)
		op.Parked("the outer clock has moved")
		c.Equal(i.Remaining(), time.Duration(1), "remaining: what the outer one has left")
		inner.Advance(5*time.Second - 1)
		op.Parked("both have moved")
		inner.Advance(1)
		expired(op, "by the inner clock")
		c.NoError(o.Check())
		var err error = i.Cause()
		i.Close(&err)
		c.NoError(err)
		c.standing(i, "inner", true, true)
		o.Close(nil)
		c.standing(o, "outer", false, false)

		o, i, op = open()
		inner.Advance(5*time.Second - 1)
		op.Parked("the inner clock has moved")
		c.Equal(i.Remaining(), time.Duration(1), "remaining: what the inner one has left")
		outer.Advance(10 * time.Second)
		expired(op, "by the outer clock")
		c.True(!i.CancelCalled() && o.CancelCalled(), "the outer one has expired, and only that")
		inner.Advance(1)
		c.True(!i.CancelCalled(), "too late to expire itself")
		i.Close(nil)
		o.Close(nil)
		c.Equal(timer.For(outer).Stats().Pending, 0, "pending on the outer clock")

		// What is opened below is on the inner one, and a sleep is.
		o = bide.Open(context.Background(), bide.Clock(outer))
		i = bide.Open(o, bide.Clock(inner))
		sleep := c.Start(func() error {
			return bide.FailAfter(i, 2*time.Second, func(ctx context.Context) error { return bide.Sleep(ctx, time.Second) })
		})
		sleep.Parked("on the inner clock")
		outer.Advance(time.Hour)
		sleep.Parked("the outer one does not matter")
		inner.Advance(time.Second)
		c.NoError(sleep.Returned("after a second of the inner one"))
		i.Close(nil)
		o.Close(nil)
	})
	// The clocks of the system, within the monotonic one and around it. In a bubble they all show its time.
	for _, make := range []func() (clock.Clock, error){clock.Boottime, clock.Realtime} {
		sys, err := make()
		if errors.Is(err, errors.ErrUnsupported) {
			c.True(sys == nil, "no clock where there is none: %v", err)
			continue
		}
		c.NoError(err)
		c.Bubble(func(context.Context) {
			for _, clocks := range [][2]clock.Clock{{clock.Monotonic(), sys}, {sys, clock.Monotonic()}, {clock.NewVirtual(), sys}} {
				o := bide.Open(context.Background(), within(10*time.Second, bide.Clock(clocks[0]))...)
				i := bide.Open(o, within(5*time.Second, bide.Clock(clocks[1]))...)
				op := c.Start(func() error { return blk(i) })
				time.Sleep(5*time.Second - 1)
				op.Parked(clocks[1].String() + " within " + clocks[0].String())
				time.Sleep(1)
				expired(op, clocks[1].String()+" within "+clocks[0].String())
				c.True(i.CancelCalled() && o.Err() == nil, "the inner one has expired, and only that")
				i.Close(nil)
				o.Close(nil)
			}
		})
	}
})

// A wall is a clock that goes with a virtual one, and is stepped: its alarms follow.
type wall struct {
	*clock.Virtual

	mu     sync.Mutex
	ahead  time.Duration
	alarms []*wallAlarm
}

type wallAlarm struct {
	w  *wall
	in clock.Alarm   // of the clock that it goes with
	at clock.Instant // what it was set for
}

func (w *wall) Now() clock.Instant {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Virtual.Now().Add(w.ahead)
}

func (w *wall) NewAlarm(f func(now clock.Instant)) clock.Alarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := &wallAlarm{w: w, at: clock.Forever}
	a.in = w.Virtual.NewAlarm(func(clock.Instant) {
		if now := w.Now(); !now.Before(a.due()) {
			f(now)
		}
	})
	w.alarms = append(w.alarms, a)
	return a
}

func (a *wallAlarm) due() clock.Instant {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	return a.at
}

func (a *wallAlarm) Set(at clock.Instant) {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.at = at
	a.arm()
}

func (a *wallAlarm) arm() {
	if a.at == clock.Forever {
		a.in.Clear()
		return
	}
	a.in.Set(a.at.Add(-a.w.ahead))
}

func (a *wallAlarm) Clear() { a.Set(clock.Forever) }

// late lets time pass without its alarms.
func (w *wall) late(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

// step sets the wall clock forward, or back.
func (w *wall) step(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
	for _, a := range w.alarms {
		a.arm()
	}
}

// Somebody sets the wall clock: scopes that are on it follow, and the others do not notice.
var _ = register(50, "wall_clock_is_stepped", func(c *C) {
	const bound = 90 * time.Minute
	for _, step := range []time.Duration{0, time.Hour, -time.Hour, 2 * time.Hour} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			w := &wall{Virtual: vc}
			steady := bide.Open(ctx, within(bound)...)
			follows := bide.Open(context.Background(), within(bound, bide.Clock(w))...)
			below := bide.Open(steady, within(bound, bide.Clock(w))...)
			ops := map[*bide.Scope]*Op{}
			for _, s := range []*bide.Scope{steady, follows, below} {
				ops[s] = c.Start(func() error { return blk(s) })
				ops[s].Parked("at first")
			}
			vc.Advance(10 * time.Minute)
			w.step(step)
			c.Equal(steady.Remaining(), bound-10*time.Minute, "remaining on the steady clock")
			c.Equal(follows.Remaining(), max(0, bound-10*time.Minute-step), "remaining on the wall clock")
			ends := max(10*time.Minute, bound-step) // on the steady clock
			for _, to := range []time.Duration{ends - 1, ends, bound - 1, bound, 3 * time.Hour} {
				if to > elapsed(vc) {
					vc.Advance(to - elapsed(vc))
				}
				c.Equal(ops[steady].Ended(), elapsed(vc) >= bound, "the steady one has ended at "+elapsed(vc).String())
				c.Equal(ops[follows].Ended(), elapsed(vc) >= ends, "the one that follows has ended at "+elapsed(vc).String())
				c.Equal(ops[below].Ended(), elapsed(vc) >= min(ends, bound), "the one that follows, below the steady one, at "+elapsed(vc).String())
			}
			c.True(follows.CancelCalled(), "it has expired")
			c.Equal(below.CancelCalled(), ends <= bound && step != 0, "it has expired itself, and was not canceled from above")
			for _, s := range []*bide.Scope{below, follows, steady} {
				s.Close(nil)
			}
			c.Equal(timer.For(w).Stats().Pending, 0, "pending on the wall clock")
		})
	}
	// A deadline that is a time of day.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		w := &wall{Virtual: vc}
		s := bide.Open(ctx, bide.Clock(w), bide.Deadline(at(vc, bound)), bide.MoveOn())
		w.step(-time.Hour)
		vc.Advance(bound)
		c.NoError(s.Check())
		c.True(s.SetDeadline(at(vc, time.Hour)), "a time that has not come, on the wall")
		vc.Advance(30 * time.Minute)
		c.Equal(s.Err(), context.DeadlineExceeded, "Err")
		s.Close(nil)
	})
})

// counting is a clock that counts how often its alarms are set and called.
type counting struct {
	*clock.Virtual
	sets, calls int
}

type countingAlarm struct {
	clock.Alarm
	c *counting
}

func (c *counting) NewAlarm(f func(now clock.Instant)) clock.Alarm {
	return &countingAlarm{c.Virtual.NewAlarm(func(now clock.Instant) { c.calls++; f(now) }), c}
}

func (a *countingAlarm) Set(at clock.Instant) { a.c.sets++; a.Alarm.Set(at) }

// What an expiry does is the same, however many other deadlines are pending.
var _ = register(51, "expiries_among_many_pending", func(c *C) {
	const sleeps = 200
	type cost struct {
		sets, calls                          int
		scheduled, fired, moved, drop, wakes int64
	}
	measure := func(pending int) (one cost) {
		c.Bubble(func(ctx context.Context) {
			vc := &counting{Virtual: clock.NewVirtual()}
			service := timer.For(vc)
			root := bide.Open(ctx, bide.Clock(vc))
			far := make([]*bide.Scope, pending)
			for i := range far {
				far[i] = bide.Open(root, bide.Timeout(time.Duration(1+i)*time.Hour))
				far[i].Done()
			}
			c.Equal(service.Stats().Pending, pending, "pending")
			was, sets, calls := service.Stats(), vc.sets, vc.calls
			slept := 0
			op := c.Start(func() error {
				for range sleeps {
					if err := bide.Sleep(root, time.Millisecond); err != nil {
						return err
					}
					slept++
				}
				return nil
			})
			for i := range sleeps {
				synctest.Wait()
				c.Equal(slept, i, "sleeps that have ended")
				c.True(vc.Jump(), "the next one")
			}
			c.NoError(op.Returned("all sleeps"))
			is := service.Stats()
			one = cost{
				vc.sets - sets, vc.calls - calls, is.Scheduled - was.Scheduled, is.Fired - was.Fired, is.Moved - was.Moved,
				is.Dropped - was.Dropped, is.Wakes - was.Wakes,
			}
			c.Equal(is.Pending, pending, "pending, still")
			root.Close(nil)
			for _, s := range far {
				s.Close(nil)
			}
			c.Equal(service.Stats().Pending, 0, "pending in the end")
		})
		return one
	}
	few := measure(1)
	c.Equal(few.fired, int64(sleeps), "looks that fired")
	c.Equal(few.wakes, int64(sleeps), "drivers started")
	c.Equal(measure(10_000), few, "what it takes with ten thousand pending")
})
