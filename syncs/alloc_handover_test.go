//go:build !race

package syncs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bide.invalid/bide/syncs"
)

func TestAllocsHandOver(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		q := syncs.NewQueue[[4]int](4)
		noAllocs(t, "Queue, room, "+name, func() {
			_ = q.Put(ctx, [4]int{1, 2, 3, 4})
			if v, err := q.Get(ctx); v[3] != 4 || err != nil {
				t.Error(v, err)
			}
		})
		noAllocs(t, "Queue, Try", func() { q.TryPut([4]int{}); q.TryGet() })

		ask, stop := answer(func() {
			for !q.Queued() {
				yield()
			}
			q.TryPut([4]int{1})
		})
		noAllocs(t, "Queue.Get that waits, "+name, func() {
			ask()
			if v, err := q.Get(ctx); v[0] != 1 || err != nil {
				t.Error(v, err)
			}
		})
		stop()
		for q.TryPut([4]int{2}) {
		}
		ask, stop = answer(func() {
			for !q.Queued() {
				yield()
			}
			q.TryGet()
		})
		noAllocs(t, "Queue.Put that waits, "+name, func() {
			ask()
			if err := q.Put(ctx, [4]int{1}); err != nil {
				t.Error(err)
			}
		})
		stop()

		for pool, p := range map[string]*syncs.Pool[int]{"Pool": {}, "Pool, Idle": {Idle: time.Hour}} {
			p.New = func(context.Context) (int, error) { return 1, nil }
			p.Max = 1
			noAllocs(t, pool+", "+name, func() {
				v, err := p.Get(ctx)
				if err != nil {
					t.Error(err)
				}
				p.Put(v)
			})
			mustBorrow(t, p)
			ask, stop = answer(func() {
				for !p.Queued() {
					yield()
				}
				p.Put(1)
			})
			noAllocs(t, pool+", waiting, "+name, func() {
				ask()
				if _, err := p.Get(ctx); err != nil {
					t.Error(err)
				}
			})
			stop()
			p.Put(1)
			shut(t, p)
		}
	}
}

// A wait that is canceled costs nothing either: what is left behind is nothing.
func TestAllocsCanceledWaits(t *testing.T) {
	q, full := syncs.NewQueue[int](1), syncs.NewQueue[int](1)
	full.TryPut(1)
	p := &syncs.Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Max: 1}
	mustBorrow(t, p)
	var g syncs.Flight[int, int]
	land, landed := make(chan struct{}), make(chan error)
	call := func(context.Context) (int, error) { <-land; return 1, nil }
	go func() { _, err := g.Do(bg, 1, call); landed <- err }()
	for g.Flying() == 0 {
		yield()
	}
	over := errors.New("over")
	ended := &ended{done: make(chan struct{}), err: over}
	close(ended.done)
	noAllocs(t, "canceled waits", func() {
		if _, err := q.Get(ended.again()); err != over {
			t.Error(err)
		}
		if err := full.Put(ended.again(), 2); err != over {
			t.Error(err)
		}
		if _, err := p.Get(ended.again()); err != over {
			t.Error(err)
		}
		if _, err := g.Do(ended.again(), 1, call); err != over {
			t.Error(err)
		}
	})
	close(land)
	if err := <-landed; err != nil || g.Flying() != 0 {
		t.Error(err)
	}
	if s := p.Stats(); q.Queued() || full.Queued() || s.Waiting != 0 || s.Failed < 100 {
		t.Errorf("somebody is left: %+v", s)
	}
	p.Put(1)
	shut(t, p)
}

// ended is a context that says at first that it is live, so that a wait begins, which then ends at once.
type ended struct {
	context.Context
	done  chan struct{}
	err   error
	looks int
}

func (e *ended) again() context.Context { e.Context = bg; e.looks = 0; return e }

func (e *ended) Done() <-chan struct{} { return e.done }

func (e *ended) Err() error {
	if e.looks++; e.looks == 1 {
		return nil
	}
	return e.err
}
