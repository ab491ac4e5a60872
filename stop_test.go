package bide_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// virtual gives a test what conformance items have.
func virtual(t *testing.T, f func(c *C, ctx context.Context, vc *clock.Virtual)) {
	t.Helper()
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { f(c, ctx, vc) })
}

// isClosed reports whether a channel is closed.
func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

const grace = 10 * time.Second

// byShutdown checks that err is the cancellation of a hard end.
func (c *C) byShutdown(err, reason error) *bide.Canceled {
	c.Helper()
	e := c.Canceled(err)
	c.Equal(e.Source, bide.ByShutdown, "source")
	c.Equal(e.Reason, reason, "reason")
	return e
}

// Nothing happens in the grace; at its end, to the nanosecond, everything below is canceled, and the scope absorbs it.
func TestStop(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		for _, reason := range []error{failure, nil} {
			for _, b := range blocks {
				var s *bide.Scope
				op := c.Start(func() error {
					return bide.Run(ctx, func(in *bide.Scope) error {
						s = in
						return bide.FailAfter(in, time.Hour, b.wait)
					}, bide.Name("server"))
				})
				op.Parked(b.name)
				std, stop := context.WithCancel(s)
				s.Stop(grace, reason)
				vc.Advance(grace - 1)
				op.Parked(b.name)
				c.Equal(s.Cause(), nil, "cause in the grace")
				c.True(!s.CancelCalled(), "not canceled in the grace")
				at, _ := vc.Time(vc.Now() + 1)
				vc.Advance(1)
				c.NoError(op.Returned(b.name))
				c.standing(s, "server", true, true)
				e := c.byShutdown(s.Cause(), reason)
				c.Equal(e.Scope, "server", "scope")
				c.Equal(e.At, at, "at")
				c.Is(e, context.Canceled)
				c.Equal(std.Err(), context.Canceled, "a std child")
				c.Equal(context.Cause(std), error(e), "its cause")
				stop()
			}
		}
	})
}

// Zero and less: hard at once, before Stop returns.
func TestStopAtOnce(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		for _, d := range []time.Duration{0, -1, -1 << 63} {
			for _, observed := range []bool{true, false} {
				s := bide.Open(ctx)
				below := bide.Open(s)
				if observed {
					below.Done()
				}
				var shielded context.Context
				op := c.Start(func() error {
					return bide.Shield(below, time.Hour, func(ctx context.Context) error {
						shielded = ctx
						return blk(ctx)
					})
				})
				op.Parked("a shield")
				s.Stop(d, failure)
				c.True(s.CancelCalled() && !below.CancelCalled(), "who was canceled")
				c.byShutdown(s.Check(), failure)
				c.byShutdown(below.Check(), failure)
				c.byShutdown(bide.Check(shielded), failure)
				c.TimeoutError(op.Returned("the shield"))
				below.Close(nil)
				s.Close(nil)
			}
		}
	})
}

// A second Stop can only shorten; only then does its reason count.
func TestStopTwice(t *testing.T) {
	for _, x := range []struct {
		name   string
		later  time.Duration // when
		second time.Duration // grace
		end    time.Duration
		reason error
	}{
		{"shorter", time.Second, 2 * time.Second, 3 * time.Second, errOther},
		{"a shorter grace that ends later", 9 * time.Second, 2 * time.Second, grace, failure},
		{"longer", time.Second, time.Hour, grace, failure},
		{"to the same instant", time.Second, 9 * time.Second, grace, failure},
		{"at once", time.Second, 0, time.Second, errOther},
		{"for ever", time.Second, time.Duration(clock.Forever), grace, failure},
	} {
		virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
			s := bide.Open(ctx)
			took, err := c.Timed(vc, func() error {
				s.Stop(grace, failure)
				bide.Sleep(ctx, x.later)
				s.Stop(x.second, errOther)
				return bide.Shield(s, time.Hour, blk) // the last one to end
			})
			c.TimeoutError(err)
			c.Equal(took, x.end, x.name+": the hard end")
			c.byShutdown(s.Cause(), x.reason)
			s.Stop(grace, nil) // too late
			c.byShutdown(s.Cause(), x.reason)
			s.Close(nil)
		})
	}
}

