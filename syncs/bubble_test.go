package syncs_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// outside waits with every call, so that the pools of all processors hold waiters that have been used, with deadlines
// and without.
func outside(t *testing.T) {
	t.Helper()
	var group sync.WaitGroup
	for range 4 {
		for _, c := range calls {
			group.Go(func() {
				c := c.make()
				err := bide.FailAfter(context.Background(), time.Millisecond, c.wait)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("outside, expiring: %v", err)
				}
				granting := race(func() bool { return !c.clean() }, c.grant)
				if err := bide.FailAfter(context.Background(), time.Hour, c.wait); err != nil {
					t.Errorf("outside: %v", err)
				}
				granting.Wait()
				c.give()
			})
		}
		group.Go(func() {
			var m syncs.Mutex
			m.TryLock()
			if err := m.LockUntil(clock.After(time.Millisecond)); err != os.ErrDeadlineExceeded {
				t.Errorf("outside, LockUntil: %v", err)
			}
		})
	}
	group.Wait()
}

// Every call in a bubble, bounded and not: durable, on the bubble's time, and sharing nothing with those outside, who
// were there before and go on after.
func TestBubblePools(t *testing.T) {
	outside(t)
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bg := context.Background()
				for name, run := range map[string]func(f func(context.Context) error) error{
					"background": func(f func(context.Context) error) error { return f(bg) },
					"scope":      func(f func(context.Context) error) error { return bide.FailAfter(bg, time.Hour, f) },
					"std": func(f func(context.Context) error) error {
						ctx, cancel := context.WithTimeout(bg, time.Hour)
						defer cancel()
						return f(ctx)
					},
				} {
					c := c.make()
					start := time.Now()
					got := make(chan error, 1)
					go func() { got <- run(c.wait) }()
					time.Sleep(59 * time.Minute)
					synctest.Wait() // returns only if the wait is durable
					if len(got) != 0 {
						t.Fatalf("%s: ended by itself: %v", name, <-got)
					}
					c.grant()
					if err := <-got; err != nil || time.Since(start) != 59*time.Minute {
						t.Errorf("%s: %v after %v", name, err, time.Since(start))
					}
					c.give()
				}
			})
			outside(t)
		})
	}
	t.Run("LockUntil", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var m syncs.Mutex
			m.TryLock()
			start := time.Now()
			for i := range 10 {
				if err := m.LockUntil(clock.After(time.Hour)); err != os.ErrDeadlineExceeded {
					t.Errorf("LockUntil: %v", err)
				}
				if d := time.Since(start); d != time.Duration(i+1)*time.Hour {
					t.Errorf("after %v", d)
				}
			}
		})
		outside(t)
	})
}

// A mutex that is contended in a bubble does not keep the bubble from being at rest.
func TestBubbleMutexContended(t *testing.T) {
	outside(t)
	synctest.Test(t, func(t *testing.T) {
		var m syncs.Mutex
		count := 0
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for range 20 {
					err := bide.FailAfter(context.Background(), 1000*time.Hour, m.Lock)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Second) // all others wait, and time goes on
					count++
					m.Unlock()
				}
			})
		}
		start := time.Now()
		group.Wait()
		if d := time.Since(start); d != 400*time.Second || count != 400 || !m.Idle() {
			t.Errorf("%d in %v, idle %v", count, d, m.Idle())
		}
	})
	outside(t)
}

// A deadline that is not the bubble's own (zero, or computed outside) brings no channel of the bubble into the pool.
func TestBubbleForeignDeadline(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var m syncs.Mutex
			m.TryLock()
			go func() { // not when all is at rest: a waiter of the pool outside is not, for synctest
				for range 1000 {
					runtime.Gosched()
				}
				m.Unlock()
			}()
			if err := m.LockUntil(0); err != nil {
				t.Error(err)
			}
		})
		for range 20 {
			w := park.Get()
			tok := w.Arm(clock.Forever)
			w.Wake(tok, park.Woken) // the runtime would end the program here
			w.Wait(context.Background(), tok, park.KindOther)
		}
	}
}
