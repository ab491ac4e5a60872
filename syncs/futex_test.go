package syncs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

func TestFutexValues(t *testing.T) {
	bg := context.Background()
	var f syncs.Futex
	for n := range uint64(4) {
		if f.Get() != n {
			t.Errorf("after %d posts: %d", n, f.Get())
		}
		for k := range n + 1 { // fired already, and 0
			if err := f.Wait(bg, k); err != nil {
				t.Errorf("after %d posts, wait for %d: %v", n, k, err)
			}
		}
		f.Post()
	}
}

// The number is taken before the other side is told that there is somebody who will wait: the post may come at any
// moment from then on.
func TestFutexTokenBeforeSignal(t *testing.T) {
	for range some(5000) {
		var f syncs.Futex
		var told syncs.Event
		go func() {
			_ = told.Wait(context.Background())
			f.Post()
		}()
		next := f.Get() + 1
		told.Set()
		if err := f.Wait(context.Background(), next); err != nil || f.Get() != 1 {
			t.Fatalf("%v, %d posts", err, f.Get())
		}
	}
}

func TestBubbleFutexWakes(t *testing.T) {
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var f syncs.Futex
		four := waitFor(4, func() error { return f.Wait(bg, 1) })
		far := waitFor(1, func() error { return f.Wait(bg, 8) })
		if four() != 0 {
			t.Error("woken before the post")
		}
		f.Post()
		if got := four(); got != 4 || far() != 0 {
			t.Errorf("one post: %d of 4 woken, %d of those who wait for more", got, far())
		}
		for range 7 {
			f.Post()
		}
		if far() != 1 || f.Queued() {
			t.Error("eight posts: not woken")
		}
	})
}

// Eight times two hundred posts: none is lost, and who waits for each sees each.
func TestFutexEightByTwoHundred(t *testing.T) {
	var f syncs.Futex
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				f.Post()
			}
		})
		group.Go(func() {
			for next := uint64(1); next <= 1600; next++ {
				if err := f.Wait(context.Background(), next); err != nil || f.Get() < next {
					t.Errorf("%d: %v", next, err)
				}
			}
		})
	}
	group.Wait()
	if f.Get() != 1600 || f.Queued() {
		t.Errorf("%d posts, queued %v", f.Get(), f.Queued())
	}
}

func TestBubbleFutexClose(t *testing.T) {
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var f syncs.Futex
		f.Post()
		var errs [4]error
		for i := range errs {
			waitFor(1, func() error { errs[i] = f.Wait(bg, 2+uint64(i)); return nil })
		}
		f.Close()
		f.Close()
		synctest.Wait()
		for i, err := range errs {
			if err != syncs.ErrClosed {
				t.Errorf("wait for %d: %v", 2+i, err)
			}
		}
		f.Post() // does nothing
		f.Post()
		if f.Get() != 1 {
			t.Errorf("%d posts", f.Get())
		}
		if err := f.Wait(bg, 1); err != nil {
			t.Errorf("what has come: %v", err)
		}
		if err := f.Wait(bg, 2); err != syncs.ErrClosed {
			t.Errorf("what has not: %v", err)
		}
	})
}

// Posts race with Close: who got nil sees its number, who got ErrClosed never does.
func TestFutexPostOrClose(t *testing.T) {
	granted := 0
	for i := range some(3000) {
		var f syncs.Futex
		racers := race(f.Queued, inTurn(i, f.Post, f.Close)...)
		err := f.Wait(context.Background(), 1)
		racers.Wait()
		switch {
		case err == nil && f.Get() == 1:
			granted++
		case err == syncs.ErrClosed && f.Get() == 0:
		default:
			t.Fatalf("%v, and %d posts", err, f.Get())
		}
	}
	t.Logf("granted %d", granted)
}

// A condition in words of its own: who waits takes the number, looks, and waits; who changes them posts. A wake-up that
// is lost hangs the test.
func TestFutexConditionElsewhere(t *testing.T) {
	var f syncs.Futex
	var items atomic.Int64
	take := func() bool {
		for {
			n := items.Load()
			if n == 0 {
				return false
			}
			if items.CompareAndSwap(n, n-1) {
				return true
			}
		}
	}
	rounds := some(5000)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for range rounds {
				items.Add(1)
				f.Post()
			}
		})
		group.Go(func() {
			for range rounds {
				for {
					next := f.Get() + 1
					if take() {
						break
					}
					if err := f.Wait(context.Background(), next); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	if items.Load() != 0 {
		t.Errorf("%d items left", items.Load())
	}
}
