package bide_test

import (
	"context"
	"errors"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// D. Shields.

// In a shield the cancellation around it is not felt; it is at the first cancel point after.
var _ = register(52, "shield_in_a_canceled_scope", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx)
		outer.Cancel(failure)
		var m syncs.Mutex
		m.TryLock()
		var e syncs.Event
		var f syncs.Future[int]
		for _, t := range []struct {
			name    string
			wait    func(ctx context.Context) error
			satisfy func()
		}{
			{"Sleep", func(ctx context.Context) error { return bide.Sleep(ctx, time.Second) }, func() { vc.Advance(time.Second) }},
			{"Mutex.Lock", m.Lock, m.Unlock},
			{"Event.Wait", e.Wait, e.Set},
			{"Future.Wait", func(ctx context.Context) error { _, err := f.Wait(ctx); return err }, func() { f.Set(7) }},
			{"WaitAny", func(ctx context.Context) error {
				i, err := syncs.WaitAny(ctx, new(syncs.Event), &e)
				c.Equal(i, 1, "index")
				return err
			}, e.Set},
		} {
			e.Reset()
			after := false
			op := c.Start(func() error {
				err := bide.Shield(outer, time.Minute, func(ctx context.Context) error {
					c.NoError(bide.Check(ctx))
					c.NoError(bide.Sleep(ctx, 0))
					if err := t.wait(ctx); err != nil {
						return err
					}
					after = true
					return bide.Check(ctx)
				})
				c.NoError(err)
				return blk(outer)
			})
			op.Parked(t.name + " in a shield")
			t.satisfy()
			c.Equal(op.Returned(t.name), outer.Cause(), "error of the first cancel point after the shield")
			c.True(after, "the shield has run to its end")
			for _, b := range blocks {
				c.Equal(b.wait(outer), outer.Cause(), b.name+" after the shield")
			}
			c.Equal(c.Pending(), 0, "pending")
		}
		outer.Close(nil)
	})
})

// The grace is over: a cancellation inside, a TimeoutError that names the shield outside, and around it all is as it
// was.
var _ = register(53, "grace_expires", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, b := range blocks {
			for _, canceled := range []bool{true, false} {
				outer := bide.Open(ctx, bide.Name("outer"))
				if canceled {
					outer.Cancel(failure)
				}
				took, err := c.Timed(vc, func() error {
					return bide.Shield(outer, 2*time.Second, func(ctx context.Context) error {
						err := b.wait(ctx)
						e := c.Canceled(err)
						c.Equal(e.Source, bide.ByDeadline, "source")
						c.Equal(e.Scope, "goodbye", "whose cancellation it is")
						c.Equal(b.wait(ctx), err, "the next point inside")
						return err
					}, bide.Name("goodbye"))
				})
				c.Equal(took, 2*time.Second, "took")
				e, ok := err.(*bide.TimeoutError)
				if c.True(ok, "a bare *TimeoutError: %v", err) {
					c.Equal(e.Scope, "goodbye", "name")
					c.Equal(e.Limit, 2*time.Second, "limit")
					c.Equal(e.Elapsed, 2*time.Second, "elapsed")
				}
				if canceled {
					c.Equal(b.wait(outer), outer.Cause(), "error of the next point outside")
				} else {
					c.NoError(outer.Check())
					op := c.Start(func() error { return b.wait(outer) })
					op.Parked("a wait outside, where nothing is canceled")
					outer.Cancel(nil)
					c.Canceled(op.Returned("the wait"))
				}
				outer.Close(&err)
				c.Equal(c.TimeoutError(err).Scope, "goodbye", "what comes out of the outer scope")
			}
		}
	})
})