// With an endless grace there is only the soft phase, and a later Stop may still set an end.
func TestStopSoftly(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		s.Stop(time.Duration(clock.Forever), nil)
		c.True(isClosed(bide.Draining(s)), "draining")
		c.Equal(c.Pending(), 0, "pending")
		c.Equal(s.Remaining(), time.Duration(clock.Forever), "remaining")
		vc.Advance(1e6 * time.Hour)
		c.NoError(s.Check())
		s.Stop(grace, failure)
		vc.Advance(grace)
		c.byShutdown(s.Check(), failure)
		s.Close(nil)
	})
}

// The scope's own deadline and the hard end: the first one holds, and says what it was.
func TestStopAndDeadline(t *testing.T) {
	for _, x := range []struct {
		name     string
		deadline time.Duration
		end      time.Duration
		source   bide.Source
	}{
		{"deadline first", grace - 1, grace - 1, bide.ByDeadline},
		{"both at once", grace, grace, bide.ByDeadline}, // its own, and an error as it would have been anyway
		{"hard end first", grace + 1, grace, bide.ByShutdown},
	} {
		check := func(c *C, s *bide.Scope, took time.Duration, err error) {
			c.Helper()
			c.Equal(took, x.end, x.name+": took")
			c.Equal(c.Canceled(s.Cause()).Source, x.source, x.name)
			if x.source == bide.ByDeadline {
				c.Equal(c.TimeoutError(err).Limit, x.deadline, "limit")
			} else {
				c.NoError(err)
			}
		}
		virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
			for _, parked := range []bool{true, false} {
				var s *bide.Scope
				took, err := c.Timed(vc, func() error {
					return bide.FailAfter(ctx, x.deadline, func(ctx context.Context) error {
						s = bide.From(ctx)
						s.Stop(grace, failure)
						if parked {
							return blk(ctx)
						}
						bide.Sleep(context.WithoutCancel(ctx), x.end) // the first look is late
						return bide.Check(ctx)
					})
				})
				check(c, s, took, err)
			}
			// set in the grace
			var s *bide.Scope
			took, err := c.Timed(vc, func() error {
				return bide.Run(ctx, func(in *bide.Scope) error {
					s = in
					s.Stop(grace, failure)
					c.True(s.SetTimeout(x.deadline), "set in the grace")
					return blk(s)
				})
			})
			check(c, s, took, err)
			// and removed, or moved far away: the hard end stays
			took, err = c.Timed(vc, func() error {
				return bide.Run(ctx, func(s *bide.Scope) error {
					s.Stop(grace, failure)
					c.True(s.SetTimeout(time.Hour) && s.SetDeadline(time.Time{}), "moved")
					return c.byShutdown(blk(s), failure)
				}, bide.Timeout(x.deadline))
			})
			c.NoError(err)
			c.Equal(took, grace, "took")
		})
	}
}

// The bound of a scope further in that comes at the same instant as the hard end does not show: outer wins, whoever's
// timer is first.
func TestStopAtTheInstantOfAnInnerDeadline(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		for _, first := range []string{"deadline", "stop"} {
			s := bide.Open(ctx)
			if first == "stop" {
				s.Stop(grace, failure)
			}
			op := c.Start(func() error { return bide.FailAfter(s, grace, blk) })
			op.Parked("an inner bound")
			if first == "deadline" {
				s.Stop(grace, failure)
			}
			vc.Advance(grace)
			c.byShutdown(op.Returned("the inner bound"), failure)
			s.Close(nil)
		}
	})
}

