package syncs_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

func TestWaitAllReady(t *testing.T) {
	bg := context.Background()
	if err := syncs.WaitAll(bg); err != nil {
		t.Errorf("of none: %v", err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if err := syncs.WaitAll(ctx); err != context.Canceled {
		t.Errorf("of none, canceled: %v", err)
	}
	for _, n := range []int{1, 2, 9, 300} { // no limit
		s := newSources(n)
		for _, set := range s.set {
			set()
		}
		if err := syncs.WaitAll(bg, s.all...); err != nil {
			t.Errorf("of %d: %v", n, err)
		}
		if err := syncs.WaitAll(ctx, s.all...); err != context.Canceled {
			t.Errorf("of %d, canceled: %v", n, err)
		}
		s.gone(t)
	}
}

// In whatever order they become ready, it returns with the last.
func TestBubbleWaitAllOrders(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 40} {
		for range 24 {
			synctest.Test(t, func(t *testing.T) {
				s := newSources(n)
				count := waitFor(1, func() error { return syncs.WaitAll(context.Background(), s.all...) })
				order := rand.Perm(n)
				for _, i := range order {
					if count() != 0 {
						t.Fatalf("returned before %d of %v", i, order)
					}
					s.set[i]()
				}
				if count() != 1 {
					t.Fatalf("did not return: %v", order)
				}
				s.gone(t)
			})
		}
	}
}

// An Event that is set and reset at once counts, whichever it is: waiting for all is waiting for each.
func TestBubbleWaitAllPulses(t *testing.T) {
	const n = 5
	for first := range n {
		synctest.Test(t, func(t *testing.T) {
			var events [n]syncs.Event
			all := make([]syncs.Waitable, n)
			for i := range events {
				all[i] = &events[i]
			}
			count := waitFor(1, func() error { return syncs.WaitAll(context.Background(), all...) })
			for i := range n {
				if count() != 0 {
					t.Error("returned before all were set")
				}
				e := &events[(first+i)%n]
				e.Set()
				e.Reset()
			}
			if count() != 1 {
				t.Error("did not return")
			}
		})
	}
}

func TestBubbleWaitAllSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.Event
		count := waitFor(1, func() error { return syncs.WaitAll(context.Background(), &e, &e, &e) })
		if e.Set(); count() != 1 || e.Queued() {
			t.Error("did not return")
		}
	})
}

// Canceled when some are ready: nothing is left in any source, and nothing was received.
func TestBubbleWaitAllCanceled(t *testing.T) {
	for _, n := range []int{1, 2, 9, 40} {
		for _, c := range contexts {
			synctest.Test(t, func(t *testing.T) {
				s := newSources(n)
				values := make(chan int, 1)
				values <- 7
				v := 0
				ctx, cancel := c.make(t)
				got := make(chan error, 1)
				go func() {
					got <- syncs.WaitAll(ctx, append(s.all, syncs.Recv(values, &v, nil), syncs.At(clock.After(time.Hour)))...)
				}()
				synctest.Wait()
				s.set[n/2]()
				synctest.Wait()
				cancel()
				if err := <-got; !c.want(err) {
					t.Errorf("%s, of %d: %v", c.name, n, err)
				}
				s.gone(t)
				if len(values) != 1 || v != 0 {
					t.Errorf("%s: received %d", c.name, v)
				}
			})
		}
	}
}

// A source that is closed ends it at once, whichever it is and whatever the goroutine waits for, and leaves nothing behind.
// One that was ready before it was closed does not.
func TestBubbleWaitAllClosed(t *testing.T) {
	const n = 4 // two of them can be closed
	for last := range n {
		for shut := range n {
			for name, end := range map[string]func(*syncs.Sequencer){
				"Close": (*syncs.Sequencer).Close, "CancelWaiters": (*syncs.Sequencer).CancelWaiters,
			} {
				synctest.Test(t, func(t *testing.T) {
					var e syncs.Event
					var g syncs.WaitGroup
					var shuts, stays, ready syncs.Sequencer
					g.Add(1)
					all := []syncs.Waitable{&e, &g, stays.At(1), stays.At(2)}
					all[shut] = shuts.At(3)
					all[last], all[n-1] = all[n-1], all[last]
					all = append(all, ready.At(1), syncs.At(clock.After(time.Hour)))
					start, got := time.Now(), make(chan error, 1)
					go func() { got <- syncs.WaitAll(context.Background(), all...) }()
					synctest.Wait()
					ready.Increment()
					end(&ready)
					synctest.Wait()
					if len(got) != 0 {
						t.Errorf("%d, %d: %s of one that was ready: %v", last, shut, name, <-got)
					}
					end(&shuts)
					if err := <-got; err != syncs.ErrClosed || time.Since(start) != 0 {
						t.Errorf("%d, %d: %s: %v after %v", last, shut, name, err, time.Since(start))
					}
					if e.Queued() || g.Queued() {
						t.Errorf("%d, %d: %s: a waiter is left", last, shut, name)
					}
					shuts.Reset(0) // panics if somebody waits
					stays.Reset(0)
				})
			}
		}
	}
}