// Scopes inside of a shield work as everywhere.
var _ = register(54, "scope_inside_of_a_shield", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx)
		outer.Cancel(nil)
		for _, b := range blocks {
			start := elapsed(vc)
			c.NoError(bide.Shield(outer, time.Minute, func(shield context.Context) error {
				s, err := run(shield, func(s *bide.Scope) error {
					s.Cancel(failure)
					err := b.wait(s)
					c.Is(c.Canceled(err), failure)
					return err
				})
				c.NoError(err)
				c.standing(s, "a canceled scope", true, true)
				c.NoError(bide.Check(shield))

				_, err = c.Timed(vc, func() error {
					moved, err := bide.MoveOnAfter(shield, time.Second, b.wait)
					c.True(moved && err == nil, "moved on: %v", err)
					return bide.FailAfter(shield, time.Second, b.wait)
				})
				c.Equal(c.TimeoutError(err).Limit, time.Second, "limit of a bound inside")
				c.Equal(elapsed(vc), start+2*time.Second, "time after two bounds")
				c.NoError(bide.Check(shield))

				s = bide.Open(shield)
				parked := c.Start(func() error { return b.wait(s) })
				parked.Parked("a wait inside")
				s.Cancel(failure)
				err = parked.Returned("the wait")
				c.Is(c.Canceled(err), failure)
				s.Close(&err)
				c.NoError(err)
				return bide.Check(shield)
			}))
			c.Canceled(bide.Check(outer))
		}
		outer.Close(nil)
	})
})

// A cancellation that comes while the shield is open wakes nobody inside.
var _ = register(55, "canceled_while_the_shield_is_open", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		type how struct {
			name   string
			outer  func() (ctx context.Context, s *bide.Scope)
			cancel func(s *bide.Scope)
		}
		open := func() (context.Context, *bide.Scope) {
			s := bide.Open(ctx, bide.Timeout(time.Hour))
			return s, s
		}
		nested := func() (context.Context, *bide.Scope) {
			s := bide.Open(ctx, bide.Timeout(time.Hour))
			return context.WithValue(c.open(c.open(s)), struct{}{}, 0), s
		}
		std := func() (context.Context, *bide.Scope) {
			s := bide.Open(ctx, bide.Timeout(time.Hour))
			ctx, stop := context.WithCancel(s)
			s.AfterFunc(stop)
			return ctx, s
		}
		cancel := func(s *bide.Scope) { s.Cancel(failure) }
		for _, t := range []how{
			{"Cancel", open, cancel},
			{"its deadline", open, func(*bide.Scope) { vc.Advance(time.Hour) }},
			{"a deadline that is moved", open, func(s *bide.Scope) { s.SetTimeout(-1) }},
			{"leaving the scope", open, func(s *bide.Scope) { s.Close(nil) }},
			{"Cancel further up", nested, cancel},
			{"a deadline further up", nested, func(*bide.Scope) { vc.Advance(time.Hour) }},
			{"Cancel above a std context", std, cancel},
		} {
			for _, b := range blocks {
				outer, s := t.outer()
				var inside *bide.Scope
				op := c.Start(func() error {
					err := bide.Shield(outer, 5*time.Hour, func(ctx context.Context) error {
						inside = bide.From(ctx)
						below := bide.Open(ctx)
						defer below.Close(nil)
						return b.wait(below)
					})
					c.NoError(err)
					return bide.Check(outer)
				})
				op.Parked(b.name)
				std, stop := context.WithCancel(inside)
				t.cancel(s)
				op.Parked(b.name + " in a shield, against " + t.name)
				c.NoError(inside.Check())
				c.NoError(std.Err())
				c.Is(bide.Check(outer), s.Err())
				inside.Cancel(nil) // an end for the test
				c.Is(op.Returned(b.name), s.Err())
				stop()
				if t.name != "leaving the scope" {
					s.Close(nil)
				}
			}
		}
	})
})

