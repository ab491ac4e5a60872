package bide_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// G. Nurseries.

// members are what err joins, or err alone.
func members(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// cancellations counts the *bide.Canceled in the tree of err.
func cancellations(err error) (n int) {
	switch e := err.(type) {
	case *bide.Canceled:
		return 1
	case interface{ Unwrap() []error }:
		for _, m := range e.Unwrap() {
			n += cancellations(m)
		}
	case interface{ Unwrap() error }:
		return cancellations(e.Unwrap())
	}
	return n
}

// The end of a nursery is not a cancel point.
var _ = register(76, "exit_is_no_cancel_point", func(c *C) {
	nothing := func(context.Context, *bide.Nursery) error { return nil }
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		c.NoError(bide.WithNursery(ctx, nothing))

		s, err := run(ctx, func(s *bide.Scope) error {
			s.Cancel(failure)
			return bide.WithNursery(s, nothing)
		})
		c.NoError(err)
		c.standing(s, "outer, canceled before", true, false)

		_, err = run(ctx, func(s *bide.Scope) error {
			err := bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(func(context.Context) error { return nil })
				s.Cancel(failure)
				n.Go(func(context.Context) error { return nil })
				return nil
			})
			c.NoError(err)
			return err
		})
		c.NoError(err)

		_, err = run(ctx, func(s *bide.Scope) error {
			return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
				vc.Advance(time.Minute)
				return nil
			})
		}, bide.Timeout(time.Second))
		c.NoError(err)

		std, cancel := context.WithCancel(ctx)
		cancel()
		c.NoError(bide.WithNursery(std, nothing))
		c.NoError(bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			n.Cancel(failure)
			return nil
		}))
		c.NoError(bide.WithNursery(ctx, nothing, bide.Timeout(0)))
	})
})

// Leaving the body waits for the children, and does not cancel them.
var _ = register(77, "waits_for_all", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var ended []int
		var scope *bide.Scope
		op := c.Start(func() error {
			return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
				scope = n.Scope()
				for i := range 3 {
					n.Go(func(ctx context.Context) error {
						if err := bide.Sleep(ctx, time.Duration(3-i)*time.Second); err != nil {
							return err
						}
						ended = append(ended, 3-i)
						return bide.Check(ctx)
					})
				}
				return nil
			})
		})
		for i := 1; i <= 3; i++ {
			op.Parked("children are still running")
			c.NoError(scope.Err())
			vc.Advance(time.Second)
			c.Settle()
			c.Equal(len(ended), i, "children that have ended")
		}
		c.NoError(op.Returned("all children have ended"))
		c.Equal(ended, []int{1, 2, 3}, "order")
		c.standing(scope, "the nursery", false, false)
	})
})

// A failed child ends the others and the body; its error comes out as it is.
var _ = register(78, "child_fails", func(c *C) {
	for _, real := range []error{
		failure,
		fmt.Errorf("wrapped: %w", failure),
		errors.Join(failure, errors.New("another")),
		&bide.TimeoutError{Scope: "inner"},
		&bide.Canceled{Source: bide.ByCancel}, // made by others: an ordinary error
	} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var mu sync.Mutex
			var seen []error
			wait := func(ctx context.Context) error {
				err := blk(ctx)
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, err)
				return err
			}
			var scope *bide.Scope
			err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				scope = n.Scope()
				n.Go(wait)
				n.Go(wait, bide.Name("in a scope of its own"), bide.Timeout(time.Hour))
				n.Go(func(ctx context.Context) error {
					return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
						n.Go(wait)
						return nil
					})
				})
				c.Settle()
				n.Go(func(context.Context) error { return real })
				return wait(ctx)
			})
			c.True(err == real, "%v comes out itself: %v (%T)", real, err, err)
			c.Equal(len(seen), 4, "who was canceled")
			for _, err := range seen {
				c.Equal(c.Canceled(err).Source, bide.BySibling, "Source")
			}
			c.NoError(bide.Check(ctx))
			c.True(!scope.CancelCalled(), "nobody called Cancel")
		})
	}
})