// All kinds at once.
func TestBubbleWaitAllKinds(t *testing.T) {
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var e syncs.Event
		var f syncs.Future[int]
		var g syncs.WaitGroup
		var s syncs.Sequencer
		g.Add(1)
		values := make(chan int)
		v, ok := 0, false
		start := time.Now()
		at, later := syncs.At(clock.After(time.Minute)), syncs.At(clock.After(time.Hour))
		count := waitFor(1, func() error {
			return syncs.WaitAll(bg, syncs.Recv(values, &v, &ok), later, &e, s.At(3), at, &f, &g)
		})
		for _, op := range []func(){g.Done, func() { s.Advance(7) }, e.Set, func() { f.Set(1) }} {
			op()
			if count() != 0 {
				t.Fatal("returned before all were ready")
			}
		}
		select {
		case values <- 7:
			t.Error("received before all others were ready")
		case <-time.After(59 * time.Minute):
		}
		values <- 7
		if count() != 1 || time.Since(start) != time.Hour || v != 7 || !ok {
			t.Errorf("returned %d after %v with %d, %v", count(), time.Since(start), v, ok)
		}
	})
}

// A bound of its own does not hide that the scope's has come in the same instant.
func TestBubbleInstantAndScope(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context) error{
		"WaitAny": func(ctx context.Context) error {
			i, err := syncs.WaitAny(ctx, new(syncs.Event), syncs.At(clock.After(time.Second)))
			if (i == -1) != (err != nil) {
				t.Errorf("%d, %v", i, err)
			}
			return err
		},
		"WaitAll": func(ctx context.Context) error { return syncs.WaitAll(ctx, syncs.At(clock.After(time.Second))) },
	} {
		for range 20 {
			synctest.Test(t, func(t *testing.T) {
				err := bide.FailAfter(context.Background(), time.Second, call)
				if _, timeout := err.(*bide.TimeoutError); !timeout {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
}

// Several instants: the earliest for one, the last for all.
func TestBubbleInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bg, start := context.Background(), time.Now()
		in := func(d time.Duration) syncs.Waitable { return syncs.At(clock.After(d)) }
		if i, err := syncs.WaitAny(bg, in(3*time.Second), in(time.Second), in(2*time.Second)); i != 1 || err != nil {
			t.Errorf("WaitAny = %d, %v", i, err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("WaitAny took %v", d)
		}
		if err := syncs.WaitAll(bg, in(time.Second), in(3*time.Second), in(2*time.Second)); err != nil {
			t.Errorf("WaitAll = %v", err)
		}
		if d := time.Since(start); d != 4*time.Second {
			t.Errorf("WaitAll took %v", d-time.Second)
		}
		never := syncs.At(clock.Forever)
		if i, err := syncs.WaitAny(bg, never, in(time.Second), never); i != 1 || err != nil {
			t.Errorf("with Forever: WaitAny = %d, %v", i, err)
		}
		if i, err := syncs.WaitAny(bg, never, in(0), in(-time.Second)); i != 1 || err != nil || time.Since(start) != 5*time.Second {
			t.Errorf("now: WaitAny = %d, %v", i, err)
		}
	})
}

// Outside of a bubble: never early, on the real clock.
func TestInstantRealTime(t *testing.T) {
	var e syncs.Event
	for range 10 {
		at := clock.After(2 * time.Millisecond)
		i, err := syncs.WaitAny(context.Background(), &e, syncs.At(at))
		if now := clock.Now(); i != 1 || err != nil || now < at {
			t.Errorf("WaitAny = %d, %v, %v early", i, err, at.Sub(now))
		}
		at = clock.After(time.Millisecond)
		err = syncs.WaitAll(context.Background(), syncs.At(at))
		if now := clock.Now(); err != nil || now < at {
			t.Errorf("WaitAll = %v, %v early", err, at.Sub(now))
		}
	}
}

// Events that pulse, futures, counters: a nil says that each was ready since the call began, an error leaves nothing.
func TestStressWaitAll(t *testing.T) {
	const workers, n = 4, 5
	source, more := stress.Source(t), stress.Lasting(t, 2)
	end := open(t, context.Background())
	var events [n]syncs.Event
	var sets [n]atomic.Int64 // counted before each Set
	var s syncs.Sequencer
	var passed, failed atomic.Int64
	var group, setting sync.WaitGroup
	for g := range 2 {
		setting.Go(func() {
			r := source(workers + g)
			for more() {
				i := r.IntN(n)
				sets[i].Add(1)
				events[i].Set()
				events[i].Reset()
				s.Increment()
				for range r.IntN(4) {
					yield()
				}
			}
		})
	}
	for g := range workers {
		group.Go(func() {
			r := source(g)
			for more() {
				var before [n]int64
				all := make([]syncs.Waitable, n, n+1)
				for i := range n {
					before[i] = sets[i].Load()
					all[i] = &events[i]
				}
				at := s.Get() + uint64(r.IntN(20))
				all = append(all, s.At(at))
				r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
				ok := false
				err := underAlways(r, end, func(ctx context.Context) error {
					err := syncs.WaitAll(ctx, all...)
					ok = err == nil
					return err
				})
				if !ok {
					if failed.Add(1); err == nil {
						t.Error("failed, but not with an error")
					}
					continue
				}
				passed.Add(1)
				if s.Get() < at {
					t.Errorf("passed at %d, waited for %d", s.Get(), at)
				}
				for i := range n {
					// One that was being set when the call began may have been counted before.
					if sets[i].Load() < before[i] || sets[i].Load() == 0 {
						t.Error("passed although one was never set")
					}
				}
			}
		})
	}
	setting.Wait()
	end.Cancel(nil)
	group.Wait()
	for i := range events {
		if events[i].Queued() {
			t.Errorf("somebody is left with event %d", i)
		}
	}
	if s.Queued() {
		t.Error("somebody is left with the sequencer")
	}
	t.Logf("passed %d, failed %d", passed.Load(), failed.Load())
}
