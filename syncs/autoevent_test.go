package syncs_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/syncs"
)

func TestAutoEventStates(t *testing.T) {
	bg := context.Background()
	var e syncs.AutoEvent
	if e.IsSet() || e.TryWait() {
		t.Error("set when new")
	}
	e.Reset()
	e.Set()
	e.Set() // not counted
	if !e.IsSet() || !e.TryWait() || e.IsSet() || e.TryWait() {
		t.Error("two Sets release not one TryWait")
	}
	e.Set()
	e.Reset()
	if e.IsSet() || e.TryWait() {
		t.Error("set after Reset")
	}
	e.Set()
	if err := e.Wait(bg); err != nil || e.IsSet() {
		t.Errorf("Wait of a set one: %v", err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	e.Set()
	if err := e.Wait(ctx); err != context.Canceled || !e.IsSet() {
		t.Errorf("canceled: %v, set %v", err, e.IsSet())
	}
}

// Each Set releases one, in the order of their arrival.
func TestBubbleAutoEventOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.AutoEvent
		const n = 40
		var mu sync.Mutex
		var order []int
		for i := range n {
			waitFor(1, func() error {
				if err := e.Wait(context.Background()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				return nil
			})
		}
		for i := range n {
			e.Set()
			if e.IsSet() {
				t.Error("set, and handed over")
			}
			synctest.Wait()
			mu.Lock()
			if len(order) != i+1 || order[i] != i {
				t.Fatalf("after %d Sets: %v", i+1, order)
			}
			mu.Unlock()
		}
		e.Set()
		if !e.IsSet() || e.Queued() {
			t.Error("one more stays for who comes")
		}
	})
}

// Sets in one go, before anybody runs: each has its own.
func TestBubbleAutoEventBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.AutoEvent
		count := waitFor(5, func() error { return e.Wait(context.Background()) })
		for range 3 {
			e.Set()
		}
		if got := count(); got != 3 {
			t.Errorf("3 Sets released %d", got)
		}
		for range 3 {
			e.Set()
		}
		if got := count(); got != 5 || !e.IsSet() {
			t.Errorf("6 Sets released %d of 5, set %v", got, e.IsSet())
		}
	})
}

// A Set that meets the canceled goes to the next who waits, or stays; if one of them has not noticed yet it may be taken
// by that one. It is taken once.
func TestBubbleAutoEventCanceled(t *testing.T) {
	for _, c := range contexts {
		for _, others := range []int{0, 1} {
			synctest.Test(t, func(t *testing.T) {
				var e syncs.AutoEvent
				ctx, cancel := c.make(t)
				errs := make(chan error, 3)
				for range 3 {
					waitFor(1, func() error { errs <- e.Wait(ctx); return nil })
				}
				count := waitFor(others, func() error { return e.Wait(context.Background()) })
				cancel()
				e.Set() // before they run
				synctest.Wait()
				taken := count()
				for range 3 {
					if err := <-errs; err == nil {
						taken++
					} else if !c.want(err) {
						t.Errorf("%s: %v", c.name, err)
					}
				}
				if e.TryWait() {
					taken++
					if others > 0 {
						t.Errorf("%s: the Set stays although somebody waits", c.name)
					}
				}
				if taken != 1 {
					t.Errorf("%s: the Set was taken %d times", c.name, taken)
				}
				e.Set()
				if synctest.Wait(); e.Queued() {
					t.Errorf("%s: somebody is left in the queue", c.name)
				}
			})
		}
	}
}

// Set races with the cancellation of who waits: the Set is taken, or it is there.
func TestAutoEventSetOrCancel(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			released := 0
			for i := range some(2000) {
				var e syncs.AutoEvent
				ctx, cancel := c.make(t)
				racers := race(e.Queued, inTurn(i, e.Set, cancel)...)
				err := e.Wait(ctx)
				racers.Wait()
				if err == nil {
					released++
				} else if !c.want(err) {
					t.Fatalf("error %v", err)
				}
				if e.TryWait() != (err != nil) || e.Queued() {
					t.Fatalf("Wait returned %v, and the Set is there as well, or gone", err)
				}
			}
			t.Logf("released %d", released)
		})
	}
}

// What is written before Set is seen after Wait; an AutoEvent is good enough for a lock. The race detector watches.
func TestAutoEventOrders(t *testing.T) {
	var e syncs.AutoEvent
	var group sync.WaitGroup
	var got []int
	rounds := some(2000)
	for g := range 4 {
		group.Go(func() {
			for range rounds {
				if err := e.Wait(context.Background()); err != nil {
					t.Error(err)
				}
				got = append(got, g)
				e.Set()
			}
		})
	}
	e.Set()
	group.Wait()
	if slices.Sort(got); len(got) != 4*rounds || !e.IsSet() {
		t.Errorf("%d turns, want %d", len(got), 4*rounds)
	}
}

// A Set that finds the event set is not lost: who takes the one Set sees what came before either. The race detector
// knows whether that is so; sleeping, it thinks, orders nothing.
func TestBubbleAutoEventSetTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.AutoEvent
		told := [2]bool{}
		for i := range told {
			go func() {
				time.Sleep(time.Duration(i+1) * time.Second)
				told[i] = true
				e.Set()
			}()
		}
		time.Sleep(time.Minute)
		if !e.TryWait() || !told[0] || !told[1] || e.TryWait() {
			t.Errorf("told %v", told)
		}
	})
}