// An outer cancellation that was obtained before the shield and is returned out of it passes.
var _ = register(57, "outer_cancellation_passes_a_shield", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, end := range []func(shield *bide.Scope){
			func(*bide.Scope) {},
			func(s *bide.Scope) { s.Cancel(nil) },
		} {
			outer, err := run(ctx, func(outer *bide.Scope) error {
				outer.Cancel(failure)
				saved := blk(outer)
				err := bide.Shield(outer, time.Second, func(ctx context.Context) error {
					end(bide.From(ctx))
					return saved
				})
				c.Equal(err, saved, "what comes out of the shield")
				return err
			})
			c.NoError(err)
			c.standing(outer, "outer", true, true)
		}
		// The grace is over: it passes too, and if nothing of the shield's own is returned there is no verdict.
		outer, err := run(ctx, func(outer *bide.Scope) error {
			outer.Cancel(failure)
			saved := blk(outer)
			err := bide.Shield(outer, time.Second, func(ctx context.Context) error {
				vc.Advance(time.Second)
				c.Canceled(blk(ctx))
				return saved
			})
			c.Is(err, saved)
			return saved
		})
		c.NoError(err)
		c.True(outer.Caught(), "outer caught it")
	})
})

// Out of a shield whose grace is over come both, the outer cancellation and the verdict on the shield.
var _ = register(58, "grace_expired_and_outer_cancellation", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, swap := range []bool{false, true} {
			outer, err := run(ctx, func(outer *bide.Scope) error {
				outer.Cancel(failure)
				saved := blk(outer)
				err := bide.Shield(outer, time.Second, func(ctx context.Context) error {
					vc.Advance(time.Second)
					own := blk(ctx)
					c.True(own != saved, "the shield's own cancellation")
					if swap {
						return errors.Join(own, saved)
					}
					return errors.Join(saved, own)
				}, bide.Name("goodbye"))
				c.Is(err, saved)
				c.Equal(c.Canceled(err), saved, "the one cancellation that is left")
				c.Equal(c.TimeoutError(err).Scope, "goodbye", "whose grace it was")
				return err
			})
			te, ok := err.(*bide.TimeoutError)
			c.True(ok && te.Scope == "goodbye", "outside the verdict is left alone: %v", err)
			c.standing(outer, "outer", true, true)
		}
		// A shield that was canceled: the verdict is nothing, the outer cancellation is left.
		_, err := run(ctx, func(outer *bide.Scope) error {
			outer.Cancel(failure)
			saved := blk(outer)
			err := bide.Shield(outer, time.Second, func(ctx context.Context) error {
				bide.From(ctx).Cancel(nil)
				return errors.Join(saved, blk(ctx))
			})
			c.Equal(err, saved, "what comes out of the shield")
			return err
		})
		c.NoError(err)
	})
})

// The error of a cleanup, joined to the cancellation that it cleans up after, is what is left outside.
var _ = register(59, "cleanup_error_is_left", func(c *C) {
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		for _, swap := range []bool{false, true} {
			outer, err := run(ctx, func(outer *bide.Scope) error {
				outer.Cancel(nil)
				err := blk(outer)
				cleanup := bide.Shield(outer, time.Second, func(ctx context.Context) error {
					c.NoError(bide.Check(ctx))
					return failure
				})
				c.Equal(cleanup, failure, "what comes out of the shield")
				if swap {
					return errors.Join(cleanup, err)
				}
				return errors.Join(err, cleanup)
			})
			c.Equal(err, failure, "what is left")
			c.standing(outer, "outer", true, true)
		}
	})
})

// Values are seen through a shield, the cause of the cancellation around it is not.
var _ = register(60, "values_pass_a_shield_causes_do_not", func(c *C) {
	type key struct{}
	type other struct{}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, watched := range []bool{false, true} { // outer's Done was asked for: there is a std context to answer
			outer := bide.Open(context.WithValue(ctx, key{}, "outside"), bide.Clock(vc))
			between, stop := context.WithCancelCause(outer)
			cases := map[string]context.Context{
				"the scope":             outer,
				"a value":               context.WithValue(outer, other{}, "between"),
				"a std context":         between,
				"a scope in the middle": c.open(outer),
			}
			if watched {
				outer.Done()
			}
			outer.Cancel(failure)
			stop(errors.New("of the std context"))
			for name, above := range cases {
				err := bide.Shield(above, time.Second, func(ctx context.Context) error {
					c.NoError(context.Cause(ctx)) // before somebody asks for Done
					c.NoError(context.Cause(context.WithValue(ctx, other{}, 0)))
					c.Equal(ctx.Value(key{}), any("outside"), "value through the shield")
					c.Equal(ctx.Value(other{}), above.Value(other{}), "value from right above the shield")
					below, stop := context.WithCancel(context.WithValue(ctx, other{}, "inside"))
					defer stop()
					c.Equal(below.Value(key{}), any("outside"), "value below the shield")
					if name == "a value" {
						ctx.Done()
					}
					for _, ctx := range []context.Context{ctx, below, context.WithValue(ctx, other{}, 0), c.open(ctx)} {
						c.NoError(ctx.Err())
						c.NoError(context.Cause(ctx))
					}
					vc.Advance(time.Second)
					own := c.Canceled(blk(ctx))
					c.Equal(own.Source, bide.ByDeadline, "source of the shield's own")
					for _, ctx := range []context.Context{ctx, below, context.WithValue(ctx, other{}, 0)} {
						c.Equal(ctx.Err(), context.DeadlineExceeded, "Err")
						c.Equal(context.Cause(ctx), error(own), "cause below "+name)
					}
					return own
				})
				c.TimeoutError(err)
				c.Is(context.Cause(outer), failure)
			}
			outer.Close(nil)
		}
	})
})

