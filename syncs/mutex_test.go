package syncs_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

func TestMutexTryLock(t *testing.T) {
	var m syncs.Mutex
	if !m.TryLock() {
		t.Error("of a free lock: false")
	}
	for range 2 {
		if m.TryLock() {
			t.Error("of a taken lock: true")
		}
	}
	m.Unlock()
	if !m.TryLock() {
		t.Error("after Unlock: false")
	}
	over := make(chan bool)
	go func() { // it need not be the one that took it
		m.Unlock()
		over <- m.TryLock()
	}()
	if !<-over || m.TryLock() {
		t.Error("another goroutine's TryLock")
	}
	m.Unlock()
	if !m.Idle() {
		t.Error("something is left")
	}
}

func TestMutexUnlockPanics(t *testing.T) {
	const want = "bide/syncs: unlock of unlocked Mutex"
	var m syncs.Mutex
	if got := panics(m.Unlock); got != want {
		t.Errorf("when new: panic %q", got)
	}
	m.TryLock()
	m.Unlock()
	if got := panics(m.Unlock); got != want {
		t.Errorf("unlocked twice: panic %q", got)
	}
	if got := panics(m.Locker().Unlock); got != want {
		t.Errorf("through Locker: panic %q", got)
	}
	if err := m.Lock(context.Background()); err != nil || m.TryLock() {
		t.Error("the panics have broken it")
	}
}

func TestMutexLockUntil(t *testing.T) {
	now := clock.Now()
	past := map[string]clock.Instant{"past": now.Add(-time.Hour), "now": now, "zero": 0, "negative": -1, "far negative": -1 << 63}
	for name, at := range past {
		var m syncs.Mutex
		if err := m.LockUntil(at); err != nil {
			t.Errorf("%s, free: %v", name, err)
		}
		if err := m.LockUntil(at); err != os.ErrDeadlineExceeded {
			t.Errorf("%s, taken: %v", name, err)
		}
		m.Unlock()
		if !m.Idle() {
			t.Errorf("%s: something is left", name)
		}
	}
	var m syncs.Mutex
	for range 2 {
		if err := m.LockUntil(clock.Forever); err != nil {
			t.Errorf("forever: %v", err)
		}
		m.Unlock()
		if err := m.LockUntil(clock.After(time.Hour)); err != nil {
			t.Errorf("future: %v", err)
		}
		m.Unlock()
	}
}

// Outside of a bubble: never early, on the real clock.
func TestMutexLockUntilRealTime(t *testing.T) {
	var m syncs.Mutex
	m.TryLock()
	for range 20 {
		at := clock.After(2 * time.Millisecond)
		if err := m.LockUntil(at); err != os.ErrDeadlineExceeded {
			t.Fatal(err)
		}
		if now := clock.Now(); now < at {
			t.Fatalf("%v early", at.Sub(now))
		}
		if m.Queued() {
			t.Fatal("somebody is left in the queue")
		}
	}
	m.Unlock()
	if !m.Idle() {
		t.Error("something is left")
	}
}

func TestBubbleMutexLockUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m syncs.Mutex
		m.TryLock()
		start := time.Now()
		if err := m.LockUntil(clock.After(time.Minute)); err != os.ErrDeadlineExceeded || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := m.LockUntil(clock.Now()); err != os.ErrDeadlineExceeded {
			t.Errorf("now: %v", err)
		}
		time.AfterFunc(time.Minute, m.Unlock)
		if err := m.LockUntil(clock.After(time.Hour)); err != nil {
			t.Error(err)
		}
		time.AfterFunc(1000*time.Hour, m.Unlock)
		if err := m.LockUntil(clock.Forever); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d != 1000*time.Hour+2*time.Minute {
			t.Errorf("took %v", d)
		}
	})
}

// Of five who wait some leave; the others get the lock, one at a time, and nothing is left.
func TestBubbleMutexWaitersLeave(t *testing.T) {
	for _, leave := range [][]int{{}, {0}, {4}, {2}, {0, 1}, {1, 3}, {3, 4}, {0, 2, 4}, {0, 1, 2, 3}, {1, 2, 3, 4}, {4, 3, 2, 1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			const n = 5
			var m syncs.Mutex
			m.TryLock()
			var order []int
			var errs [n]error
			var cancel [n]func()
			for i := range n {
				s := open(t, context.Background())
				cancel[i] = func() { s.Cancel(nil) }
				go func() {
					if errs[i] = m.Lock(s); errs[i] == nil {
						order = append(order, i)
						m.Unlock()
					}
				}()
				synctest.Wait()
			}
			left := map[int]bool{}
			for _, i := range leave {
				cancel[i]()
				left[i] = true
			}
			synctest.Wait()
			if m.Queued() == (len(leave) == n) {
				t.Errorf("leave %v: queued %v", leave, m.Queued())
			}
			m.Unlock()
			synctest.Wait()
			var want []int
			for i := range n {
				if (errs[i] != nil) != left[i] {
					t.Errorf("leave %v: waiter %d: %v", leave, i, errs[i])
				}
				if !left[i] {
					want = append(want, i)
				}
			}
			if len(order) != len(want) {
				t.Errorf("leave %v: %v took the lock", leave, order)
			}
			if !m.Idle() {
				t.Errorf("leave %v: something is left", leave)
			}
		})
	}
}

