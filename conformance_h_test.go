package bide_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// H. Start: a child on its way from the one who starts it to the nursery.

// ready hands over; before that the child's end is the starter's, and the nursery is not concerned.
var _ = register(93, "start", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		took, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				v, err := bide.Start(ctx, n, func(ctx context.Context, ready func(string) bool) error {
					bide.Sleep(ctx, time.Second)
					c.True(ready("listening"), "handed over")
					return bide.Sleep(ctx, 2*time.Second)
				})
				c.Equal(v, "listening", "value")
				c.Equal(elapsed(vc), time.Second, "Start returned at")
				return err
			})
		})
		c.NoError(err)
		c.Equal(took, 3*time.Second, "the nursery waited for the child")
	})
	for _, ret := range []error{failure, nil} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				v, err := bide.Start(ctx, n, func(context.Context, func(int) bool) error { return ret })
				want := ret
				if ret == nil {
					want = bide.ErrNotStarted
				}
				c.Equal(err, want, "error before ready")
				c.Equal(v, 0, "value")
				return bide.Check(ctx)
			}))
		})
	}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // after ready it is a child like any other
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			_, err := bide.Start(ctx, n, func(_ context.Context, ready func(int) bool) error {
				ready(1)
				return failure
			})
			c.NoError(err)
			return blk(ctx)
		})
		c.Equal(err, failure, "a child's error after ready")
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			_, err := bide.Start(ctx, n, func(_ context.Context, ready func(int) bool) error {
				ready(1)
				c.Panics(func() { ready(2) }, "bide: Start: ready was called twice")
				return nil
			})
			_, goexit := bide.Start(ctx, n, func(context.Context, func(int) bool) error { runtime.Goexit(); return nil })
			c.Equal(goexit, bide.ErrGoexit, "Goexit before ready")
			return err
		}))
	})
	c.Panics(func() { bide.Start[int](context.Background(), nil, nil) }, "bide: Start: nil nursery or function")
})

// The starter is canceled before ready: the child is, too, and is waited for; the nursery is not concerned.
var _ = register(94, "starter_canceled", func(c *C) {
	for name, end := range map[string]struct {
		child func(ctx context.Context, ready func(int) bool) error
		v     int
		check func(err error)
	}{
		"with the cancellation": {func(ctx context.Context, _ func(int) bool) error {
			err := blk(ctx)
			bide.Shield(ctx, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, time.Second) })
			return err
		}, 0, func(err error) { c.Equal(c.Canceled(err).Reason, failure, "reason") }},
		"with an error": {func(ctx context.Context, _ func(int) bool) error {
			blk(ctx)
			return errOther
		}, 0, func(err error) { c.Equal(err, errOther, "error") }},
		"without a cancel point": {func(ctx context.Context, ready func(int) bool) error {
			blk(ctx)
			c.True(!ready(7), "too late to be handed over")
			return nil
		}, 7, func(err error) { c.NoError(err) }},
		"not started": {func(ctx context.Context, _ func(int) bool) error {
			blk(ctx)
			return nil
		}, 0, func(err error) { c.Equal(err, bide.ErrNotStarted, "error") }},
	} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				starter := bide.Open(ctx)
				var v int
				var got error
				ended := false
				op := c.Start(func() error {
					v, got = bide.Start(starter, n, func(ctx context.Context, ready func(int) bool) error {
						defer func() { ended = true }()
						return end.child(ctx, ready)
					})
					c.True(ended, "%s: Start has waited for the child", name)
					return nil
				})
				op.Parked(name)
				starter.Cancel(failure)
				for !op.Ended() {
					vc.Jump()
				}
				c.Equal(v, end.v, name+": value")
				end.check(got)
				starter.Close(nil)
				c.NoError(bide.Check(ctx)) // the nursery lives
				return nil
			}))
		})
	}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // canceled before: nothing is started
		c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			s := bide.Open(ctx)
			s.Cancel(nil)
			_, err := bide.Start(s, n, func(context.Context, func(int) bool) error { c.Error("started"); return nil })
			c.Canceled(err)
			s.Close(nil)
			return nil
		}))
	})
	// A starter under a standard context.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		c.NoError(bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			std, cancel := context.WithCancelCause(context.Background())
			op := c.Start(func() error {
				_, err := bide.Start(std, n, func(ctx context.Context, _ func(int) bool) error { return blk(ctx) })
				return err
			})
			op.Parked("started")
			cancel(failure)
			e := c.Canceled(op.Returned("canceled"))
			c.Equal(e.Source, bide.ByContext, "source")
			c.Equal(e.Reason, failure, "reason")
			return nil
		}))
	})
})

var errOther = errors.New("another failure")