// The body is one more child. Several failures come joined, in the order in which they came.
var _ = register(79, "several_failures", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			for range 2 {
				n.Go(func(ctx context.Context) error {
					err := blk(ctx)
					c.Equal(c.Canceled(err).Source, bide.ByBody, "Source")
					return err
				})
			}
			return failure
		})
		c.Equal(err, failure, "the body's error comes out itself")
	})

	// n failures, in every order, with the body in any place.
	const n = 4
	c.Rounds(30, func(round int, r *rand.Rand) {
		order := r.Perm(n)
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			errs := make([]error, n)
			ends := make([]syncs.Event, n)
			child := func(i int) func(context.Context) error {
				errs[i] = fmt.Errorf("failure %d", i)
				return func(ctx context.Context) error {
					c.NoError(ends[i].Wait(context.Background()))
					switch cancellation := bide.Check(ctx); {
					case cancellation == nil:
						c.Equal(i, order[0], "the first to fail is not canceled")
						return errs[i]
					case i%2 == 0:
						return errors.Join(cancellation, errs[i]) // a cleanup that failed
					default:
						return errs[i]
					}
				}
			}
			op := c.Start(func() error {
				return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
					for i := range len(ends) - 1 {
						n.Go(child(i + 1))
					}
					n.Go(blk)
					return child(0)(ctx)
				})
			})
			var want []error
			for _, i := range order {
				op.Parked("not everybody has ended")
				ends[i].Set()
				c.Settle()
				want = append(want, errs[i])
			}
			err := op.Returned("everybody has ended")
			got := members(err)
			c.Equal(len(got), n, "failures")
			for i, e := range got {
				c.Equal(e, want[i], "in order of completion")
				c.Is(err, want[i])
			}
			c.Equal(cancellations(err), 0, "cancellations in the result")
		})
	})

	// The cleanup of one that was canceled fails: it counts, after what caused it.
	errCleanup := errors.New("cleanup")
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { return errors.Join(blk(ctx), errCleanup) })
			c.Settle()
			n.Go(func(context.Context) error { return failure })
			return nil
		})
		c.Is(err, failure)
		c.Is(err, errCleanup)
		c.Equal(members(err), []error{failure, errCleanup}, "in order")
	})
})

// What the nursery was canceled by on purpose is no error, from wherever it was called.
var _ = register(80, "cancel_is_absorbed", func(c *C) {
	results := []func(err error) error{
		func(err error) error { return err },
		func(error) error { return nil },
		func(err error) error { return fmt.Errorf("wrapped: %w", err) },
		func(err error) error { return errors.Join(err, err) },
		func(error) error { return context.Canceled },
	}
	callers := map[string]func(ctx context.Context, n *bide.Nursery, cancel func()){
		"the body":     func(_ context.Context, _ *bide.Nursery, cancel func()) { cancel() },
		"from outside": func(_ context.Context, _ *bide.Nursery, cancel func()) { go func() { c.Settle(); cancel() }() },
		"a child": func(_ context.Context, n *bide.Nursery, cancel func()) {
			n.Go(func(context.Context) error { cancel(); return nil })
		},
		"a named child": func(_ context.Context, n *bide.Nursery, cancel func()) {
			n.Go(func(context.Context) error { cancel(); return nil }, bide.Name("x"))
		},
		"an inner scope": func(ctx context.Context, _ *bide.Nursery, cancel func()) {
			c.NoError(bide.Run(ctx, func(*bide.Scope) error { cancel(); return nil }))
		},
		"a grandchild": func(_ context.Context, n *bide.Nursery, cancel func()) {
			n.Go(func(ctx context.Context) error {
				return bide.WithNursery(ctx, func(_ context.Context, inner *bide.Nursery) error {
					inner.Go(func(context.Context) error { cancel(); return nil })
					return nil
				})
			})
		},
	}
	for _, reason := range []error{nil, failure} {
		for caller, call := range callers {
			for i, result := range results {
				c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
					what := fmt.Sprintf("%s, result %d", caller, i)
					child := func(ctx context.Context) error {
						err := blk(ctx)
						c.Equal(c.Canceled(err).Source, bide.ByCancel, what+": Source")
						c.Equal(c.Canceled(err).Reason, reason, what+": Reason")
						return result(err)
					}
					var scope *bide.Scope
					err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
						scope = n.Scope()
						n.Go(child)
						n.Go(child, bide.Name("own scope"))
						call(ctx, n, func() { n.Cancel(reason) })
						return child(ctx)
					})
					c.Equal(err, nil, what+": WithNursery")
					c.True(scope.CancelCalled(), "%s: CancelCalled", what)
					c.Equal(scope.Caught(), result(failure) != nil, what+": Caught")
					c.NoError(bide.Check(ctx))
				})
			}
		}
	}
})

