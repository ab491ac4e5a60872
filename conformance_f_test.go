package bide_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// F. Reasons.

// sources are all there are.
var sources = []bide.Source{
	bide.ByDeadline, bide.ByIdle, bide.ByCancel, bide.BySibling, bide.ByBody, bide.ByContext, bide.BySignal,
	bide.ByShutdown, bide.ByAbandoned,
}

// Every cancellation says by what, why, in whose name and when.
var _ = register(71, "sources", func(c *C) {
	names := map[string]bide.Source{}
	for _, s := range sources {
		name := s.String()
		other, twice := names[name]
		c.True(!twice, "%q names %d and %d", name, s, other)
		c.True(name != "" && !strings.ContainsAny(name, "0123456789"), "%q is a name", name)
		names[name] = s
	}
	c.Equal(len(names), 9, "sources")

	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		produced := map[bide.Source]bool{}
		check := func(err error, source bide.Source, reason error, scope string, is error) {
			c.Helper()
			got := c.Canceled(err)
			c.Equal(got.Source, source, "Source")
			c.Equal(got.Reason, reason, source.String()+": Reason")
			c.Equal(got.Scope, scope, source.String()+": Scope")
			c.Equal(got.At, at(vc, elapsed(vc)), source.String()+": At")
			c.Is(err, is)
			c.True(strings.Contains(err.Error(), source.String()), "%q names its source", err.Error())
			c.True(strings.Contains(err.Error(), scope), "%q names its scope", err.Error())
			c.True(reason == nil || strings.Contains(err.Error(), reason.Error()), "%q says why", err.Error())
			produced[source] = true
		}
		tick := func() { vc.Advance(time.Second) } // so that no two are canceled at the same time

		tick()
		_, err := run(ctx, func(s *bide.Scope) error {
			op := c.Start(func() error { return blk(s) })
			op.Parked("before the deadline")
			vc.Advance(time.Minute)
			check(op.Wait(), bide.ByDeadline, nil, "bounded", context.DeadlineExceeded)
			return nil
		}, bide.Timeout(time.Minute), bide.Name("bounded"))
		c.NoError(err)

		tick()
		_, err = run(ctx, func(s *bide.Scope) error {
			s.Cancel(failure)
			check(blk(s), bide.ByCancel, failure, "canceled", context.Canceled)
			return nil
		}, bide.Name("canceled"))
		c.NoError(err)

		tick()
		c.Equal(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(context.Context) error { return failure })
			check(blk(ctx), bide.BySibling, failure, "crew", context.Canceled)
			return nil
		}, bide.Name("crew")), failure, "WithNursery with a failed child")

		tick()
		c.Equal(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error {
				check(blk(ctx), bide.ByBody, failure, "led", context.Canceled)
				return nil
			})
			return failure
		}, bide.Name("led")), failure, "WithNursery with a failed body")

		tick()
		std, cancel := context.WithCancelCause(ctx)
		cancel(failure)
		_, err = run(std, func(s *bide.Scope) error {
			check(blk(s), bide.ByContext, failure, "below", context.Canceled)
			return nil
		}, bide.Name("below"))
		c.NoError(err)

		tick()
		outer := bide.Open(ctx, bide.Name("left"))
		inner := bide.Open(outer, bide.Name("forgotten"))
		op := c.Start(func() error { return blk(inner) })
		op.Parked("before the outer scope is closed")
		outer.Close(nil)
		err = op.Wait()
		got := c.Canceled(err)
		c.Equal(got.Source, bide.ByAbandoned, "Source")
		c.Is(err, context.Canceled)
		c.True(strings.Contains(err.Error(), "the end of its scope"), "%q names its source", err.Error())
		produced[got.Source] = true
		inner.Close(nil)

		c.Equal(len(produced), 6, "sources that were produced")
	})

	// Under a context whose own deadline it was, the error says so too.
	c.Bubble(func(ctx context.Context) {
		std, cancel := context.WithTimeoutCause(ctx, time.Second, failure)
		defer cancel()
		_, err := run(std, func(s *bide.Scope) error {
			err := blk(s)
			got := c.Canceled(err)
			c.Equal(got.Source, bide.ByContext, "Source")
			c.Equal(got.Reason, failure, "Reason")
			c.Is(err, context.DeadlineExceeded)
			c.IsNot(err, context.Canceled)
			return nil
		})
		c.NoError(err)
	})
})

