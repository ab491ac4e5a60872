package syncs_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

func TestEventStates(t *testing.T) {
	var e syncs.Event
	set, reset := e.Set, e.Reset
	for i, c := range []struct {
		op   func()
		want bool
	}{
		{func() {}, false}, {reset, false}, {reset, false},
		{set, true}, {set, true}, {reset, false}, {set, true}, {reset, false}, {reset, false},
	} {
		c.op()
		if e.IsSet() != c.want {
			t.Fatalf("after step %d IsSet is %v", i, e.IsSet())
		}
	}
	e.Set()
	for range 3 { // waiting takes nothing
		if err := e.Wait(context.Background()); err != nil || !e.IsSet() {
			t.Errorf("Wait of a set event: %v", err)
		}
	}
}

// waitFor starts n goroutines that wait, and returns when they are parked; count says how many have ended. In a bubble.
func waitFor(n int, wait func() error) (count func() int) {
	var mu sync.Mutex
	ended := 0
	for range n {
		go func() {
			if wait() == nil {
				mu.Lock()
				ended++
				mu.Unlock()
			}
		}()
	}
	synctest.Wait()
	return func() int {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return ended
	}
}

func TestBubbleEventReleases(t *testing.T) {
	for _, n := range []int{1, 2, 4, 31, 32, 33, 100} { // 32 fit on Set's stack
		synctest.Test(t, func(t *testing.T) {
			var e syncs.Event
			for range 3 {
				count := waitFor(n, func() error { return e.Wait(context.Background()) })
				if got := count(); got != 0 {
					t.Fatalf("%d of %d were released before it was set", got, n)
				}
				e.Set()
				if got := count(); got != n || e.Queued() {
					t.Fatalf("%d of %d were released", got, n)
				}
				e.Reset()
			}
		})
	}
}

// A Set that is followed by a Reset at once releases who waited, and nobody who comes later.
func TestBubbleEventSetReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.Event
		before := waitFor(40, func() error { return e.Wait(context.Background()) })
		e.Set()
		e.Reset()
		if got := before(); got != 40 {
			t.Errorf("%d of 40 were released", got)
		}
		s := bide.Open(context.Background())
		after := waitFor(3, func() error { return e.Wait(s) })
		if got := after(); got != 0 {
			t.Errorf("%d were released that came after", got)
		}
		s.Close(nil)
	})
}

func TestBubbleEventWaitersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.Event
		s := open(t, context.Background())
		leaving := waitFor(40, func() error { return e.Wait(s) })
		staying := waitFor(40, func() error { return e.Wait(context.Background()) })
		s.Cancel(nil)
		if leaving() != 0 || staying() != 0 || !e.Queued() {
			t.Errorf("%d and %d were released by a cancellation, queued %v", leaving(), staying(), e.Queued())
		}
		if e.IsSet() {
			t.Error("set by a cancellation")
		}
		e.Set()
		if got := staying(); got != 40 || e.Queued() {
			t.Errorf("%d of 40 were released", got)
		}
		e.Reset()

		// The only one leaves.
		s = open(t, context.Background())
		waitFor(1, func() error { return e.Wait(s) })
		s.Cancel(nil)
		if synctest.Wait(); e.Queued() {
			t.Error("the canceled waiter is left in the queue")
		}
	})
}

// What is written before Set is seen after Wait and after IsSet. The race detector watches.
func TestEventOrders(t *testing.T) {
	for range some(2000) {
		var e syncs.Event
		v := 0
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				if err := e.Wait(context.Background()); err != nil || v != 1 {
					t.Errorf("Wait: %d, %v", v, err)
				}
			})
		}
		group.Go(func() {
			for !e.IsSet() {
				yield()
			}
			if v != 1 {
				t.Errorf("IsSet: %d", v)
			}
		})
		v = 1
		e.Set()
		group.Wait()
	}
}

// Set races with the cancellation of who waits: each Wait says the truth, and nobody is left.
func TestEventSetOrCancel(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			released := 0
			for i := range some(2000) {
				var e syncs.Event
				ctx, cancel := c.make(t)
				racers := race(e.Queued, inTurn(i, e.Set, cancel)...)
				switch err := e.Wait(ctx); {
				case err == nil && !e.IsSet():
					t.Fatal("nil, and not set")
				case err == nil:
					released++
				case !c.want(err):
					t.Fatalf("error %v", err)
				}
				if racers.Wait(); e.Queued() {
					t.Fatal("somebody is left in the queue")
				}
			}
			t.Logf("released %d", released)
		})
	}
}

// A Set of an event that is set orders what came before it, too. See TestBubbleAutoEventSetTwice.
func TestBubbleEventSetTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.Event
		told := [2]bool{}
		for i := range told {
			go func() {
				time.Sleep(time.Duration(i+1) * time.Second)
				told[i] = true
				e.Set()
			}()
		}
		time.Sleep(time.Minute)
		if err := e.Wait(context.Background()); err != nil || !told[0] || !told[1] {
			t.Errorf("told %v, %v", told, err)
		}
	})
}
