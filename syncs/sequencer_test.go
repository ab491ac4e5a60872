package syncs_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

func TestSequencerValues(t *testing.T) {
	bg := context.Background()
	var s syncs.Sequencer
	if s.Get() != 0 {
		t.Errorf("when new: %d", s.Get())
	}
	for range 2 { // what is reached stays so
		if err := s.Wait(bg, 0); err != nil {
			t.Errorf("0: %v", err)
		}
	}
	s.Increment()
	s.Increment()
	for n := range uint64(3) {
		if err := s.Wait(bg, n); err != nil {
			t.Errorf("%d of %d: %v", n, s.Get(), err)
		}
	}
	for _, c := range []struct {
		n, want uint64
		moved   bool
	}{{0, 2, false}, {1, 2, false}, {2, 2, false}, {3, 3, true}, {3, 3, false}, {1000, 1000, true}} {
		if got := s.Advance(c.n); got != c.moved || s.Get() != c.want {
			t.Errorf("Advance to %d: %v, %d", c.n, got, s.Get())
		}
	}
	s.Reset(5)
	if s.Get() != 5 {
		t.Errorf("Reset: %d", s.Get())
	}
	if !s.Advance(6) || s.Wait(bg, 6) != nil {
		t.Error("after Reset")
	}
}

// waitAt starts n goroutines that wait for number at, and returns when they are parked; see waitFor.
func waitAt(s *syncs.Sequencer, ctx context.Context, n int, at uint64) (count func() int) {
	return waitFor(n, func() error { return s.Wait(ctx, at) })
}

// Each number wakes those who wait for it, however it is reached, and nobody else.
func TestBubbleSequencerWakesSingly(t *testing.T) {
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var s syncs.Sequencer
		counts := make([]func() int, 12)
		at := []uint64{7, 3, 11, 1, 9, 5, 2, 10, 4, 8, 6, 12} // in no order
		for i, n := range at {
			counts[i] = waitAt(&s, bg, 2, n)
		}
		check := func() {
			t.Helper()
			for i, n := range at {
				want := 0
				if n <= s.Get() {
					want = 2
				}
				if got := counts[i](); got != want {
					t.Fatalf("at %d: %d of those who wait for %d were woken, want %d", s.Get(), got, n, want)
				}
			}
		}
		check()
		for range 4 {
			s.Increment()
			check()
		}
		s.Advance(5)
		check()
		s.Advance(5)
		check()
		s.Advance(10) // over many
		check()
		s.Advance(100)
		check()
		if s.Queued() {
			t.Error("somebody is left")
		}
	})
}

func TestBubbleSequencerManyAtOne(t *testing.T) {
	for _, n := range []int{1, 4, 33, 1000} {
		synctest.Test(t, func(t *testing.T) {
			var s syncs.Sequencer
			count := waitAt(&s, context.Background(), n, 3)
			s.Increment()
			s.Increment()
			if got := count(); got != 0 {
				t.Errorf("%d woken before it was reached", got)
			}
			s.Increment()
			if got := count(); got != n || s.Queued() {
				t.Errorf("%d of %d woken", got, n)
			}
		})
	}
}

// In the order of the numbers, then of arrival: with one processor they run in the order in which they are woken.
func TestBubbleSequencerOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s syncs.Sequencer
		var mu sync.Mutex
		var order []int
		for i, n := range []uint64{3, 1, 2, 3, 2, 1} {
			var e syncs.Event
			go func() {
				e.Set()
				if s.Wait(context.Background(), n) == nil {
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
				}
			}()
			_ = e.Wait(context.Background())
			synctest.Wait()
		}
		for range 3 {
			s.Increment()
			synctest.Wait()
		}
		mu.Lock()
		defer mu.Unlock()
		want := [][]int{{1, 5}, {2, 4}, {0, 3}} // those of one number may overtake each other once they are awake
		for k, pair := range want {
			a, b := order[2*k], order[2*k+1]
			if min(a, b) != pair[0] || max(a, b) != pair[1] {
				t.Errorf("the order is %v", order)
			}
		}
	})
}