// The failed child is the reason of its siblings' cancellations: by field, not by errors.Is, since they are healthy.
var _ = register(72, "sibling_and_body", func(c *C) {
	for _, name := range []string{"", "writer"} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			var opts []bide.Option
			if name != "" {
				opts = append(opts, bide.Name(name))
			}
			var mu sync.Mutex
			var seen []error
			err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				wait := func(ctx context.Context) error {
					err := blk(ctx)
					mu.Lock()
					defer mu.Unlock()
					seen = append(seen, err)
					return err
				}
				n.Go(wait)
				c.Settle()
				n.Go(func(ctx context.Context) error { return bide.Run(ctx, func(s *bide.Scope) error { return wait(s) }) }, bide.Name("other"))
				c.Settle()
				n.Go(func(context.Context) error { return failure }, opts...)
				c.Settle()
				err := bide.Check(ctx)
				seen = append(seen, err)
				return err
			})
			c.Equal(err, failure, "WithNursery")
			c.Equal(len(seen), 3, "who was canceled")
			for _, err := range seen {
				got := c.Canceled(err)
				c.Equal(got.Source, bide.BySibling, "Source")
				c.Is(got.Reason, failure)
				c.IsNot(err, failure)
				c.Is(err, context.Canceled)
				c.True(strings.Contains(got.Reason.Error(), failure.Error()), "%q has the child's error", got.Reason)
				c.True(strings.Contains(got.Reason.Error(), name), "%q names the child", got.Reason)
				c.True(strings.Contains(err.Error(), got.Reason.Error()), "%q tells the reason", err)
			}
		})
	}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error {
				err := blk(ctx)
				got := c.Canceled(err)
				c.Equal(got.Source, bide.ByBody, "Source")
				c.Equal(got.Reason, failure, "Reason")
				c.IsNot(err, failure)
				return err
			})
			return failure
		})
		c.Equal(err, failure, "WithNursery")
	})
	// A reason that was given on purpose is found: nobody's failure is mistaken for another's.
	c.NoError(bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Cancel(io.EOF)
		c.Is(bide.Check(ctx), io.EOF)
		return nil
	}))
})

// What comes from above brings its reason along; who was canceled before keeps its own.
var _ = register(73, "inherited_reason", func(c *C) {
	errAbove, errOwn := errors.New("above"), errors.New("own")
	for name, look := range reached(c) {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			tree := func(opts ...bide.Option) (top, middle, leaf *bide.Scope) {
				top = bide.Open(ctx, bide.Name("top"))
				middle = bide.Open(top, append(opts, bide.Name("middle"))...)
				leaf = bide.Open(middle, bide.Timeout(time.Hour), bide.Name("leaf"))
				look(leaf)
				return top, middle, leaf
			}
			fold := func(scopes ...*bide.Scope) {
				for _, s := range scopes {
					s.Close(nil)
				}
			}

			// From above: one and the same value all the way down, whatever the scopes would have come to later.
			top, middle, leaf := tree(bide.Timeout(time.Minute))
			vc.Advance(time.Second)
			top.Cancel(errAbove)
			canceledAt := elapsed(vc)
			vc.Advance(2 * time.Hour)
			for _, s := range []*bide.Scope{leaf, middle} {
				got := c.Canceled(blk(s))
				c.Equal(error(got), top.Cause(), name+": "+s.Name()+" inherits")
				c.Equal(got.Reason, errAbove, name+": reason")
				c.Equal(got.Scope, "top", name+": scope")
				c.Equal(got.At, at(vc, canceledAt), name+": at")
				c.True(!s.CancelCalled(), "%s: %s was not canceled itself", name, s.Name())
			}
			fold(leaf, middle, top)

			// The other way round: middle's deadline had passed when top was canceled, though nobody had looked.
			top, middle, leaf = tree(bide.Timeout(time.Minute))
			vc.Advance(2 * time.Minute)
			top.Cancel(errAbove)
			c.Equal(c.Canceled(blk(leaf)).Scope, "middle", name+": leaf inherits what came first")
			c.Equal(c.Canceled(blk(middle)).Source, bide.ByDeadline, name+": middle's own expiry came first")
			fold(leaf, middle, top)

			// Own first: kept, and below.
			top, middle, leaf = tree()
			middle.Cancel(errOwn)
			top.Cancel(errAbove)
			c.Equal(c.Canceled(blk(top)).Reason, errAbove, name+": top")
			c.Equal(c.Canceled(blk(middle)).Reason, errOwn, name+": middle keeps its own")
			c.Equal(blk(leaf), middle.Cause(), name+": leaf inherits from the nearest")
			fold(leaf, middle, top)

			// The same with an expiry as the first, and as the one above.
			top, middle, leaf = tree(bide.Timeout(time.Minute))
			vc.Advance(time.Minute)
			c.Equal(c.Canceled(blk(leaf)).Scope, "middle", name+": leaf inherits the expiry")
			top.Cancel(errAbove)
			c.Equal(c.Canceled(blk(middle)).Source, bide.ByDeadline, name+": middle keeps its expiry")
			c.Equal(blk(leaf), middle.Cause(), name+": leaf keeps it too")
			fold(leaf, middle, top)

			top, middle, leaf = tree(bide.Timeout(time.Minute))
			vc.Advance(2 * time.Hour) // both deadlines have passed; middle's did first
			c.Equal(blk(leaf), middle.Cause(), name+": leaf inherits the earlier expiry")
			c.Equal(c.Canceled(blk(leaf)).Scope, "middle", name+": whose it was")
			c.True(!leaf.CancelCalled(), "%s: leaf was canceled from above", name)
			fold(leaf, middle, top)
		})
	}

	// Who is opened below a canceled scope is canceled by that, and not by a bound that has passed as well.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, d := range []time.Duration{0, -time.Minute, -2 * time.Hour} {
			top := bide.Open(ctx, bide.Timeout(time.Minute))
			vc.Advance(time.Hour)
			c.Canceled(blk(top))
			s := bide.Open(top, bide.Timeout(d))
			c.Equal(blk(s), top.Cause(), "what it is canceled by")
			c.True(!s.CancelCalled(), "canceled from above")
			s.Close(nil)
			top.Close(nil)
		}
	})

	// A standard context above does not say when it was canceled: it is taken to have come first.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for levels := range 3 {
			std, cancel := context.WithCancelCause(ctx)
			chain := []*bide.Scope{bide.Open(std, bide.Timeout(time.Minute))}
			for range levels {
				chain = append(chain, bide.Open(chain[len(chain)-1], bide.Timeout(time.Minute)))
			}
			vc.Advance(time.Second)
			cancel(errAbove)
			vc.Advance(time.Hour)
			for _, s := range slices.Backward(chain) {
				got := c.Canceled(blk(s))
				c.Equal(got.Source, bide.ByContext, "Source")
				c.Equal(got.Reason, errAbove, "Reason")
				c.True(!s.CancelCalled(), "%d levels: canceled from above", levels)
				s.Close(nil)
			}
		}
	})

	// Children of a nursery, and standard contexts with scopes below them, hand it on as well.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		s, err := run(ctx, func(s *bide.Scope) error {
			std, cancel := context.WithCancel(s)
			defer cancel()
			var waits []*Op
			for _, parent := range []context.Context{s, std} {
				waits = append(waits, c.Start(func() error {
					return bide.WithNursery(parent, func(ctx context.Context, n *bide.Nursery) error {
						n.Go(blk, bide.Name("child"))
						return nil
					})
				}))
			}
			c.Settle()
			s.Cancel(errAbove)
			for _, op := range waits {
				c.Equal(op.Returned("the nursery"), s.Cause(), "what a nursery passes on")
			}
			return s.Cause()
		})
		c.NoError(err)
		c.standing(s, "s", true, true)
	})
})

