package bide_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// E. Binding, reuse, cross-goroutine.

// blockers are the blocks, and two ways to wait without parking under the scope itself.
var blockers = slices.Concat(blocks, []block{
	{"Done", func(ctx context.Context) error {
		<-ctx.Done()
		return park.Reason(ctx)
	}},
	{"polling", func(ctx context.Context) error {
		for {
			if err := bide.Check(ctx); err != nil {
				return err
			}
			runtime.Gosched()
		}
	}},
})

// A placing is a context to wait under, that ends with s.
type placing struct {
	name string
	wait func(s *bide.Scope, wait func(context.Context) error) error
}

var placings = []placing{
	{"the scope", func(s *bide.Scope, wait func(context.Context) error) error { return wait(s) }},
	{"a value", func(s *bide.Scope, wait func(context.Context) error) error {
		type key struct{}
		return wait(context.WithValue(s, key{}, 1))
	}},
	{"a scope below", func(s *bide.Scope, wait func(context.Context) error) error {
		return bide.FailAfter(s, time.Hour, wait)
	}},
	{"a standard context", func(s *bide.Scope, wait func(context.Context) error) error {
		ctx, cancel := context.WithCancel(s)
		defer cancel()
		return wait(ctx)
	}},
	{"a scope below a standard context", func(s *bide.Scope, wait func(context.Context) error) error {
		ctx, cancel := context.WithCancel(s)
		defer cancel()
		return bide.FailAfter(ctx, time.Hour, wait)
	}},
	{"a nursery", func(s *bide.Scope, wait func(context.Context) error) error {
		return bide.WithNursery(s, func(_ context.Context, n *bide.Nursery) error {
			n.Go(wait)
			return nil
		})
	}},
}

// A state is one that a scope can be in, and how to bring it there.
type state struct {
	name  string
	reach func(s *bide.Scope)
}

// reached are the states of a live scope, and more.
func reached(c *C, more ...state) iter.Seq2[string, func(s *bide.Scope)] {
	return func(yield func(string, func(s *bide.Scope)) bool) {
		for _, st := range slices.Concat([]state{
			{"new", func(*bide.Scope) {}},
			{"looked at once", func(s *bide.Scope) { c.NoError(s.Check()) }},
			{"looked at twice", func(s *bide.Scope) { c.NoError(s.Check()); c.NoError(s.Check()) }},
			{"asked for Done", func(s *bide.Scope) { s.Done() }},
		}, more) {
			if !yield(st.name, st.reach) {
				return
			}
		}
	}
}

// A scope that is canceled as soon as it is open is canceled at its first cancel point, and it is it that absorbs.
var _ = register(64, "cancel_right_after_open", func(c *C) {
	options := map[string][]bide.Option{
		"no option": nil,
		"a bound":   {bide.Timeout(time.Hour), bide.Name("job")},
		"MoveOn":    {bide.Timeout(time.Hour), bide.MoveOn()},
	}
	c.Virtual(func(ctx context.Context, _ *clock.Virtual) {
		std, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, parent := range []context.Context{ctx, context.Background(), std} {
			for name, opts := range options {
				for _, b := range blockers {
					what := name + ", " + b.name
					s := bide.Open(parent, opts...)
					s.Cancel(failure)
					err := b.wait(s)
					got := c.Canceled(err)
					c.Equal(got.Source, bide.ByCancel, what+": source")
					c.Equal(got.Reason, failure, what+": reason")
					c.Is(err, context.Canceled)
					s.Close(&err)
					c.Equal(err, nil, what+": after Close")
					c.True(s.Caught() && s.CancelCalled(), "%s: caught", what)
				}
			}
			c.NoError(bide.Check(parent))
		}

		for _, b := range blockers {
			var in *bide.Scope
			c.NoError(bide.Run(ctx, func(s *bide.Scope) error {
				in = s
				s.Cancel(nil)
				err := b.wait(s)
				c.Canceled(err)
				return err
			}))
			c.True(in.Caught(), "Run, %s: caught", b.name)
			c.NoError(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Cancel(nil)
				err := b.wait(ctx)
				c.Canceled(err)
				return err
			}))
		}
		c.NoError(bide.Check(ctx))
	})
})

// The goroutine that cancels need not be one of the scope's, and what it did before is seen after the wait.
var _ = register(65, "cancel_from_another_goroutine", func(c *C) {
	c.Rounds(30, func(round int, r *rand.Rand) {
		for _, p := range placings {
			for _, b := range blockers {
				reason := fmt.Errorf("round %d", round)
				late := r.IntN(20)
				written := 0 // plain, so that the race detector looks on
				err := bide.Run(context.Background(), func(s *bide.Scope) error {
					go func() {
						for range late {
							runtime.Gosched()
						}
						written = round + 1
						s.Cancel(reason)
					}()
					err := p.wait(s, b.wait)
					c.Equal(written, round+1, p.name+", "+b.name+": written before Cancel")
					got := c.Canceled(err)
					c.Equal(got.Reason, reason, p.name+", "+b.name+": reason")
					c.Equal(error(got), s.Cause(), p.name+", "+b.name+": one cause for all")
					return err
				})
				c.NoError(err)
			}
		}
	})
})