// Cancel of one that is queued, alone at its number and not; and after it is reached.
func TestBubbleSequencerCancel(t *testing.T) {
	bg := context.Background()
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s syncs.Sequencer
				ctx, cancel := c.make(t)
				var errs [2]error
				waitFor(1, func() error { errs[0] = s.Wait(ctx, 4); return nil })
				waitFor(1, func() error { errs[1] = s.Wait(ctx, 5); return nil })
				reached := waitAt(&s, ctx, 1, 1)
				staying := waitAt(&s, bg, 1, 5)
				s.Increment()
				cancel() // the one at 1 has been woken, and has not run
				synctest.Wait()
				if got := reached(); got != 1 {
					t.Error("who was woken and then canceled has thrown it away")
				}
				for _, err := range errs {
					if !c.want(err) {
						t.Errorf("error %v", err)
					}
				}
				if s.Lowest() != 5 || staying() != 0 {
					t.Errorf("somebody is queued at %d", s.Lowest())
				}
				s.Advance(5)
				if got := staying(); got != 1 || s.Queued() {
					t.Error("who stayed was not woken")
				}
			})
		})
	}
}

// Reached: 0. Not reached: ErrClosed, now and later. The counter works on.
func TestBubbleSequencerClose(t *testing.T) {
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var s syncs.Sequencer
		var errs [40]error
		for i := range errs {
			waitFor(1, func() error { errs[i] = s.Wait(bg, 2+uint64(i%3)); return nil })
		}
		reached := waitAt(&s, bg, 1, 1)
		s.Increment()
		for range 2 { // it is idempotent
			s.Close()
			synctest.Wait()
			for _, err := range errs {
				if err != syncs.ErrClosed {
					t.Fatalf("not reached: %v", err)
				}
			}
		}
		if reached() != 1 || s.Queued() {
			t.Error("reached, and closed")
		}
		for n, want := range []error{nil, nil, syncs.ErrClosed, syncs.ErrClosed} {
			if err := s.Wait(bg, uint64(n)); err != want {
				t.Errorf("later, %d: %v", n, err)
			}
			i, err := syncs.WaitAny(bg, new(syncs.Event), s.At(uint64(n)))
			if err != want || err == nil && i != 1 || err != nil && i != -1 {
				t.Errorf("WaitAny, later, %d: %d, %v", n, i, err)
			}
			if err := syncs.WaitAll(bg, s.At(uint64(n))); err != want {
				t.Errorf("WaitAll, later, %d: %v", n, err)
			}
		}
		s.Increment()
		if !s.Advance(9) || s.Advance(9) || s.Get() != 9 || s.Wait(bg, 9) != nil {
			t.Errorf("the counter: %d", s.Get())
		}
		ctx, cancel := context.WithCancel(bg)
		cancel()
		if err := s.Wait(ctx, 10); err != context.Canceled {
			t.Errorf("canceled, and closed: %v", err)
		}
	})
}

// Closed while others wait for it and for something else.
func TestBubbleSequencerCloseOfOneAmongOthers(t *testing.T) {
	bg := context.Background()
	for name, end := range map[string]func(s *syncs.Sequencer){
		"Close": (*syncs.Sequencer).Close, "CancelWaiters": (*syncs.Sequencer).CancelWaiters,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s syncs.Sequencer
				var e syncs.Event
				var any, all error
				waitFor(1, func() error {
					i, err := syncs.WaitAny(bg, &e, s.At(2), s.At(3))
					if i != -1 {
						t.Errorf("index %d", i)
					}
					any = err
					return nil
				})
				waitFor(1, func() error { all = syncs.WaitAll(bg, s.At(3), &e, s.At(2)); return nil })
				end(&s)
				synctest.Wait()
				if any != syncs.ErrClosed || all != syncs.ErrClosed || e.Queued() || s.Queued() {
					t.Errorf("WaitAny %v, WaitAll %v", any, all)
				}
			})
		})
	}
}

// Everybody who waits for what is not reached goes; later waits wait; the count goes on.
func TestBubbleSequencerCancelWaiters(t *testing.T) {
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var s syncs.Sequencer
		s.CancelWaiters() // nobody
		var errs [100]error
		for i := range errs {
			waitFor(1, func() error { errs[i] = s.Wait(bg, 1+uint64(i%40)); return nil })
		}
		s.CancelWaiters()
		if s.Queued() {
			t.Error("somebody is queued when CancelWaiters has returned")
		}
		synctest.Wait()
		for _, err := range errs {
			if !errors.Is(err, syncs.ErrClosed) {
				t.Fatalf("error %v", err)
			}
		}
		later := waitAt(&s, bg, 3, 2)
		s.Increment()
		if later() != 0 {
			t.Error("a later wait did not wait")
		}
		s.Increment()
		if later() != 3 {
			t.Error("a later wait was not woken")
		}
	})
}