// A standard context made of a scope costs no goroutine, is canceled before Cancel returns, and knows the cause.
var _ = register(74, "standard_children", func(c *C) {
	const n = 1000
	type key struct{}
	makers := map[string]func(s context.Context) (context.Context, context.CancelFunc){
		"WithCancel": func(s context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(s) },
		"WithTimeout": func(s context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(s, 1e6*time.Hour)
		},
		"WithCancelCause": func(s context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(s)
			return ctx, func() { cancel(nil) }
		},
		"a grandchild": func(s context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(s)
			ctx, cancel2 := context.WithCancel(context.WithValue(ctx, key{}, 2))
			return ctx, func() { cancel2(); cancel() }
		},
	}
	ends := map[string]struct {
		end  func(s *bide.Scope, vc *clock.Virtual)
		want error
	}{
		"expiry": {func(s *bide.Scope, vc *clock.Virtual) { vc.Advance(time.Minute) }, context.DeadlineExceeded},
		"Cancel": {func(s *bide.Scope, _ *clock.Virtual) { s.Cancel(failure) }, context.Canceled},
	}
	for name, make := range makers {
		for how, end := range ends {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				s := bide.Open(ctx, bide.Timeout(time.Minute), bide.Name("parent"))
				defer s.Close(nil)
				before := goroutinesWith("")
				var kids []context.Context
				for i := range n {
					parent := context.Context(s)
					if i%2 == 1 {
						parent = context.WithValue(s, key{}, i)
					}
					kid, cancel := make(parent)
					defer cancel()
					kids = append(kids, kid)
				}
				c.Settle()
				// Others of the process may end meanwhile, or one be at work: not hundreds.
				more := goroutinesWith("") - before
				c.True(more < n/100, "%s: %d goroutines for %d children", name, more, n)
				for _, kid := range kids {
					c.NoError(kid.Err())
				}

				end.end(s, vc)
				cause := s.Cause()
				c.Canceled(cause)
				for i, kid := range kids {
					what := fmt.Sprintf("%s, %s, child %d", name, how, i)
					c.Equal(kid.Err(), end.want, what+": Err, by ==")
					c.Equal(context.Cause(kid), cause, what+": Cause")
					select {
					case <-kid.Done():
					default:
						c.Errorf("%s: Done is open", what)
					}
				}
				// Made afterwards it is canceled from the start.
				late, cancel := make(s)
				defer cancel()
				c.Equal(late.Err(), end.want, "a late child: Err")
				c.Equal(context.Cause(late), cause, "a late child: Cause")
				c.Equal(context.Cause(s), cause, "the scope: Cause")
				c.Equal(context.Cause(context.WithValue(s, key{}, 0)), cause, "a value: Cause")
			})
		}
	}

	// A scope that nobody has asked for Done, or for anything, answers all the same.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for how, end := range ends {
			s := bide.Open(ctx, bide.Timeout(time.Minute))
			end.end(s, vc)
			got := context.Cause(s)
			c.Canceled(got)
			c.Equal(got, s.Cause(), how+": Cause of an untouched scope")
			s.Close(nil)
		}
	})

	// A child that was canceled by itself keeps its own cause, and the scope is untouched.
	s := bide.Open(context.Background())
	kid, cancel := context.WithCancelCause(s)
	cancel(failure)
	c.Equal(context.Cause(kid), failure, "the cause of a child that was canceled itself")
	c.NoError(s.Err())
	s.Cancel(nil)
	c.Equal(context.Cause(kid), failure, "and after the scope was canceled")
	s.Close(nil)
})

