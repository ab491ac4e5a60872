package syncs_test

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

func TestFairMutexTryLock(t *testing.T) {
	var m syncs.FairMutex
	for range 2 {
		if !m.TryLock() || m.TryLock() {
			t.Error("TryLock")
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
	}
	var none context.Context
	if got, want := panics(func() { _ = m.Lock(none) }), "bide/syncs: Lock with a nil context"; got != want {
		t.Errorf("panic %q, want %q", got, want)
	}
	if !m.Idle() {
		t.Error("something is left")
	}
}

func TestFairMutexLockUntil(t *testing.T) {
	now := clock.Now()
	for name, at := range map[string]clock.Instant{"past": now.Add(-time.Hour), "now": now, "zero": 0, "far negative": -1 << 63} {
		var m syncs.FairMutex
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
	synctest.Test(t, func(t *testing.T) {
		var m syncs.FairMutex
		m.TryLock()
		start := time.Now()
		if err := m.LockUntil(clock.After(time.Minute)); err != os.ErrDeadlineExceeded || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.AfterFunc(time.Minute, m.Unlock)
		if err := m.LockUntil(clock.After(time.Hour)); err != nil || time.Since(start) != 2*time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.AfterFunc(1000*time.Hour, m.Unlock)
		if err := m.LockUntil(clock.Forever); err != nil {
			t.Error(err)
		}
		m.Unlock()
		if !m.Idle() {
			t.Error("something is left")
		}
	})
}

// Of five who wait some are canceled; the others get the lock in the order of their coming. The canceled ones may be
// there still when their turn comes.
func TestBubbleFairMutexOrder(t *testing.T) {
	for _, settled := range []bool{false, true} {
		for mask := range 1 << 5 {
			synctest.Test(t, func(t *testing.T) {
				const n = 5
				var m syncs.FairMutex
				m.TryLock()
				var order, want []int
				var cancels []func()
				for i := range n {
					s := open(t, context.Background())
					if mask&(1<<i) != 0 {
						cancels = append(cancels, func() { s.Cancel(nil) })
					} else {
						want = append(want, i)
					}
					go func() {
						if err := m.Lock(s); err == nil {
							order = append(order, i)
							yield()
							m.Unlock()
						} else if mask&(1<<i) == 0 {
							t.Error(err)
						}
					}()
					synctest.Wait()
				}
				for _, cancel := range cancels {
					cancel()
				}
				if settled {
					synctest.Wait()
				}
				m.Unlock()
				synctest.Wait()
				if !slices.Equal(order, want) {
					t.Errorf("canceled %05b, settled %v: order %v, want %v", mask, settled, order, want)
				}
				if !m.Idle() {
					t.Errorf("canceled %05b: something is left", mask)
				}
			})
		}
	}
}

// Unlock hands over directly: in between the lock is not to be had, and who comes later waits.
func TestBubbleFairMutexHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m syncs.FairMutex
		m.TryLock()
		first := waitFor(1, func() error { return m.Lock(context.Background()) })
		m.Unlock()
		if m.TryLock() { // the first one has not run yet
			t.Error("taken in between")
		}
		if err := m.LockUntil(clock.Now()); err != os.ErrDeadlineExceeded {
			t.Errorf("taken in between: %v", err)
		}
		late := waitFor(1, func() error { return m.Lock(context.Background()) })
		if first() != 1 || late() != 0 {
			t.Error("the late one went first")
		}
		m.Unlock()
		if late() != 1 {
			t.Error("the late one did not get it")
		}
		m.Unlock()
		if !m.Idle() {
			t.Error("something is left")
		}
	})
}

// Mutual exclusion, with a yield inside.
func TestFairMutexTurns(t *testing.T) {
	atProcs(t, func(t *testing.T) {
		const goroutines, rounds = 8, 100
		var m syncs.FairMutex
		var inside atomic.Int32
		var turns []int
		var group sync.WaitGroup
		m.TryLock()
		for g := range goroutines {
			group.Go(func() {
				for range rounds {
					if err := m.Lock(context.Background()); err != nil {
						t.Error(err)
					}
					if inside.Add(1) != 1 {
						t.Error("not alone")
					}
					turns = append(turns, g)
					yield()
					inside.Add(-1)
					m.Unlock()
				}
			})
		}
		m.Unlock()
		group.Wait()
		if len(turns) != goroutines*rounds || !m.Idle() {
			t.Errorf("%d turns, idle %v", len(turns), m.Idle())
		}
	})
}

// Grant and cancellation in the same instant: nil if and only if the lock is held, and it is never lost.
func TestFairMutexGrantOrCancel(t *testing.T) {
	for _, x := range contexts {
		t.Run(x.name, func(t *testing.T) {
			var m syncs.FairMutex
			var granted, canceled int
			for i := range some(2000) {
				ctx, cancel := x.make(t)
				m.TryLock()
				lock := m.Lock
				var k *syncs.Ticket
				ends := []func(){m.Unlock, cancel}
				if i%4 < 2 { // the same with a ticket, and its Cancel
					k = m.LockAsync()
					lock = k.Wait
					ends = append(ends, k.Cancel)
				}
				racers := race(m.Queued, inTurn(i, ends...)...)
				err := lock(ctx)
				if err == nil {
					granted++
					if m.TryLock() {
						t.Fatal("nil, and not held")
					}
					if k != nil {
						k.Cancel()
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

func TestFairMutexLocker(t *testing.T) {
	const n = 50
	var m syncs.FairMutex
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
	m.Locker().Lock()
	if turn != n || m.TryLock() {
		t.Errorf("%d turns", turn)
	}
	m.Locker().Unlock()
}
