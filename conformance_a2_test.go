package bide_test

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// A. Cancel points, continued: always or never.

// points are the blocking calls, on objects that make them wait for nobody, and what they have done if they return nil.
var points = []struct {
	name string
	make func() (call func(ctx context.Context) error, done func() bool)
}{
	{"Mutex.Lock", func() (func(context.Context) error, func() bool) {
		m := new(syncs.Mutex)
		return m.Lock, func() bool { return !m.TryLock() }
	}},
	{"FairMutex.Lock", func() (func(context.Context) error, func() bool) {
		m := new(syncs.FairMutex)
		return m.Lock, func() bool { return !m.TryLock() }
	}},
	{"Ticket.Wait", func() (func(context.Context) error, func() bool) {
		m := new(syncs.FairMutex)
		return m.LockAsync().Wait, func() bool { return !m.TryLock() }
	}},
	{"RWMutex.Lock", func() (func(context.Context) error, func() bool) {
		m := new(syncs.RWMutex)
		return m.Lock, func() bool { return !m.TryRLock() }
	}},
	{"RWMutex.RLock", func() (func(context.Context) error, func() bool) {
		m := new(syncs.RWMutex)
		return m.RLock, func() bool { return !m.TryLock() }
	}},
	{"KeyedMutex.Lock", func() (func(context.Context) error, func() bool) {
		m := new(syncs.KeyedMutex[int])
		return func(ctx context.Context) error { return m.Lock(ctx, 1) }, func() bool { return m.Len() == 1 }
	}},
	{"Guard.With", func() (func(context.Context) error, func() bool) {
		g, done := syncs.NewGuard(1), false
		return func(ctx context.Context) error {
			return g.With(ctx, func(*int) error { done = true; return nil })
		}, func() bool { return done }
	}},
	{"Semaphore.Acquire", func() (func(context.Context) error, func() bool) {
		s := syncs.NewSemaphore(3)
		return func(ctx context.Context) error { return s.Acquire(ctx, 3) }, func() bool { return s.Stats().Held == 3 }
	}},
	{"Queue.Put", func() (func(context.Context) error, func() bool) {
		q := syncs.NewQueue[int](1)
		return func(ctx context.Context) error { return q.Put(ctx, 1) }, func() bool { return q.Len() == 1 }
	}},
	{"Queue.Get", func() (func(context.Context) error, func() bool) {
		q := syncs.NewQueue[int](1)
		q.TryPut(1)
		return func(ctx context.Context) error { _, err := q.Get(ctx); return err }, func() bool { return q.Len() == 0 }
	}},
	{"Pool.Get", func() (func(context.Context) error, func() bool) {
		p := &syncs.Pool[int]{New: func(context.Context) (int, error) { return 1, nil }}
		v, _ := p.Get(context.Background())
		p.Put(v)
		return func(ctx context.Context) error { _, err := p.Get(ctx); return err }, func() bool { return p.Stats().Lent == 1 }
	}},
	{"Event.Wait", func() (func(context.Context) error, func() bool) {
		e := new(syncs.Event)
		e.Set()
		return e.Wait, nil
	}},
	{"Future.Wait", func() (func(context.Context) error, func() bool) {
		f, got := new(syncs.Future[int]), 0
		f.Set(7)
		return func(ctx context.Context) (err error) { got, err = f.Wait(ctx); return err }, func() bool { return got == 7 }
	}},
	{"WaitAny", func() (func(context.Context) error, func() bool) {
		e, got := new(syncs.Event), -1
		e.Set()
		return func(ctx context.Context) (err error) {
			got, err = syncs.WaitAny(ctx, new(syncs.Event), e)
			return err
		}, func() bool { return got == 1 }
	}},
	{"Sleep(0)", func() (func(context.Context) error, func() bool) {
		return func(ctx context.Context) error { return bide.Sleep(ctx, 0) }, nil
	}},
	{"Sleep(-1)", func() (func(context.Context) error, func() bool) {
		return func(ctx context.Context) error { return bide.Sleep(ctx, -1) }, nil
	}},
	{"Check", func() (func(context.Context) error, func() bool) { return bide.Check, nil }},
	{"Blocking", func() (func(context.Context) error, func() bool) {
		got := 0
		return func(ctx context.Context) (err error) {
			got, err = bide.Blocking(ctx, func(context.Context) (int, error) { return 7, nil })
			return err
		}, func() bool { return got == 7 }
	}},
}