// A verbose reason counts how often its text was asked for.
type verbose struct{ asked *int }

func (v verbose) Error() string { *v.asked++; return strings.Repeat("because ", 1<<13) }

// Reasons are formatted when somebody reads them: canceling and waiting build no string. And a scope can be printed.
var _ = register(75, "lazy_reasons", func(c *C) {
	asked := 0
	var reason error = verbose{&asked}
	long := strings.Repeat("long ", 1<<13) // 40 KiB
	cancelAndWait := func(s *bide.Scope) (err error) {
		var e syncs.Event
		parked := make(chan error)
		go func() { parked <- e.Wait(s) }()
		s.Cancel(reason)
		return <-parked
	}
	// Whoever builds a text of the name or of the reason allocates more than its length, each time.
	const rounds = 100
	before, after := runtime.MemStats{}, runtime.MemStats{}
	name := bide.Name(long)
	runtime.ReadMemStats(&before)
	for range rounds {
		s := bide.Open(context.Background(), name)
		err := cancelAndWait(s)
		c.Canceled(err)
		s.Close(&err)
		c.NoError(err)
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / rounds
	c.True(each < uint64(len(long))/4, "%d bytes for each cancellation, with a name of %d bytes", each, len(long))
	c.Equal(asked, 0, "how often the reason's text was asked for")
	// The exact number: the scope, and its Canceled.
	allocs := testing.AllocsPerRun(100, func() {
		s := bide.Open(context.Background())
		s.Cancel(reason)
		err := bide.Sleep(s, time.Hour)
		s.Close(&err)
	})
	c.True(allocs <= 2, "%v allocations for Open, Cancel, a wait that fails, and Close", allocs)
	c.Equal(asked, 0, "how often the reason's text was asked for")
	s := bide.Open(context.Background())
	s.Cancel(reason)
	c.True(strings.HasSuffix(s.Check().Error(), "because ") && asked == 1, "the text is there for who asks")
	s.Close(nil)

	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		is := func(s *bide.Scope, want string) {
			c.Helper()
			c.Equal(s.String(), want, "String")
			c.Equal(fmt.Sprint(s), want, "printed")
		}
		s := bide.Open(ctx)
		is(s, "bide.Scope (active)")
		s.Close(nil)
		is(s, "bide.Scope (exited)")

		s = bide.Open(ctx, bide.Name("job"), bide.Timeout(10*time.Second))
		is(s, "bide.Scope job (active, deadline 10s from now)")
		vc.Advance(11 * time.Second) // nobody has looked at it yet
		is(s, "bide.Scope job (active, deadline 1s ago)")
		c.Canceled(s.Check())
		is(s, "bide.Scope job (canceled by deadline, deadline 1s ago)")
		s.Close(nil)
		is(s, "bide.Scope job (exited, deadline 1s ago)")

		s = bide.Open(ctx, bide.Name("job"), bide.Timeout(10*time.Second))
		s.Cancel(nil)
		is(s, "bide.Scope job (canceled by cancel, deadline 10s from now)")
		s.Close(nil)
	})
})