// A cancellation from above passes through once, however many bring it, along with what else went wrong.
var _ = register(81, "one_cancellation", func(c *C) {
	errs := []error{errors.New("first"), errors.New("second")}
	kinds := []struct {
		name string
		f    func(ctx context.Context) error
	}{
		{"plain", blk},
		{"in scopes", func(ctx context.Context) error {
			return bide.Run(ctx, func(s *bide.Scope) error { return bide.FailAfter(s, time.Hour, blk) })
		}},
		{"wrapped", func(ctx context.Context) error { return fmt.Errorf("child: %w", blk(ctx)) }},
		{"in a nursery", func(ctx context.Context) error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				for range 3 {
					n.Go(blk)
				}
				return blk(ctx)
			})
		}},
	}
	ways := map[string]func(outer *bide.Scope) (context.Context, context.CancelFunc){
		"right below": func(outer *bide.Scope) (context.Context, context.CancelFunc) { return outer, func() {} },
		"below a standard context": func(outer *bide.Scope) (context.Context, context.CancelFunc) {
			return context.WithCancel(outer)
		},
	}
	for way, below := range ways {
		for _, kind := range kinds {
			for reals := range len(errs) + 1 {
				c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
					what := fmt.Sprintf("%s, %s, %d failures", way, kind.name, reals)
					outer := bide.Open(ctx)
					parent, cancel := below(outer)
					defer cancel()
					ends := make([]syncs.Event, reals)
					op := c.Start(func() error {
						return bide.WithNursery(parent, func(ctx context.Context, n *bide.Nursery) error {
							for range 5 {
								n.Go(kind.f)
							}
							for i := range reals {
								n.Go(func(ctx context.Context) error {
									return errors.Join(blk(ctx), ends[i].Wait(context.Background()), errs[i])
								})
							}
							return kind.f(ctx)
						})
					})
					op.Parked(what)
					outer.Cancel(failure)
					for i := range ends {
						op.Parked(what + ": cleanup goes on")
						ends[i].Set()
					}
					err := op.Returned(what)
					c.Equal(cancellations(err), 1, what+": cancellations that the nursery passes on")
					c.Equal(error(c.Canceled(err)), outer.Cause(), what+": whose it is")
					var got []error
					for _, e := range members(err) {
						if cancellations(e) == 0 {
							got = append(got, e)
						}
					}
					c.True(slices.Equal(got, errs[:reals]), "%s: failures, in order: %v", what, got)

					outer.Close(&err)
					c.True(outer.Caught(), "%s: the outer scope drops it", what)
					if reals == 0 {
						c.NoError(err)
					} else {
						c.True(slices.Equal(members(err), errs[:reals]), "%s: the outer scope leaves the failures: %v", what, err)
					}
				})
			}
		}
	}

	// The same where nothing above is a scope.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		std, cancel := context.WithCancelCause(context.Background())
		op := c.Start(func() error {
			return bide.WithNursery(std, func(ctx context.Context, n *bide.Nursery) error {
				for range 5 {
					n.Go(blk)
				}
				n.Go(func(ctx context.Context) error { return errors.Join(blk(ctx), errs[0]) })
				return blk(ctx)
			})
		})
		op.Parked("before the cancellation")
		cancel(failure)
		err := op.Returned("after it")
		c.Equal(cancellations(err), 1, "cancellations")
		c.Equal(c.Canceled(err).Source, bide.ByContext, "Source")
		c.Is(err, context.Canceled)
		c.Is(err, failure)
		c.Is(err, errs[0])
		c.Equal(len(members(err)), 2, "members")
	})

	// And where one alone brings several.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx)
		outer.Cancel(failure)
		err := bide.WithNursery(outer, func(ctx context.Context, n *bide.Nursery) error {
			return errors.Join(blk(ctx), blk(ctx))
		})
		c.Equal(cancellations(err), 1, "cancellations of a joined result")
		outer.Close(&err)
		c.NoError(err)
	})
})

// Canceled from above while it waits for its children, the nursery cancels them, and goes on waiting for the slowest.
var _ = register(82, "canceled_while_waiting", func(c *C) {
	for _, expires := range []bool{false, true} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var ended []int
			outer := bide.Open(ctx)
			op := c.Start(func() error {
				return bide.WithNursery(outer, func(_ context.Context, n *bide.Nursery) error {
					for i := range 3 {
						n.Go(func(ctx context.Context) error {
							err := blk(ctx)
							cleanup := bide.Shield(ctx, time.Hour, func(ctx context.Context) error {
								return bide.Sleep(ctx, time.Duration(i)*time.Minute)
							})
							ended = append(ended, i)
							return errors.Join(err, cleanup)
						})
					}
					n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, 1000*time.Hour) })
					return nil
				})
			})
			op.Parked("nobody is canceled")
			c.Equal(len(ended), 0, "children that have ended")
			if expires {
				outer.SetTimeout(0)
			} else {
				outer.Cancel(failure)
			}
			for i := range 2 {
				op.Parked("a child is cleaning up")
				c.Equal(len(ended), i+1, "children that have ended")
				vc.Advance(time.Minute)
			}
			err := op.Returned("the slowest has ended")
			c.Equal(ended, []int{0, 1, 2}, "order")
			c.Equal(cancellations(err), 1, "cancellations")
			c.Equal(error(c.Canceled(err)), outer.Cause(), "whose it is")
			outer.Close(&err)
			c.True(outer.Caught(), "the outer scope drops it")
		})
	}
})
