package bide_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// I. Primitives: whoever resolves the token decides everything.

// surrounding is a struct of somebody's around a scope.
type surrounding struct{ *bide.Scope }

// Once Done is closed it stays closed, and Err says what it said, in every view of a canceled scope, whatever is done
// with that afterwards. (A deadline that came back to life made package context panic: pion/transport#397.)
var _ = register(97, "done_is_done", func(c *C) {
	type value struct{}
	ends := map[string]struct {
		how func(s *bide.Scope, vc *clock.Virtual)
		err error
	}{
		"Cancel":       {func(s *bide.Scope, _ *clock.Virtual) { s.Cancel(failure) }, context.Canceled},
		"its deadline": {func(_ *bide.Scope, vc *clock.Virtual) { vc.Advance(time.Minute) }, context.DeadlineExceeded},
		"a moved one":  {func(s *bide.Scope, _ *clock.Virtual) { s.SetTimeout(-1) }, context.DeadlineExceeded},
		"leaving it":   {func(s *bide.Scope, _ *clock.Virtual) { s.Close(nil) }, context.Canceled},
		"one above":    {func(s *bide.Scope, _ *clock.Virtual) { /* see below */ }, context.Canceled},
		"a linked one": {func(s *bide.Scope, _ *clock.Virtual) {
			linked, stop := context.WithCancel(context.Background())
			stop()
			s.Link(linked)
		}, context.Canceled},
		"no more idles": {func(_ *bide.Scope, vc *clock.Virtual) { vc.Advance(time.Hour) }, context.DeadlineExceeded},
	}
	for name, end := range ends {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			outer := bide.Open(ctx)
			bound := bide.Timeout(time.Minute)
			if name == "no more idles" {
				bound = bide.Idle(time.Hour)
			}
			s := bide.Open(outer, bound)
			std, stop := context.WithCancelCause(context.WithValue(s, value{}, 1))
			timed, stopTimed := context.WithTimeout(s, time.Hour)
			views := map[string]context.Context{
				"the scope": s, "a value": context.WithValue(s, value{}, 1), "a struct": surrounding{s}, "a std child": std,
				"a std child with a timeout": timed, "a scope": c.open(s), "a scope below a std child": c.open(std),
			}
			dones := map[string]<-chan struct{}{}
			for view, ctx := range views {
				dones[view] = ctx.Done()
				c.NoError(ctx.Err())
			}
			after := make(chan struct{})
			context.AfterFunc(s, func() { close(after) })
			if name == "one above" {
				outer.Cancel(failure)
			}
			end.how(s, vc)
			for _, done := range dones {
				<-done
			}
			<-after
			errs := map[string]error{}
			for view, ctx := range views {
				errs[view] = ctx.Err()
				c.Equal(errs[view], end.err, view+": Err after "+name)
			}
			for what, revive := range map[string]func(){
				"a later deadline":  func() { c.True(!s.SetTimeout(time.Hour), "refused") },
				"no deadline":       func() { c.True(!s.SetDeadline(time.Time{}), "refused") },
				"an earlier one":    func() { c.True(!s.SetTimeout(-1), "refused") },
				"Progress":          s.Progress,
				"Cancel":            func() { s.Cancel(errOther) },
				"Cancel above":      func() { outer.Cancel(errOther) },
				"a child's cancel":  func() { stop(errOther); stopTimed() },
				"time":              func() { vc.Advance(2 * time.Hour) },
				"another link":      func() { s.Link(context.Background())() },
				"a child that ends": func() { bide.Open(s, bide.Timeout(time.Second)).Close(nil) },
			} {
				revive()
				for view, ctx := range views {
					select {
					case <-ctx.Done():
					default:
						c.Errorf("%s: Done is open after %s, and after %s", view, name, what)
					}
					c.True(ctx.Done() == dones[view] && ctx.Err() == errs[view], "%s: after %s, and after %s: Err is %v", view, name, what, ctx.Err())
				}
			}
			if name != "leaving it" {
				s.Close(nil)
			}
			c.Equal(s.Err(), end.err, "Err when it is closed")
			outer.Close(nil)
			c.Equal(s.Err(), end.err, "Err when the one above is closed, too")
		})
	}
})

// A handing is a primitive that hands something to one of several who wait for it.
type handing struct {
	name string
	make func() handed
}

// handed is one of it, with nothing to take.
type handed struct {
	take func(ctx context.Context) error
	give func() // to the first who waits, or for whoever comes
	free func() bool
	back func() // what take has taken
}