// Stops of two scopes on one path: each is what it is, and the nearer end comes first.
func TestStopTwoScopes(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx, bide.Name("outer"))
		inner := bide.Open(outer, bide.Name("inner"))
		var sources []string
		wait := func() *Op {
			return c.Start(func() error {
				return bide.Shield(inner, time.Hour, func(ctx context.Context) error {
					err := blk(ctx)
					sources = append(sources, c.byShutdown(err, failure).Scope)
					return err
				})
			})
		}
		op := wait()
		op.Parked("in two scopes")
		outer.Stop(2*grace, failure)
		inner.Stop(grace, failure)
		vc.Advance(grace)
		c.TimeoutError(op.Returned("the inner hard end"))
		c.NoError(outer.Check())
		c.Equal(inner.Remaining(), time.Duration(0), "remaining in the inner one")
		c.Equal(outer.Remaining(), grace, "remaining in the outer one")
		err := inner.Check()
		inner.Close(&err)
		c.NoError(err) // absorbed by the inner one
		vc.Advance(grace)
		c.byShutdown(outer.Check(), failure)
		outer.Close(nil)

		outer = bide.Open(ctx, bide.Name("outer"))
		inner = bide.Open(outer, bide.Name("inner"))
		op = wait()
		op.Parked("in two scopes")
		inner.Stop(2*grace, failure)
		outer.Stop(grace, failure)
		vc.Advance(grace)
		c.TimeoutError(op.Returned("the outer hard end"))
		err = inner.Check()
		inner.Close(&err)
		c.byShutdown(err, failure) // passed on
		outer.Close(&err)
		c.NoError(err)
		c.Equal(sources, []string{"inner", "outer"}, "who cut the shields")
	})
}

// In the grace the hard end is the effective deadline, also in shields and for package context.
func TestStopIsADeadline(t *testing.T) {
	c := &C{T: t}
	c.Bubble(func(ctx context.Context) {
		s := bide.Open(ctx)
		below := bide.Open(s, bide.Timeout(time.Hour))
		std, stop := context.WithTimeout(below, 2*time.Hour)
		defer stop()
		nearer, stop := context.WithTimeout(below, 30*time.Minute)
		defer stop()
		err := bide.Shield(std, time.Minute, func(shield context.Context) error {
			in := bide.Open(shield, bide.Timeout(time.Hour))
			defer in.Close(nil)
			check := func(ctx context.Context, want time.Duration) {
				c.Helper()
				c.Equal(bide.Remaining(ctx), want, "remaining")
				d, ok := ctx.Deadline()
				c.True(ok && time.Until(d) == want, "deadline in %v, %v; want %v", time.Until(d), ok, want)
			}
			check(below, time.Hour)
			check(in, time.Minute)
			s.Stop(grace, nil)
			for _, ctx := range []context.Context{s, below, shield, in} {
				check(ctx, grace)
			}
			check(bide.From(std), grace)
			check(nearer, 30*time.Minute) // package context does not look up again
			bide.Run(nearer, func(s *bide.Scope) error { check(s, 30*time.Minute); return nil })
			later, stop := context.WithTimeout(below, time.Hour)
			defer stop()
			check(later, grace)
			time.Sleep(time.Second)
			check(in, grace-time.Second)
			s.Stop(2*time.Second, nil)
			for _, ctx := range []context.Context{s, below, shield, in} {
				check(ctx, 2*time.Second)
			}
			time.Sleep(2 * time.Second)
			for _, ctx := range []context.Context{s, below, shield, in} {
				c.Equal(bide.Remaining(ctx), time.Duration(0), "remaining after the hard end")
			}
			return nil
		})
		c.NoError(err)
		below.Close(nil)
		s.Close(nil)
	})
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		s.Stop(grace, nil)
		_, ok := s.Deadline()
		c.True(!ok, "no deadline for package context on a virtual clock")
		c.Equal(s.Remaining(), grace, "remaining")
		s.Close(nil)
	})
}

