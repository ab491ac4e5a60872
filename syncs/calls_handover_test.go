package syncs_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

// Those of Queue and Pool for the tests that go through all calls. Put and Do are looked at below: what Put was granted
// cannot be given back, and Do has a goroutine of its own.
func init() {
	calls = append(calls, []struct {
		name string
		make func() call
	}{
		{"Queue.Get", func() call {
			q := syncs.NewQueue[string](1)
			wait := func(ctx context.Context) error {
				v, err := q.Get(ctx)
				if (err == nil) != (v == "value") {
					panic(fmt.Sprintf("Get = %q, %v", v, err))
				}
				return err
			}
			put := func() {
				if !q.TryPut("value") {
					panic("TryPut")
				}
			}
			return call{wait, put, put, func() bool { return !q.Queued() }}
		}},
		{"Pool.Get", func() call {
			p := &syncs.Pool[string]{New: func(context.Context) (string, error) { return "item", nil }, Max: 1}
			if _, err := p.Get(bg); err != nil {
				panic(err)
			}
			wait := func(ctx context.Context) error {
				v, err := p.Get(ctx)
				if (err == nil) != (v == "item") {
					panic(fmt.Sprintf("Get = %q, %v", v, err))
				}
				return err
			}
			put := func() { p.Put("item") }
			return call{wait, put, put, func() bool { return !p.Queued() }}
		}},
		{"Pool.Wait", func() call {
			p := new(syncs.Pool[int])
			return call{p.Wait, p.Close, func() {}, func() bool { return !p.Waited() }}
		}},
	}...)
}

// Put before, during and after the cancellation, under every kind of context.
func TestBubbleQueuePutCanceled(t *testing.T) {
	for _, x := range contexts {
		for _, room := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s/room=%d", x.name, room), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					q := syncs.NewQueue[int](room)
					for q.TryPut(0) {
					}
					drain := func(want int) {
						t.Helper()
						n := 0
						for v, ok := q.TryGet(); ok; v, ok = q.TryGet() {
							n += v
						}
						if n != want || q.Queued() {
							t.Errorf("came out: %d, want %d; somebody left: %v", n, want, q.Queued())
						}
					}
					ctx, cancel := x.make(t)
					got := make(chan error, 1)
					put := func() { got <- q.Put(ctx, 1) }
					go put()
					synctest.Wait()
					if len(got) != 0 {
						t.Fatal("does not wait")
					}
					for range room {
						q.TryGet()
					}
					drain(1) // what it has put
					if err := <-got; err != nil {
						t.Error(err)
					}
					for q.TryPut(0) {
					}
					go put()
					synctest.Wait()
					cancel()
					if err := <-got; !x.want(err) {
						t.Errorf("during: %v", err)
					}
					drain(0)
					put() // there is room, or not
					if err := <-got; !x.want(err) {
						t.Errorf("before: %v", err)
					}
					drain(0)
				})
			})
		}
	}
}

// Do in a bubble, and outside before and after: its waits are durable, and share nothing.
func TestBubbleFlightPools(t *testing.T) {
	outside(t)
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			var g syncs.Flight[int, int]
			land := make(chan int)
			got := make(chan int, 3)
			for range 3 {
				go func() {
					v, err := g.Do(bg, 1, func(context.Context) (int, error) { return <-land, nil })
					if err != nil {
						t.Error(err)
					}
					got <- v
				}()
			}
			synctest.Wait() // returns only if the waits are durable
			land <- 7
			for range 3 {
				if v := <-got; v != 7 {
					t.Errorf("got %d", v)
				}
			}
		})
		outside(t)
	}
}

// The same for an item that is being made while others wait for it.
func TestBubblePoolMakingIsDurable(t *testing.T) {
	outside(t)
	synctest.Test(t, func(t *testing.T) {
		made := make(chan int)
		p := &syncs.Pool[int]{New: func(context.Context) (int, error) { return <-made, nil }, Max: 2}
		got := make(chan int, 5)
		for range 5 {
			go func() { v := mustBorrow(t, p); p.Put(v); got <- v }()
		}
		synctest.Wait()
		if s := p.Stats(); s.Making != 2 || s.Waiting != 5 {
			t.Errorf("%+v", s)
		}
		made <- 1
		for range 5 {
			if v := <-got; v != 1 {
				t.Errorf("got %d", v)
			}
		}
		made <- 2
		shut(t, p)
	})
	outside(t)
}