// A call that need not wait is one cancel point all the same; what cannot be canceled is none, ever.
var _ = register(7, "uncontended_calls_are_cancel_points", func(c *C) {
	around := map[string]func(ctx context.Context, f func(ctx context.Context) error) error{
		"the scope": func(ctx context.Context, f func(ctx context.Context) error) error { return f(ctx) },
		"a scope within": func(ctx context.Context, f func(ctx context.Context) error) error {
			return bide.FailAfter(ctx, time.Hour, f)
		},
		"a shield": func(ctx context.Context, f func(ctx context.Context) error) error {
			return bide.Shield(ctx, time.Hour, f)
		},
	}
	for _, p := range points {
		for name, in := range around {
			call, done := p.make()
			n, err := bidetest.CancelPoints(context.Background(), func(ctx context.Context) error { return in(ctx, call) })
			c.NoError(err)
			c.Equal(n, 1, p.name+" in "+name+": cancel points")
			c.True(done == nil || done(), "%s: done", p.name)
		}
		// Canceled there, it does nothing: it is a point whatever it would have found.
		call, done := p.make()
		var got error
		n, _ := bidetest.CancelPoints(context.Background(), func(ctx context.Context) error {
			bide.From(ctx).Cancel(failure)
			got = call(ctx)
			return got
		})
		c.Is(got, failure)
		c.True(n >= 1, "%s, canceled: %d cancel points", p.name, n)
		c.True(done == nil || !done(), "%s, canceled: done nothing", p.name)
	}

	var m syncs.Mutex
	var fair syncs.FairMutex
	var rw syncs.RWMutex
	var e syncs.Event
	var f syncs.Future[int]
	s := syncs.NewSemaphore(1)
	q := syncs.NewQueue[int](1)
	n, err := bidetest.CancelPoints(context.Background(), func(ctx context.Context) error {
		return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			m.TryLock()
			m.Unlock()
			fair.LockAsync().Cancel()
			rw.TryRLock()
			rw.RUnlock()
			rw.Locker().Lock()
			rw.Unlock()
			e.Set()
			e.Reset()
			f.Set(1)
			f.Poll()
			s.TryAcquire(1)
			s.Release(1)
			s.SetSize(2)
			q.TryPut(1)
			q.TryGet()
			q.Close()
			n.Go(func(context.Context) error { return nil })
			n.TryGo(func(context.Context) error { return nil }, bide.Timeout(time.Hour))
			in := bide.From(ctx)
			in.SetTimeout(time.Hour)
			in.AfterFunc(func() {})()
			in.Link(context.Background())()
			in.Progress()
			_, _, _ = in.Done(), in.Remaining(), in.Name()
			in.Cancel(nil)
			return nil
		})
	})
	c.NoError(err)
	c.Equal(n, 0, "cancel points of what cannot be canceled")

	// One that waits is at least one, and where it ends is another.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		for _, b := range blocks {
			counted := c.Start(func() error {
				n, err := bidetest.CancelPoints(ctx, func(ctx context.Context) error {
					return bide.FailAfter(ctx, time.Second, b.wait)
				})
				c.True(n >= 1, "%s: %d cancel points", b.name, n)
				return err
			})
			counted.Parked(b.name)
			vc.Advance(time.Second)
			c.TimeoutError(counted.Returned(b.name))
		}
	})
})