var handings = []handing{
	{"Mutex", func() handed {
		m := new(syncs.Mutex)
		m.TryLock()
		return handed{m.Lock, m.Unlock, m.TryLock, m.Unlock}
	}},
	{"FairMutex", func() handed {
		m := new(syncs.FairMutex)
		m.TryLock()
		return handed{m.Lock, m.Unlock, m.TryLock, m.Unlock}
	}},
	{"RWMutex", func() handed {
		m := new(syncs.RWMutex)
		m.TryLock()
		return handed{m.Lock, m.Unlock, m.TryLock, m.Unlock}
	}},
	{"RWMutex, readers", func() handed {
		m := new(syncs.RWMutex)
		m.TryRLock()
		return handed{m.Lock, m.RUnlock, m.TryLock, m.Unlock}
	}},
	{"KeyedMutex", func() handed {
		m := new(syncs.KeyedMutex[string])
		m.TryLock("k")
		return handed{func(ctx context.Context) error { return m.Lock(ctx, "k") }, func() { m.Unlock("k") },
			func() bool { return m.TryLock("k") }, func() { m.Unlock("k") }}
	}},
	{"Semaphore", func() handed {
		s := syncs.NewSemaphore(2)
		s.TryAcquire(2)
		return handed{func(ctx context.Context) error { return s.Acquire(ctx, 2) }, func() { s.Release(2) },
			func() bool { return s.TryAcquire(2) }, func() { s.Release(2) }}
	}},
	{"Queue.Get", func() handed {
		q := syncs.NewQueue[int](1)
		return handed{func(ctx context.Context) error { _, err := q.Get(ctx); return err }, func() { q.TryPut(1) },
			func() bool { _, ok := q.TryGet(); return ok }, func() { q.TryPut(1) }}
	}},
	{"Queue.Put", func() handed {
		q := syncs.NewQueue[int](1)
		q.TryPut(0)
		return handed{func(ctx context.Context) error { return q.Put(ctx, 1) }, func() { q.TryGet() },
			func() bool { return q.TryPut(2) }, func() { q.TryGet() }}
	}},
	{"Pool", func() handed {
		p := &syncs.Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Max: 1}
		v, _ := p.Get(context.Background())
		return handed{func(ctx context.Context) error { _, err := p.Get(ctx); return err }, func() { p.Put(v) },
			func() bool { _, ok := p.TryGet(); return ok }, func() { p.Put(v) }}
	}},
}

// A grant that comes first is kept, a cancellation that comes first sends it on to the next. Nobody is told C and holds
// something; nothing is lost.
var _ = register(98, "grant_or_cancellation", func(c *C) {
	for _, h := range handings {
		for _, grantFirst := range []bool{true, false} {
			c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
				p := h.make()
				s := bide.Open(ctx)
				first := c.Start(func() error { return p.take(s) })
				first.Parked(h.name)
				next := c.Start(func() error { return p.take(ctx) })
				next.Parked(h.name + ", the next")
				if grantFirst {
					p.give()
					s.Cancel(failure) // mostly before anybody has run
					c.NoError(first.Returned(h.name + ", granted and canceled"))
					next.Parked(h.name + ", the next, who got nothing")
					p.back()
				} else {
					s.Cancel(failure)
					p.give()
					c.Equal(first.Returned(h.name+", canceled and passed by"), s.Cause(), "error")
				}
				c.Equal(bide.Check(s), s.Cause(), "the next cancel point")
				c.NoError(next.Returned(h.name + ", the next"))
				p.back()
				c.True(p.free(), "%s: in the end it is to be had", h.name)
				s.Close(nil)
			})
		}
	}

	// The same at the same time, many times over: what is given is taken once.
	c.Rounds(150, func(round int, r *rand.Rand) {
		h := handings[round%len(handings)]
		c.Bubble(func(ctx context.Context) {
			p := h.make()
			s := bide.Open(ctx)
			var holds atomic.Int32
			var lost atomic.Int32
			take := func(ctx context.Context) error {
				err := p.take(ctx)
				if err != nil {
					lost.Add(1)
					return err
				}
				if holds.Add(1) != 1 {
					c.Errorf("%s: two have it", h.name)
				}
				yield(r.IntN(3))
				holds.Add(-1)
				p.back()
				return nil
			}
			var group sync.WaitGroup
			const n = 4
			for range n {
				group.Go(func() {
					err := take(s)
					c.True(err == nil || err == s.Cause(), "%s: %v", h.name, err)
				})
			}
			last := c.Start(func() error { return take(ctx) })
			last.Parked("nothing was given yet")
			race(r, 100, p.give, func() { s.Cancel(nil) })
			group.Wait()
			c.NoError(last.Returned(h.name + ": it comes to who was not canceled"))
			c.True(p.free(), "%s: in the end it is to be had", h.name)
			s.Close(nil)
		})
	})
})
