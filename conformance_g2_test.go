package bide_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// G. Nurseries, continued: late children, and what reaches whom.

// A canceled nursery that is still open takes children: what they own has to be released.
var _ = register(83, "go_when_canceled", func(c *C) {
	cancels := map[string]func(outer *bide.Scope, n *bide.Nursery){
		"from above": func(outer *bide.Scope, _ *bide.Nursery) { outer.Cancel(nil) },
		"itself":     func(_ *bide.Scope, n *bide.Nursery) { n.Cancel(nil) },
		"a sibling": func(_ *bide.Scope, n *bide.Nursery) {
			n.Go(func(context.Context) error { return failure })
			c.Settle()
		},
	}
	for how, cancel := range cancels {
		for _, opts := range [][]bide.Option{nil, {bide.Name("own scope")}, {bide.Timeout(time.Hour), bide.MoveOn()}} {
			for _, b := range blockers {
				c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
					began, passed := 0, 0
					outer := bide.Open(ctx)
					err := bide.WithNursery(outer, func(ctx context.Context, n *bide.Nursery) error {
						cancel(outer, n)
						for range 3 {
							n.Go(func(ctx context.Context) error {
								began++
								if err := b.wait(ctx); err != nil {
									c.Canceled(err)
									return err
								}
								passed++
								return nil
							}, opts...)
							c.Settle()
						}
						return nil
					})
					outer.Close(&err)
					c.Equal(err, map[bool]error{true: failure}[how == "a sibling"], how+": result")
					c.Equal(began, 3, how+": children that began")
					c.Equal(passed, 0, how+": children that came past a cancel point")
				})
			}
		}
	}
})

// As long as one child runs, children may be started. After that nobody is taken in, and nobody is lost.
var _ = register(84, "go_after_the_body", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var kept *bide.Nursery
		ended := false
		op := c.Start(func() error {
			return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
				kept = n
				n.Go(func(ctx context.Context) error {
					if err := bide.Sleep(ctx, time.Second); err != nil {
						return err
					}
					n.Go(func(ctx context.Context) error {
						defer func() { ended = true }()
						return bide.Sleep(ctx, time.Second)
					})
					return nil
				})
				return nil
			}, bide.Name("late"))
		})
		op.Parked("the child runs")
		vc.Advance(time.Second)
		op.Parked("the grandchild runs")
		vc.Advance(time.Second)
		c.NoError(op.Returned("both have ended"))
		c.True(ended, "the grandchild was waited for")
		for _, opts := range [][]bide.Option{nil, {bide.Name("x"), bide.Timeout(time.Hour)}} {
			text := c.Panics(func() { kept.Go(blk, opts...) }, "late")
			c.True(strings.HasPrefix(text, "bide: "), "%q names bide", text)
		}
		c.Equal(c.Pending(), 0, "timers of what was refused")
	})

	// A chain: each child starts the next as the last thing it does.
	c.Rounds(20, func(round int, r *rand.Rand) {
		const links = 100
		var ended atomic.Int64
		c.NoError(bide.WithNursery(context.Background(), func(_ context.Context, n *bide.Nursery) error {
			var link func(left int) func(context.Context) error
			link = func(left int) func(context.Context) error {
				return func(context.Context) error {
					defer ended.Add(1)
					if left > 1 {
						n.Go(link(left - 1))
					}
					return nil
				}
			}
			n.Go(link(links))
			return nil
		}))
		c.Equal(ended.Load(), int64(links), "links")
	})

	// Racing the last child, from outside: awaited, or refused by a panic.
	awaited, refused := 0, 0
	c.Rounds(5000, func(round int, r *rand.Rand) {
		var ran, ended atomic.Bool
		var panicked any
		var gone sync.WaitGroup
		here, there := meeting(r, 3000)
		err := bide.WithNursery(context.Background(), func(_ context.Context, n *bide.Nursery) error {
			gone.Go(func() {
				defer func() { panicked = recover() }()
				here()
				n.Go(func(context.Context) error {
					ran.Store(true)
					runtime.Gosched()
					ended.Store(true)
					return nil
				})
			})
			n.Go(func(context.Context) error { there(); return nil })
			return nil
		})
		ranAtReturn, endedAtReturn := ran.Load(), ended.Load()
		gone.Wait()
		c.NoError(err)
		switch text, _ := panicked.(string); {
		case panicked == nil:
			awaited++
			c.True(ranAtReturn && endedAtReturn, "the late child was waited for")
		default:
			refused++
			c.True(strings.HasPrefix(text, "bide: "), "panic %v names bide", panicked)
			c.True(!ran.Load(), "what was refused has not run")
		}
	})
	c.Logf("awaited %d, refused %d", awaited, refused)
})

// A child is under the nursery, and not under whoever calls Go.
var _ = register(85, "not_limited_by_the_caller", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var child time.Duration
		took, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
					n.Go(func(ctx context.Context) error {
						c.Equal(bide.Remaining(ctx), time.Duration(clock.Forever), "the child has no deadline")
						err := bide.Sleep(ctx, 10*time.Second)
						child = elapsed(vc)
						return err
					})
					return bide.Sleep(ctx, 5*time.Second)
				}, bide.Name("caller"))
				c.Equal(c.TimeoutError(err).Scope, "caller", "who was limited")
				c.Equal(elapsed(vc), time.Second, "when")
				return nil
			})
		})
		c.NoError(err)
		c.Equal(child, 10*time.Second, "the child's time")
		c.Equal(took, 10*time.Second, "the nursery's time")
	})
	// As in the list: nothing but the Go in it. And it is the same with a child that has a scope of its own.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		took, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				return bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
					sleep := func(ctx context.Context) error { return bide.Sleep(ctx, 10*time.Second) }
					n.Go(sleep)
					n.Go(sleep, bide.Name("own scope"))
					return nil
				})
			})
		})
		c.NoError(err)
		c.Equal(took, 10*time.Second, "took")
	})
})

