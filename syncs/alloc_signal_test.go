//go:build !race

// See alloc_test.go.

package syncs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

func TestAllocsSignalsUncontended(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		var a syncs.AutoEvent
		noAllocs(t, "AutoEvent, "+name, func() { a.Set(); _ = a.Wait(ctx); a.Set(); a.Reset(); a.TryWait() })
		var g syncs.WaitGroup
		noAllocs(t, "WaitGroup, "+name, func() { g.Add(2); g.Done(); g.Done(); _ = g.Wait(ctx) })
		var b syncs.Barrier
		noAllocs(t, "Barrier, "+name, func() { _, _ = b.Wait(ctx) })
		var s syncs.Sequencer
		noAllocs(t, "Sequencer, "+name, func() { s.Increment(); _ = s.Wait(ctx, s.Get()); s.Advance(s.Get() + 1); s.Reset(s.Get() - 1) })
		var f syncs.Futex
		noAllocs(t, "Futex, "+name, func() { f.Post(); _ = f.Wait(ctx, f.Get()) })
		var u syncs.Future[[4]int]
		noAllocs(t, "Future, "+name, func() { u.Set([4]int{}); _, _ = u.Wait(ctx); _, _, _ = u.Poll(); u.Reset() })
		past, c, v := syncs.At(clock.Now()), make(chan int, 1), 0
		recv, at := syncs.Recv(c, &v, nil), s.At(0)
		noAllocs(t, "WaitAny and WaitAll, ready, "+name, func() {
			_, _ = syncs.WaitAny(ctx, past, recv)
			_, _ = syncs.WaitAny(ctx, at)
			c <- 1
			_, _ = syncs.WaitAny(ctx, recv, past)
			c <- 1
			_ = syncs.WaitAll(ctx, past, at, recv, &g)
		})
	}
}

// One waits, another ends the wait, again and again.
func TestAllocsSignalsContended(t *testing.T) {
	for name, ctx := range allocContexts(t) {
		var a syncs.AutoEvent
		var g syncs.WaitGroup
		var s, z syncs.Sequencer
		var f syncs.Futex
		var u syncs.Future[[4]int]
		var e syncs.Event
		c, v := make(chan int), 0
		recv, far := syncs.Recv(c, &v, nil), syncs.At(clock.After(time.Hour))
		u.Set([4]int{})
		first := z.At(1)
		for _, x := range []struct {
			what   string
			queued func() bool
			end    func()
			wait   func() error
		}{
			{"AutoEvent", a.Queued, a.Set, func() error { return a.Wait(ctx) }},
			{"WaitGroup", g.Queued, g.Done, func() error { return g.Wait(ctx) }},
			{"Sequencer", s.Queued, s.Increment, func() error { return s.Wait(ctx, s.Get()+1) }},
			{"Futex", f.Queued, f.Post, func() error { return f.Wait(ctx, f.Get()+1) }},
			{"Future", u.Queued, func() { u.Set([4]int{}) }, func() error { _, err := u.Wait(ctx); return err }},
			{"WaitAny with an instant and a channel", e.Queued, func() { c <- 1 }, func() error {
				_, err := syncs.WaitAny(ctx, &e, far, recv)
				return err
			}},
			{"WaitAll with a channel", e.Queued, func() { e.Set(); c <- 1 }, func() error {
				return syncs.WaitAll(ctx, recv, &e)
			}},
			{"WaitAll with a Sequencer", e.Queued, func() { e.Set(); z.Increment() }, func() error {
				z.Reset(0)
				return syncs.WaitAll(ctx, &e, first)
			}},
		} {
			ask, stop := answer(func() {
				for !x.queued() {
					yield()
				}
				x.end()
			})
			noAllocs(t, x.what+", "+name, func() {
				g.Add(1)
				if x.what == "Future" {
					u.Reset()
				}
				ask()
				if err := x.wait(); err != nil {
					t.Error(x.what, err)
				}
				if g.Counter() > 0 {
					g.Add(-1)
				}
				e.Reset()
			})
			stop()
		}

		b := syncs.NewBarrier(2)
		ask, stop := answer(func() { _, _ = b.Wait(ctx) })
		noAllocs(t, "Barrier, "+name, func() {
			ask()
			if _, err := b.Wait(ctx); err != nil {
				t.Error(err)
			}
		})
		stop()
	}
}

// Many sources, and a bound that passes.
func TestAllocsWaitAll(t *testing.T) {
	bg := context.Background()
	for _, n := range []int{2, 8, 40, 200} {
		events := make([]syncs.Event, n)
		all := make([]syncs.Waitable, n)
		for i := range all {
			all[i] = &events[i]
		}
		ask, stop := answer(func() {
			for !events[n-1].Queued() {
				yield()
			}
			for i := range events {
				events[i].Set()
			}
		})
		noAllocs(t, fmt.Sprintf("WaitAll of %d", n), func() {
			ask()
			if err := syncs.WaitAll(bg, all...); err != nil {
				t.Error(err)
			}
			for i := range events {
				events[i].Reset()
			}
		})
		stop()
	}
	var e syncs.Event
	past := clock.After(-time.Hour)
	for range 100 {
		if i, err := syncs.WaitAny(bg, &e, syncs.At(past)); i != 1 || err != nil {
			t.Fatal(i, err)
		}
	}
}

// However many are released at once.
func TestAllocsRelease(t *testing.T) {
	bg := context.Background()
	const n = 100
	var s syncs.Sequencer
	var arrived syncs.WaitGroup
	over := make(chan struct{})
	for range n {
		go func() {
			for at := uint64(1); s.Wait(bg, at) == nil; at++ {
				arrived.Done()
			}
			over <- struct{}{}
		}()
	}
	noAllocs(t, "a hundred released", func() {
		arrived.Add(n)
		s.Increment()
		if err := arrived.Wait(bg); err != nil {
			t.Error(err)
		}
	})
	s.Close()
	for range n {
		<-over
	}
}
