package bide_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// G. Nurseries: panics, services, limits, many children.

// TestChildPanics is the process that item 88 looks at.
func TestChildPanics(t *testing.T) {
	if os.Getenv("BIDE_TEST_PANIC") == "" {
		return
	}
	bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(panickingChild)
		return blk(ctx)
	})
}

func panickingChild(context.Context) error { panic("the child's value") }

// A child's panic ends the process with the child's own stack; with Repanic it comes out of WithNursery.
var _ = register(88, "child_panics", func(c *C) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestChildPanics$")
	cmd.Env = append(os.Environ(), "BIDE_TEST_PANIC=1")
	out, err := cmd.CombinedOutput()
	c.True(err != nil, "the process has failed")
	c.True(strings.Contains(string(out), "panic: the child's value"), "the value is shown: %.500s", out)
	c.True(strings.Contains(string(out), "bide_test.panickingChild("), "the child's stack is shown: %.2000s", out)

	starts := map[string]func(n *bide.Nursery, f func(context.Context) error){
		"Go":         func(n *bide.Nursery, f func(context.Context) error) { n.Go(f) },
		"Go, scoped": func(n *bide.Nursery, f func(context.Context) error) { n.Go(f, bide.Name("child")) },
		"TryGo":      func(n *bide.Nursery, f func(context.Context) error) { n.TryGo(f) },
		"Service":    func(n *bide.Nursery, f func(context.Context) error) { n.Service(f) },
		"Start": func(n *bide.Nursery, f func(context.Context) error) {
			bide.Start(context.Background(), n, func(ctx context.Context, ready func(int) bool) error {
				ready(1)
				return f(ctx)
			})
		},
	}
	for how, start := range starts {
		for _, opts := range [][]bide.Option{{bide.Repanic()}, {bide.Repanic(), bide.Supervise()}, {bide.Repanic(), bide.Limit(3)}} {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				var sibling error
				unwound := false
				var v any
				func() {
					defer func() { v = recover() }()
					bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
						n.Go(func(ctx context.Context) error {
							sibling = blk(ctx)
							bide.Shield(ctx, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, 0) })
							unwound = true
							return errors.New("lost behind the panic")
						})
						c.Settle()
						start(n, panickingChild)
						return blk(ctx)
					}, opts...)
				}()
				e, ok := v.(*bide.PanicError)
				if c.True(ok, "%s: panic with a *PanicError: %v", how, v) {
					c.Equal(e.Value, "the child's value", how+": value")
					c.True(strings.Contains(string(e.Stack), "panickingChild"), "%s: the child's stack: %s", how, e.Stack)
					c.True(strings.HasPrefix(e.Error(), "bide: child panicked: the child's value\n"), "%s: text %q", how, e.Error())
				}
				c.Equal(c.Canceled(sibling).Source, bide.BySibling, how+": the sibling was canceled by")
				c.True(unwound, "%s: the sibling was waited for", how)
			})
		}
	}
	wrapped := &bide.PanicError{Value: failure}
	c.Is(wrapped, failure)
})

// A service is canceled when the body and the ordinary children have ended, whatever else was canceled before.
var _ = register(90, "service", func(c *C) {
	ends := map[string]func(outer *bide.Scope, n *bide.Nursery, vc *clock.Virtual){
		"by itself":      func(*bide.Scope, *bide.Nursery, *clock.Virtual) {},
		"nursery":        func(_ *bide.Scope, n *bide.Nursery, _ *clock.Virtual) { n.Cancel(nil) },
		"outer":          func(outer *bide.Scope, _ *bide.Nursery, _ *clock.Virtual) { outer.Cancel(nil) },
		"outer deadline": func(outer *bide.Scope, _ *bide.Nursery, _ *clock.Virtual) { outer.SetTimeout(0) },
	}
	for how, end := range ends {
		for _, opts := range [][]bide.Option{nil, {bide.Name("service")}} {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				outer := bide.Open(ctx, bide.MoveOn())
				var order []string
				var service error
				var nursery *bide.Nursery
				op := c.Start(func() error {
					return bide.WithNursery(outer, func(ctx context.Context, n *bide.Nursery) error {
						n.Service(func(ctx context.Context) error {
							service = blk(ctx)
							order = append(order, "service")
							return service
						}, opts...)
						n.Go(func(ctx context.Context) error {
							defer func() { order = append(order, "child") }()
							bide.Sleep(ctx, time.Second)
							// Its cleanup still needs the service.
							return bide.Shield(ctx, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, time.Second) })
						})
						nursery = n
						return nil
					})
				})
				op.Parked(how + ": the child sleeps")
				end(outer, nursery, vc)
				for !op.Ended() {
					c.Equal(len(order), 0, how+": nobody has ended")
					if !c.True(vc.Jump(), "%s: something is scheduled", how) {
						return
					}
				}
				c.NoError(op.Wait())
				c.Equal(order, []string{"child", "service"}, how+": order")
				e := c.Canceled(service)
				c.Equal(e.Source, bide.ByCancel, how+": the service was canceled by")
				c.True(e.Reason != nil, "%s: with a reason", how)
				outer.Close(nil)
			})
		}
	}
	// One that begins after the nursery's end, and without any time, ends for want of that.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var cause error
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Cancel(failure)
			n.Service(func(ctx context.Context) error { cause = bide.Check(ctx); return cause }, bide.Timeout(0), bide.Name("late"))
			c.Settle()
			return nil
		})
		c.Equal(c.TimeoutError(err).Scope, "late", "the bound")
		c.Equal(c.Canceled(cause).Source, bide.ByDeadline, "the service was canceled by")
	})
	// Its real error counts, and cancels the others; ending early is nothing.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Service(func(context.Context) error { return nil })
			c.Settle()
			n.Service(func(context.Context) error { return failure })
			return blk(ctx)
		})
		c.Equal(err, failure, "a service's error")
	})
	// A service may start a child while it is told to end: it is waited for.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		ran := false
		c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Service(func(ctx context.Context) error {
				blk(ctx)
				n.Go(func(context.Context) error { ran = true; return nil })
				return nil
			})
			return nil
		}))
		c.True(ran, "the child of a service that ends")
	})
})