// A nursery's children are where the nursery was opened: its body's being in a shield does not protect them. Those of
// a nursery that was opened in the shield are protected.
var _ = register(61, "shields_and_nurseries", func(c *C) {
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		for _, b := range blocks {
			outer := bide.Open(ctx)
			var proceed syncs.Event
			var before, within, protected *Op
			child := func(op **Op) (child func(context.Context) error) {
				var ended syncs.Future[error]
				*op = c.Start(func() error {
					err, _ := ended.Wait(context.Background())
					return err
				})
				return func(ctx context.Context) error {
					err := b.wait(ctx)
					ended.Set(err)
					return err
				}
			}
			host := c.Start(func() error {
				err := bide.WithNursery(outer, func(ctx context.Context, n *bide.Nursery) error {
					n.Go(child(&before))
					return bide.Shield(ctx, time.Hour, func(shield context.Context) error {
						n.Go(child(&within))
						return bide.WithNursery(shield, func(_ context.Context, inside *bide.Nursery) error {
							inside.Go(child(&protected))
							c.NoError(proceed.Wait(shield)) // the host
							c.NoError(bide.Check(shield))
							inside.Cancel(nil)
							return nil
						})
					})
				})
				outer.Close(&err)
				return err
			})
			host.Parked("the host")
			before.Parked(b.name + ", begun before the shield")
			within.Parked(b.name + ", begun within the shield")
			outer.Cancel(failure)
			c.Equal(before.Returned(b.name), outer.Cause(), "error of the child from before the shield")
			c.Equal(within.Returned(b.name), outer.Cause(), "error of the child from within the shield")
			protected.Parked(b.name + " in a nursery that was opened in the shield")
			host.Parked("the host")
			proceed.Set()
			c.NoError(host.Returned("the host"))
			c.Is(c.Canceled(protected.Returned(b.name)), context.Canceled)
			c.True(outer.Caught(), "outer caught the nursery's cancellation")
		}
	})
})

// Both of 1⊃2 are canceled while a shield is open inside of 2: after it the cancellation goes out to 1.
var _ = register(62, "both_canceled_during_a_shield", func(c *C) {
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		for _, b := range blocks {
			for _, outermostFirst := range []bool{false, true} {
				var s2 *bide.Scope
				s1, err := run(ctx, func(s1 *bide.Scope) (err error) {
					s2, err = run(s1, func(s2 *bide.Scope) error {
						c.NoError(bide.Shield(s2, time.Second, func(ctx context.Context) error {
							if outermostFirst {
								s1.Cancel(failure)
								s2.Cancel(nil)
							} else {
								s2.Cancel(failure)
								s1.Cancel(nil)
							}
							return bide.Check(ctx)
						}))
						err := b.wait(s2)
						c.Canceled(err)
						return err
					})
					c.Canceled(err)
					return err
				})
				c.NoError(err)
				c.standing(s2, "s2", true, false)
				c.standing(s1, "s1", true, true)
			}
		}
	})
})