// Under a burst of waits it returns, and has ended all that had begun before it.
func TestSequencerCancelWaitersUnderBurst(t *testing.T) {
	bg := context.Background()
	const workers = 6
	var s syncs.Sequencer
	var over atomic.Bool
	var begun, ended [workers]atomic.Int64
	var group sync.WaitGroup
	for g := range workers {
		group.Go(func() {
			for !over.Load() {
				begun[g].Add(1)
				if err := s.Wait(bg, 1+uint64(g)); err != syncs.ErrClosed {
					t.Error(err)
				}
				ended[g].Add(1)
			}
		})
	}
	for range some(500) {
		for !s.Queued() {
			yield()
		}
		s.CancelWaiters()
	}
	over.Store(true)
	s.Close() // those who have looked at over before
	group.Wait()
	for g := range workers {
		if begun[g].Load() != ended[g].Load() {
			t.Errorf("%d waits have begun, %d ended", begun[g].Load(), ended[g].Load())
		}
	}
	if s.Queued() {
		t.Error("somebody is left")
	}
}

// A flag to give up, outside of the sequencer. A CancelWaiters meets only who waits already; who has looked at the flag
// and does not wait yet would miss it. With an Event for the flag nobody does.
func TestSequencerGiveUp(t *testing.T) {
	for range some(2000) {
		var s syncs.Sequencer
		var giveUp syncs.Event
		gone := make(chan int, 4)
		for range 4 {
			go func() {
				i, err := syncs.WaitAny(context.Background(), &giveUp, s.At(1))
				if err != nil {
					i = -2
				}
				gone <- i
			}()
		}
		giveUp.Set()
		s.CancelWaiters()
		for range 4 {
			if i := <-gone; i != 0 && i != -2 {
				t.Fatalf("index %d", i)
			}
		}
	}
}

func TestBubbleSequencerReset(t *testing.T) {
	const want = "bide/syncs: Reset of a Sequencer that somebody waits for"
	synctest.Test(t, func(t *testing.T) {
		var s syncs.Sequencer
		s.Advance(10)
		scope := open(t, context.Background())
		count := waitAt(&s, scope, 1, 11)
		if got := panics(func() { s.Reset(0) }); got != want || s.Get() != 10 {
			t.Errorf("panic %q, count %d", got, s.Get())
		}
		scope.Cancel(nil)
		synctest.Wait()
		s.Reset(3) // below
		if s.Get() != 3 || count() != 0 {
			t.Errorf("count %d", s.Get())
		}
		count = waitAt(&s, context.Background(), 1, 5)
		s.Advance(4)
		if count() != 0 {
			t.Error("woken before its number, which was reached before the Reset")
		}
		s.Increment()
		if count() != 1 {
			t.Error("not woken")
		}
		s.Reset(1000) // above
		if s.Get() != 1000 {
			t.Errorf("count %d", s.Get())
		}
	})
}

// Eight times a hundred increments, everybody waits for every number.
func TestSequencerEightByHundred(t *testing.T) {
	var s syncs.Sequencer
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				s.Increment()
				yield()
			}
		})
		group.Go(func() {
			for n := range uint64(801) {
				if err := s.Wait(context.Background(), n); err != nil || s.Get() < n {
					t.Errorf("%d at %d: %v", n, s.Get(), err)
				}
			}
		})
	}
	group.Wait()
	if s.Get() != 800 || s.Queued() {
		t.Errorf("count %d, queued %v", s.Get(), s.Queued())
	}
}

// What is written before the Increment is seen after the Wait. The race detector watches.
func TestSequencerOrders(t *testing.T) {
	for range some(2000) {
		var s syncs.Sequencer
		var v [3]int
		var group sync.WaitGroup
		for i := range v {
			group.Go(func() { // one after the other
				if err := s.Wait(context.Background(), uint64(i)); err != nil {
					t.Error(err)
				}
				for k := range i {
					if v[k] != k+1 {
						t.Errorf("after %d: %v", i, v)
					}
				}
				v[i] = i + 1
				s.Increment()
			})
		}
		group.Wait()
	}
}

// Under a scope, at the instant.
func TestBubbleSequencerBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s syncs.Sequencer
		start := time.Now()
		err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error { return s.Wait(ctx, 1) })
		var timeout *bide.TimeoutError
		if !errors.As(err, &timeout) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