// With a limit Go waits for a slot, in order; what waits is not lost when the nursery is canceled.
var _ = register(91, "limit", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var running, most, ran atomic.Int64
		took, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				for i := range 10 {
					n.Go(func(ctx context.Context) error {
						c.True(elapsed(vc) == time.Duration(i/3)*time.Second, "child %d began at %v", i, elapsed(vc))
						most.Store(max(most.Load(), running.Add(1)))
						defer func() { running.Add(-1); ran.Add(1) }()
						return bide.Sleep(ctx, time.Second)
					})
				}
				return nil
			}, bide.Limit(3))
		})
		c.NoError(err)
		c.Equal(ran.Load(), int64(10), "children")
		c.Equal(most.Load(), int64(3), "at a time")
		c.Equal(took, 4*time.Second, "took")
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var late error
		op := c.Start(func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(blk)
				c.True(!n.TryGo(blk), "TryGo of a full nursery")
				n.Service(blk) // takes no slot
				n.Go(func(ctx context.Context) error { late = blk(ctx); return late })
				return blk(ctx)
			}, bide.Limit(1))
		})
		op.Parked("full")
		c.Equal(late, nil, "what waits for a slot has not run")
		bide.From(ctx).Cancel(failure)
		c.Canceled(op.Returned("canceled"))
		c.Equal(c.Canceled(late).Source, bide.ByCancel, "what waited for a slot ran to its first cancel point")
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		c.Equal(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			c.True(n.TryGo(func(context.Context) error { return nil }), "TryGo with a slot")
			c.Settle()
			c.True(n.TryGo(func(context.Context) error { runtime.Goexit(); return nil }), "its slot is free again")
			c.Settle()
			c.True(n.TryGo(func(context.Context) error { return nil }), "also after Goexit")
			return nil
		}, bide.Limit(1), bide.Supervise()), bide.ErrGoexit, "result")
	})
	c.Panics(func() { bide.Limit(0) }, "bide: Limit: must be positive, not 0")
	// From everywhere: never more than the limit, nobody lost.
	c.Rounds(50, func(round int, r *rand.Rand) {
		limit := 1 + r.IntN(4)
		var running, most, ran, refused atomic.Int64
		child := func(context.Context) error {
			most.Store(max(most.Load(), running.Add(1)))
			runtime.Gosched()
			running.Add(-1)
			ran.Add(1)
			return nil
		}
		c.NoError(bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
			return bide.WithNursery(ctx, func(_ context.Context, inner *bide.Nursery) error {
				for range 8 {
					inner.Go(func(context.Context) error {
						for i := range 20 {
							if i%3 == 0 {
								if !n.TryGo(child) {
									refused.Add(1)
								}
							} else {
								n.Go(child)
							}
						}
						return nil
					})
				}
				return nil
			})
		}, bide.Limit(limit)))
		c.True(most.Load() <= int64(limit), "%d at a time, limit %d", most.Load(), limit)
		c.Equal(ran.Load()+refused.Load(), int64(160), "children")
	})
})

// A nursery through which many children pass keeps nothing of them.
var _ = register(92, "many_children", func(c *C) {
	n := 1_000_000
	if testing.Short() || raceEnabled {
		n = 50_000
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var ran atomic.Int64
	c.NoError(bide.WithNursery(context.Background(), func(ctx context.Context, nursery *bide.Nursery) error {
		child := func(context.Context) error { ran.Add(1); return nil }
		for range 1000 {
			nursery.Go(child)
		}
		before := heap()
		for range n {
			nursery.Go(child)
		}
		grown := heap() - before
		c.True(grown < 8<<20, "%d bytes more after %d children", grown, n)
		return nil
	}, bide.Limit(100)))
	c.Equal(ran.Load(), int64(n+1000), "children")
})

// A body that panics cancels its children, which are waited for, and its value goes on. Goexit in a child is an error.
var _ = register(89, "body_panics", func(c *C) {
	type value struct{ int }
	for _, opts := range [][]bide.Option{nil, {bide.Repanic()}, {bide.Limit(2)}} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var child, service error
			var v any
			func() {
				defer func() { v = recover() }()
				bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
					n.Go(func(ctx context.Context) error { child = blk(ctx); return failure })
					n.Service(func(ctx context.Context) error { service = blk(ctx); return service })
					c.Settle()
					panic(value{7})
				}, opts...)
			}()
			c.Equal(v, value{7}, "the value")
			c.Equal(c.Canceled(child).Source, bide.ByBody, "the child was canceled by")
			c.Equal(c.Canceled(service).Source, bide.ByCancel, "and then the service by")
		})
	}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var sibling error
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { sibling = blk(ctx); return sibling })
			n.Go(func(context.Context) error { runtime.Goexit(); return nil })
			return nil
		})
		c.Equal(err, bide.ErrGoexit, "Goexit in a child")
		c.Equal(c.Canceled(sibling).Reason, bide.ErrGoexit, "the sibling's reason")
	})
})