// After ready the starter's context does not reach the child; the nursery's does, also if it was canceled just before.
var _ = register(95, "after_ready", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			var child error
			starter := bide.Open(ctx)
			_, err := bide.Start(starter, n, func(ctx context.Context, ready func(int) bool) error {
				ready(1)
				child = blk(ctx)
				return child
			})
			c.NoError(err)
			starter.Cancel(failure)
			starter.Close(nil)
			c.Settle()
			c.Equal(child, nil, "the child after the starter's cancel")
			n.Cancel(errOther)
			c.Settle()
			c.Equal(c.Canceled(child).Reason, errOther, "the child after the nursery's")
			return nil
		}))
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		outer := bide.Open(ctx)
		var inChild, value any
		c.NoError(bide.WithNursery(outer, func(_ context.Context, n *bide.Nursery) error {
			v, err := bide.Start(ctx, n, func(ctx context.Context, ready func(int) bool) error {
				n.Cancel(failure)
				c.True(ready(3), "the nursery's cancellation is no matter of the starter")
				inChild = bide.Check(ctx)
				return nil
			})
			value = v
			return err
		}))
		c.Equal(value, 3, "value")
		c.Equal(c.Canceled(inChild.(error)).Reason, failure, "the child")
		outer.Close(nil)
	})
	// ready against the starter's cancel: one of two ends, never a mixture.
	handed, refused := 0, 0
	c.Rounds(300, func(round int, r *rand.Rand) {
		c.NoError(bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
			starter := bide.Open(ctx)
			here, there := meeting(r, 3000)
			go func() { here(); starter.Cancel(failure) }()
			v, err := bide.Start(starter, n, func(ctx context.Context, ready func(int) bool) error {
				there()
				if ready(5) {
					c.NoError(bide.Check(ctx))
					return nil
				}
				return bide.Check(ctx)
			})
			switch {
			case err == nil:
				handed++
				c.Equal(v, 5, "handed over: value")
			default:
				refused++
				c.Equal(c.Canceled(err).Reason, failure, "refused: reason")
			}
			starter.Close(nil)
			return nil
		}))
	})
	c.Logf("handed %d, refused %d", handed, refused)
})

// A Start that is under way keeps the nursery open; canceling the nursery ends it.
var _ = register(96, "start_pending", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		took, err := c.Timed(vc, func() error {
			var n *bide.Nursery
			entered := make(chan struct{})
			starts := c.Start(func() error {
				<-entered
				return bide.WithNursery(ctx, func(ctx context.Context, mine *bide.Nursery) error {
					for i := range 2 {
						mine.Go(func(ctx context.Context) error {
							bide.Sleep(ctx, time.Duration(i)*time.Second)
							_, err := bide.Start(ctx, n, func(ctx context.Context, ready func(int) bool) error {
								bide.Sleep(ctx, 2*time.Second)
								ready(1)
								return bide.Sleep(ctx, 3*time.Second)
							})
							return err
						})
					}
					return nil
				})
			})
			err := bide.WithNursery(ctx, func(ctx context.Context, mine *bide.Nursery) error {
				n = mine
				close(entered)
				return bide.Sleep(ctx, 1500*time.Millisecond) // both are under way then
			})
			c.NoError(starts.Wait())
			return err
		})
		c.NoError(err)
		c.Equal(took, 6*time.Second, "the nursery closed at")
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // one that fails before it is ready
		took, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
				begun := make(chan struct{})
				go func() {
					_, err := bide.Start(ctx, n, func(ctx context.Context, _ func(int) bool) error {
						close(begun)
						bide.Sleep(ctx, 7*time.Second)
						return failure
					})
					c.Equal(err, failure, "Start")
				}()
				<-begun
				return nil
			})
		})
		c.NoError(err)
		c.Equal(took, 7*time.Second, "the nursery closed at")
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // the nursery is canceled before ready
		err := bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			op := c.Start(func() error {
				_, err := bide.Start(ctx, n, func(ctx context.Context, _ func(int) bool) error { return blk(ctx) })
				return err
			})
			op.Parked("starting")
			n.Cancel(failure)
			c.Equal(c.Canceled(op.Returned("the nursery is canceled")).Reason, failure, "reason")
			return nil
		})
		c.NoError(err)
	})
	// Under a limit Start waits for a slot, as long as its context allows.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) })
			starter := bide.Open(ctx)
			op := c.Start(func() error {
				_, err := bide.Start(starter, n, func(context.Context, func(int) bool) error { c.Error("started"); return nil })
				return err
			})
			op.Parked("no slot")
			starter.Cancel(nil)
			c.Canceled(op.Returned("canceled"))
			starter.Close(nil)
			n.Cancel(nil)
			return nil
		}, bide.Limit(1)))
	})
})