// A scope is closed once; who does it again is told which one it was.
var _ = register(66, "close_twice", func(c *C) {
	for name, reach := range reached(c,
		state{"canceled", func(s *bide.Scope) { s.Cancel(nil) }},
		state{"expired", func(s *bide.Scope) { s.SetTimeout(0) }}) {
		s := bide.Open(context.Background(), bide.Name("upload"))
		reach(s)
		s.Close(nil)
		text := c.Panics(func() { s.Close(nil) }, "bide: ", "closed", "upload")
		c.True(strings.HasPrefix(text, "bide: "), "%s: %q names the package first", name, text)
		err := errors.New("untouched")
		was := err
		c.Panics(func() { s.Close(&err) }, "upload")
		c.Equal(err, was, "the error of the second Close")
		c.Panics(func() { s.Close(nil) }, "upload") // still

		anonymous := bide.Open(context.Background())
		reach(anonymous)
		anonymous.Close(nil)
		c.Panics(func() { anonymous.Close(nil) }, "bide: Close of a closed scope")
	}

	// The scope of a function form is closed by it; a body that does it too is found out.
	c.Panics(func() {
		_ = bide.FailAfter(context.Background(), time.Hour, func(ctx context.Context) error {
			bide.From(ctx).Close(nil)
			return nil
		}, bide.Name("upload"))
	}, "bide: ", "upload")

	c.Rounds(5000, func(round int, r *rand.Rand) {
		parent := bide.Open(context.Background())
		s := bide.Open(parent, bide.Name("upload"), bide.Timeout(time.Hour))
		if r.IntN(2) == 0 {
			s.Done()
		}
		var panics atomic.Int64
		closing := func() {
			defer func() {
				if v := recover(); v != nil {
					panics.Add(1)
					c.True(strings.Contains(fmt.Sprint(v), "upload"), "%v names the scope", v)
				}
			}()
			var err error
			s.Close(&err)
			c.NoError(err)
		}
		race(r, 20, closing, closing)
		c.Equal(panics.Load(), int64(1), "panics of two concurrent Closes")
		parent.Close(nil)
	})

	var kept *bide.Nursery
	c.NoError(bide.WithNursery(context.Background(), func(_ context.Context, n *bide.Nursery) error {
		kept = n
		return nil
	}, bide.Name("workers")))
	ran := false
	c.Panics(func() { kept.Go(func(context.Context) error { ran = true; return nil }) }, "bide: ", "workers")
	c.Panics(func() { kept.Go(func(context.Context) error { ran = true; return nil }, bide.Name("late")) }, "bide: ", "workers")
	c.True(!ran, "what Go refused has not run")
})

// On a scope that has ended a Cancel is noted, and that is all.
var _ = register(67, "cancel_after_exit", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for name, reach := range reached(c) {
			parent := bide.Open(ctx)
			s := bide.Open(parent, bide.Timeout(time.Hour), bide.Name("job"))
			reach(s)
			calls := 0
			s.AfterFunc(func() { calls++ })
			s.Close(nil)
			c.Settle()
			c.Equal(calls, 1, name+": AfterFunc at Close")
			errBefore, cause, text := s.Err(), s.Cause(), s.String()
			c.True(!s.CancelCalled(), "%s: not canceled before", name)

			s.Cancel(errors.New("too late"))
			c.Settle()
			c.True(s.CancelCalled(), "%s: CancelCalled", name)
			c.True(!s.Caught(), "%s: nothing caught", name)
			c.Equal(s.Err(), errBefore, name+": Err")
			c.Equal(s.Cause(), cause, name+": Cause")
			c.Equal(s.String(), text, name+": String")
			c.Equal(calls, 1, name+": AfterFunc calls")

			// nothing leaks out, up or down
			c.NoError(parent.Check())
			c.NoError(bide.Run(parent, func(s *bide.Scope) error { return bide.Sleep(s, 0) }))
			vc.Advance(2 * time.Hour)
			c.NoError(parent.Check())
			parent.Close(nil)
			c.True(!parent.Caught() && !parent.CancelCalled(), "%s: the parent is untouched", name)
		}

		// Canceled before its exit, it keeps that reason.
		first := errors.New("first")
		s := bide.Open(ctx)
		s.Cancel(first)
		s.Close(nil)
		cause := s.Cause()
		s.Cancel(errors.New("second"))
		c.Equal(s.Cause(), cause, "the cause of a scope that was canceled, closed and canceled again")
		c.Equal(c.Canceled(s.Cause()).Reason, first, "its reason")
	})
})

// Who opens, waits, cancels and closes may be four goroutines, as long as something orders them.
var _ = register(69, "closed_by_another_goroutine", func(c *C) {
	c.Rounds(100, func(round int, r *rand.Rand) {
		// One goroutine opens, one waits, one cancels, one closes; channels order them.
		parent := bide.Open(context.Background())
		opened, canceled := make(chan *bide.Scope), make(chan *bide.Scope)
		waited := make(chan error)
		cancels := r.IntN(2) == 0
		go func() {
			s := bide.Open(parent, bide.Timeout(time.Hour), bide.Name("handed over"))
			if r.IntN(2) == 0 {
				s.Done()
			}
			opened <- s
		}()
		s := <-opened
		wait := blockers[r.IntN(len(blockers))].wait
		go func() {
			if cancels {
				waited <- errors.Join(wait(s), failure)
			} else {
				waited <- errors.Join(s.Check(), failure)
			}
		}()
		go func() {
			if cancels {
				s.Cancel(nil)
			}
			canceled <- s
		}()
		result := make(chan error)
		go func() {
			s, err := <-canceled, <-waited
			s.Close(&err)
			result <- err
		}()
		err := <-result
		c.Is(err, failure)
		var left *bide.Canceled
		c.True(!errors.As(err, &left), "no cancellation is left in %v", err)
		c.Equal(s.Caught(), cancels, "caught")
		c.NoError(parent.Check())
		c.Equal(s.Err(), context.Canceled, "Err of the closed scope")
		parent.Close(nil)
	})
})