// A scope that is left in time takes its hard end along: nothing is scheduled, and nobody is reported.
func TestStopLeftInTime(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		for _, before := range []bool{true, false} {
			s := bide.Open(ctx)
			if before {
				s.Done()
			}
			s.Stop(grace, nil)
			s.Stop(time.Second, nil)
			c.Equal(c.Pending(), 1, "pending in the grace")
			s.Close(nil)
			c.Equal(c.Pending(), 0, "pending after Close")
			vc.Advance(grace)
			c.True(s.StopReport() == nil, "no report")
			c.Equal(s.Cause(), bide.Open(s).Cause(), "closed, and not stopped")
			c.Equal(c.Canceled(s.Cause()).Source, bide.ByAbandoned, "source")
		}
	})
}

// After its scope is closed a Stop still bounds the shields below, whichever is first: the Stop, the Close, the shield's
// first wait. Without one it leaves nothing behind.
func TestStopAndClosed(t *testing.T) {
	for _, order := range [][]string{
		{"wait", "stop", "close"}, {"wait", "close", "stop"}, {"stop", "wait", "close"},
		{"stop", "close", "wait"}, {"close", "wait", "stop"}, {"close", "stop", "wait"},
	} {
		for _, cut := range []bool{true, false} {
			virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
				s := bide.Open(ctx)
				wait, end := make(chan struct{}), make(chan struct{})
				w := park.New(nil)
				op := c.Start(func() error {
					return bide.Shield(s, time.Hour, func(ctx context.Context) error {
						<-wait
						if cut {
							return blk(ctx)
						}
						tok := w.Arm(clock.Forever)
						go func() { <-end; w.Wake(tok, park.Woken) }()
						w.Wait(ctx, tok, park.KindOther)
						return nil
					})
				})
				for _, step := range order {
					switch step {
					case "wait":
						close(wait)
					case "stop":
						s.Stop(grace, failure)
					case "close":
						s.Close(nil)
					}
					op.Parked(step)
				}
				if cut {
					vc.Advance(grace - 1)
					op.Parked("in the grace")
					vc.Advance(1)
					c.Equal(c.TimeoutError(op.Returned("the shield")).Limit, grace, "limit")
				} else {
					c.Equal(c.Pending(), 2, "pending: the shield's bound, and the hard end")
					close(end)
					c.NoError(op.Returned("the shield"))
				}
				c.Equal(c.Pending(), 0, "pending")
			})
		}
	}
}

// Services go on until those who depend on them have ended, also when that is the hard end's doing. A shield in one is
// cut like any other.
func TestStopAndServices(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		var served, cleaned error
		over := make(chan struct{})
		service := func(ctx context.Context) error {
			served = blk(ctx)
			cleaned = bide.Shield(ctx, time.Hour, blk)
			return served
		}
		op := c.Start(func() error {
			return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
				n.Service(service)
				n.Go(func(ctx context.Context) error {
					err := blk(ctx)
					<-over
					return err
				})
				return nil
			})
		})
		op.Parked("a nursery with a service")
		draining := bide.Draining(s)
		s.Stop(grace, failure)
		c.True(isClosed(draining), "draining")
		vc.Advance(grace)
		op.Parked("a child that is slow to end")
		c.NoError(served)
		for _, l := range s.StopReport().Left {
			c.True(len(l.Waits) == 0 || l.Children > 0, "a service is not a straggler: %v", l)
		}
		close(over)
		c.byShutdown(op.Returned("the nursery"), failure)
		c.Equal(c.Canceled(served).Source, bide.ByCancel, "what ended the service")
		c.TimeoutError(cleaned)
		s.Close(nil)
	})
}