// A waiter gets the lock against one that takes it again and again without a pause, on any number of processors.
func TestMutexStarvation(t *testing.T) {
	atProcs(t, func(t *testing.T) {
		var m syncs.Mutex
		var over atomic.Bool
		var barged atomic.Int64
		var barger sync.WaitGroup
		for range 2 {
			barger.Go(func() {
				for n := 0; !over.Load(); n++ {
					if m.LockUntil(clock.Forever) == nil {
						barged.Add(1)
						m.Unlock()
					}
					yieldToSteps(n)
				}
			})
		}
		for range 10 {
			for before := barged.Load(); barged.Load() == before; {
				yield()
			}
			if err := m.Lock(context.Background()); err != nil {
				t.Error(err)
			}
			m.Unlock()
		}
		over.Store(true)
		barger.Wait()
		if !m.Idle() {
			t.Error("something is left")
		}
		t.Logf("the others took it %d times meanwhile", barged.Load())
	})
}

// Grant and cancellation in the same instant: nil if and only if the lock is held, and it is never lost.
func TestMutexGrantOrCancel(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			var m syncs.Mutex
			var granted, canceled int
			for i := range some(5000) {
				ctx, cancel := c.make(t)
				m.TryLock()
				racers := race(m.Queued, inTurn(i, m.Unlock, cancel)...)
				err := m.Lock(ctx)
				if err == nil {
					granted++
					if m.TryLock() {
						t.Fatal("nil, and not held")
					}
					m.Unlock()
				} else {
					canceled++
				}
				racers.Wait()
				if !m.Idle() {
					t.Fatalf("error %v, and something is left", err)
				}
			}
			t.Logf("granted %d, canceled %d", granted, canceled)
		})
	}
}

// Two wait, one is canceled in the instant of the Unlock: the other one gets the lock.
func TestMutexPassesTheWakeUpOn(t *testing.T) {
	var m syncs.Mutex
	for range some(5000) {
		s := bide.Open(context.Background())
		m.TryLock()
		var group sync.WaitGroup
		group.Go(func() {
			if m.Lock(s) == nil {
				m.Unlock()
			}
		})
		group.Go(func() {
			if m.Lock(context.Background()) == nil {
				m.Unlock()
			}
		})
		for !m.Queued() {
			yield()
		}
		group.Go(func() { s.Cancel(nil) })
		m.Unlock()
		group.Wait() // the second one would hang
		if !m.Idle() {
			t.Fatal("something is left")
		}
		s.Close(nil)
	}
}

// Locker with a sync.Cond: one producer, and consumers that wait for their turn.
func TestMutexLocker(t *testing.T) {
	const n = 100
	var m syncs.Mutex
	cond := sync.NewCond(m.Locker())
	turn := 0
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			cond.L.Lock()
			defer cond.L.Unlock()
			for turn != i {
				cond.Wait()
			}
			turn++
			cond.Broadcast()
		})
	}
	group.Wait()
	if turn != n {
		t.Errorf("%d turns", turn)
	}
	// It is the same lock, not a copy.
	m.Locker().Lock()
	if m.TryLock() {
		t.Error("TryLock while Locker holds it")
	}
	m.Locker().Unlock()
	if !m.Idle() {
		t.Error("something is left")
	}
}

// Under a scope that is below another's deadline the error names who is responsible.
func TestMutexErrorNamesTheScope(t *testing.T) {
	v := clock.NewVirtual()
	outer := open(t, context.Background(), bide.Name("outer"), bide.Clock(v), bide.Timeout(time.Second))
	inner := open(t, outer, bide.Name("inner"))
	var m syncs.Mutex
	m.TryLock()
	v.Advance(time.Second)
	err := m.Lock(inner)
	var c *bide.Canceled
	if !errors.As(err, &c) || c.Scope != "outer" || c.Source != bide.ByDeadline || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v is more than it should be", err)
	}
}