// The top of a tree of nurseries reaches every leaf.
var _ = register(86, "two_levels", func(c *C) {
	const inner, leaves = 3, 4
	tops := map[string]func(outer *bide.Scope, n *bide.Nursery, vc *clock.Virtual){
		"the scope above": func(outer *bide.Scope, _ *bide.Nursery, _ *clock.Virtual) { outer.Cancel(failure) },
		"the deadline":    func(_ *bide.Scope, _ *bide.Nursery, vc *clock.Virtual) { vc.Advance(time.Minute) },
		"the top nursery": func(_ *bide.Scope, n *bide.Nursery, _ *clock.Virtual) { n.Cancel(failure) },
		"its failed child": func(_ *bide.Scope, n *bide.Nursery, _ *clock.Virtual) {
			n.Go(func(context.Context) error { return failure })
		},
	}
	for name, cancel := range tops {
		for _, own := range [][]bide.Option{nil, {bide.Name("own scope")}} {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				var woken atomic.Int64
				var top *bide.Nursery
				outer := bide.Open(ctx, within(time.Minute)...)
				leaf := func(i int) func(context.Context) error {
					return func(ctx context.Context) error {
						err := blocks[i%len(blocks)].wait(ctx)
						c.Equal(err, top.Scope().Cause(), name+": the leaf's error")
						woken.Add(1)
						return err
					}
				}
				op := c.Start(func() error {
					return bide.WithNursery(outer, func(ctx context.Context, n *bide.Nursery) error {
						top = n
						for range inner {
							n.Go(func(ctx context.Context) error {
								return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
									for i := range leaves {
										n.Go(leaf(i), own...)
									}
									return leaf(leaves)(ctx)
								})
							}, own...)
						}
						return nil
					})
				})
				op.Parked("nobody is canceled")
				cancel(outer, top, vc)
				err := op.Returned(name)
				c.Equal(woken.Load(), int64(inner*(leaves+1)), name+": leaves woken")
				if name == "its failed child" {
					c.Equal(err, failure, name+": result")
				}
				outer.Close(&err)
				if name != "its failed child" {
					c.NoError(err)
				}
			})
		}
	}
})

// A child's own scope is its own: what it cancels there is its own business.
var _ = register(87, "child_cancels_its_own_scope", func(c *C) {
	children := map[string]func(n *bide.Nursery, body func(s *bide.Scope) error){
		"by options": func(n *bide.Nursery, body func(s *bide.Scope) error) {
			n.Go(func(ctx context.Context) error { return body(bide.From(ctx)) }, bide.Name("own"))
		},
		"with a bound": func(n *bide.Nursery, body func(s *bide.Scope) error) {
			n.Go(func(ctx context.Context) error { return body(bide.From(ctx)) }, bide.Timeout(time.Hour))
		},
		"by Run": func(n *bide.Nursery, body func(s *bide.Scope) error) {
			n.Go(func(ctx context.Context) error { return bide.Run(ctx, body) })
		},
		"by Open": func(n *bide.Nursery, body func(s *bide.Scope) error) {
			n.Go(func(ctx context.Context) (err error) {
				s := bide.Open(ctx)
				defer s.Close(&err)
				return body(s)
			})
		},
		"a nursery": func(n *bide.Nursery, body func(s *bide.Scope) error) {
			n.Go(func(ctx context.Context) error {
				return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error { return body(n.Scope()) })
			})
		},
	}
	for name, start := range children {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var nursery *bide.Nursery
			var own *bide.Scope
			var done syncs.Event
			op := c.Start(func() error {
				return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
					nursery = n
					n.Go(func(ctx context.Context) error { return done.Wait(ctx) }) // a sibling
					start(n, func(s *bide.Scope) error {
						own = s
						s.Cancel(failure)
						err := blk(s)
						c.Equal(c.Canceled(err).Reason, failure, name+": the child's own")
						return err
					})
					return done.Wait(ctx)
				})
			})
			op.Parked(name + ": sibling and body go on")
			c.standing(own, name+": own", true, true)
			c.NoError(nursery.Scope().Err())
			c.True(!nursery.Scope().CancelCalled(), "%s: the nursery", name)
			done.Set()
			c.NoError(op.Returned(name))
			c.True(!nursery.Scope().Caught(), "%s: the nursery caught nothing", name)
		})
	}

	// Its own bound is its own failure, though; only with MoveOn it is nobody's.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		took, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(blk, within(time.Second)...)
				return bide.Sleep(ctx, time.Minute)
			})
		})
		c.NoError(err)
		c.Equal(took, time.Minute, "took, with MoveOn")
		took, err = c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(blk, bide.Timeout(time.Second), bide.Name("bounded"))
				err := bide.Sleep(ctx, time.Minute)
				c.Equal(c.Canceled(err).Source, bide.BySibling, "the body's error")
				return errors.Join(err)
			})
		})
		c.Equal(c.TimeoutError(err).Scope, "bounded", "whose bound it was")
		c.Equal(took, time.Second, "took, without MoveOn")
	})
})