// What context.WithoutCancel keeps from a scope's cancellation it keeps from a hard end; not so a shield below it.
func TestStopAndWithoutCancel(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		detached := context.WithoutCancel(s)
		free := bide.Open(detached)
		op := c.Start(func() error { return blk(free) })
		op.Parked("below WithoutCancel")
		cut := c.Start(func() error { return bide.Shield(detached, time.Hour, blk) })
		cut.Parked("a shield below WithoutCancel")
		draining := bide.Draining(free)
		s.Stop(grace, failure)
		c.True(isClosed(draining) && isClosed(bide.Draining(detached)), "draining")
		vc.Advance(grace)
		op.Parked("below WithoutCancel")
		c.TimeoutError(cut.Returned("a shield below WithoutCancel"))
		free.Cancel(nil)
		c.Canceled(op.Wait())
		free.Close(nil)
		s.Close(nil)
	})
}

// The hard end is on the clock of the scope that is stopped, for shields on other clocks, too; they tell the time by
// their own.
func TestStopOnAnotherClock(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		other := clock.NewVirtual()
		s := bide.Open(ctx, bide.Name("stopped"))
		for _, looked := range []bool{true, false} {
			start := make(chan struct{})
			op := c.Start(func() error {
				return bide.Shield(s, time.Hour, func(ctx context.Context) error {
					if !looked {
						<-start
					}
					err := blk(ctx)
					c.byShutdown(err, failure)
					return err
				}, bide.Clock(other))
			})
			op.Parked("a shield on another clock")
			s.Stop(grace, failure)
			other.Advance(3 * time.Second)
			vc.Advance(grace - 1)
			if looked {
				op.Parked("in the grace")
			}
			vc.Advance(1)
			close(start)
			c.Equal(c.TimeoutError(op.Returned("the shield")).Limit, 3*time.Second, "limit")
		}
		c.Equal(timer.For(other).Stats().Pending, 0, "pending on the other clock")
		s.Close(nil)
	})
}

// What is opened in a scope after its hard end is canceled, as in any canceled scope.
func TestStopThenOpen(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		s := bide.Open(ctx)
		s.Stop(grace, failure)
		c.NoError(bide.FailAfter(s, time.Hour, func(ctx context.Context) error { return bide.Check(ctx) })) // in the grace
		vc.Advance(grace)
		c.byShutdown(bide.FailAfter(s, time.Hour, func(ctx context.Context) error { return bide.Check(ctx) }), failure)
		c.byShutdown(bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(blk)
			return nil
		}), failure)
		err := bide.Shield(s, time.Hour, func(ctx context.Context) error {
			return bide.FailAfter(ctx, time.Hour, blk) // not the shield's own look
		})
		c.TimeoutError(err)
		s.Close(nil)
	})
}

// The stopped scope absorbs the hard end; what is real stays, and so does what lay around it.
func TestStopExit(t *testing.T) {
	virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx)
		for _, x := range []struct {
			name string
			ret  func(err error) error
			want error
		}{
			{"its cancellation", func(err error) error { return err }, nil},
			{"nothing", func(error) error { return nil }, nil},
			{"a real error", func(error) error { return failure }, failure},
			{"both", func(err error) error { return errors.Join(err, failure) }, failure},
		} {
			s, err := run(outer, func(s *bide.Scope) error {
				s.Stop(0, errOther)
				return x.ret(s.Check())
			}, bide.Timeout(time.Hour))
			c.Equal(err, x.want, x.name)
			c.True(s.CancelCalled(), "called")
		}
		_, err := run(outer, func(s *bide.Scope) error {
			s.Stop(0, errOther)
			outer.Cancel(nil)
			return s.Check()
		})
		c.byShutdown(err, errOther) // the outer one's to drop
		outer.Close(&err)
		c.NoError(err)

		// A shield that is stopped itself is not cut from above: it absorbs.
		err = bide.Shield(ctx, time.Hour, func(ctx context.Context) error {
			bide.From(ctx).Stop(grace, nil)
			vc.Advance(grace)
			return blk(ctx)
		})
		c.NoError(err)
	})
}
