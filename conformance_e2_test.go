package bide_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing/synctest"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// E. Binding, reuse, cross-goroutine, continued: the great race.

// race calls a and b at the same time, but for a random lag of some nanoseconds, and waits for both.
func race(r *rand.Rand, lag int, a, b func()) {
	here, there := meeting(r, lag)
	var done sync.WaitGroup
	done.Go(func() { here(); a() })
	done.Go(func() { there(); b() })
	done.Wait()
}

// meeting gives two goroutines a function each that returns when the other is called, too, but for a random lag.
func meeting(r *rand.Rand, lag int) (a, b func()) {
	var here atomic.Int64
	party := func() func() {
		rest := r.IntN(lag)
		return func() {
			here.Add(1)
			spin(func(i int) bool { return here.Load() == 2 && i >= rest })
		}
	}
	return party(), party()
}

// spin returns when done, which is told how often it was asked, says so.
func spin(done func(i int) bool) {
	for i := 1; !done(i); i++ {
		if i%10000 == 0 {
			runtime.Gosched() // the other may have no processor
		}
	}
}

// Whoever resolves the token owns the wake-up: a thousand times over, each wait ends once, in one of two ways.
var _ = register(70, "cancel_racing_1000_grants", func(c *C) {
	const waiters = 1000

	c.Rounds(20, func(round int, r *rand.Rand) {
		c.Bubble(func(ctx context.Context) {
			futures := make([]syncs.Future[int], waiters)
			grantsRacingCancel(c, r, ctx, waiters, func(s *bide.Scope, i int) error {
				v, err := futures[i].Wait(s)
				c.Equal(v, map[bool]int{true: i + 1}[err == nil], "the value comes with nil, and only then")
				return err
			}, func(i int) { c.True(futures[i].Set(i+1), "the only Set") })
		})
	})

	c.Rounds(20, func(round int, r *rand.Rand) {
		c.Bubble(func(ctx context.Context) {
			// One mutex: every grant is an Unlock, which finds somebody who is not canceled, or nobody.
			var mu syncs.Mutex
			mu.TryLock()
			free := atomic.Int64{}
			granted := grantsRacingCancel(c, r, ctx, waiters, func(s *bide.Scope, i int) error {
				err := mu.Lock(s)
				if err == nil {
					c.Equal(free.Add(1), int64(1), "holders of the mutex")
					runtime.Gosched()
					free.Add(-1)
					mu.Unlock()
				}
				return err
			}, func(i int) {
				if i == 0 {
					mu.Unlock()
				}
			})
			c.True(mu.TryLock(), "free at the end, after %d holders", granted)
		})
	})

	c.Rounds(40, func(round int, r *rand.Rand) {
		c.Bubble(func(ctx context.Context) {
			// At the root of all primitives: the token has one winner, and both sides know who.
			type slot struct {
				mu sync.Mutex
				w  *park.Waiter
				t  park.Token
				ok bool // granted, as the granter sees it
			}
			slots := make([]slot, waiters)
			granted := grantsRacingCancel(c, r, ctx, waiters, func(s *bide.Scope, i int) error {
				w := park.Get()
				defer park.Put(w)
				slots[i].mu.Lock()
				slots[i].w, slots[i].t = w, w.Arm(clock.Forever)
				t := slots[i].t
				slots[i].mu.Unlock()
				o := w.Wait(s, t, park.KindUser)
				slots[i].mu.Lock()
				slots[i].w = nil
				slots[i].mu.Unlock()
				switch o {
				case park.Woken:
					return nil
				case park.Canceled:
					return park.Reason(s)
				}
				return fmt.Errorf("outcome %v", o)
			}, func(i int) {
				slots[i].mu.Lock()
				defer slots[i].mu.Unlock()
				if w := slots[i].w; w != nil {
					slots[i].ok = w.Wake(slots[i].t, park.Woken)
				}
			})
			told := 0
			for i := range slots {
				if slots[i].ok {
					told++
				}
			}
			c.Equal(granted, told, "waits that returned nil, and grants that succeeded")
		})
	})
})

// grantsRacingCancel parks n waiters under one scope, and cancels it while they are granted what they wait for. It
// checks that each returned once, with nil or the scope's *Canceled, and returns how many were granted.
func grantsRacingCancel(c *C, r *rand.Rand, ctx context.Context, n int, wait func(s *bide.Scope, i int) error, grant func(i int)) (granted int) {
	s := bide.Open(ctx)
	results := make([]error, n)
	returns := make([]atomic.Int64, n)
	var waits sync.WaitGroup
	for i := range n {
		waits.Go(func() {
			results[i] = wait(s, i)
			returns[i].Add(1)
		})
	}
	if r.IntN(4) != 0 {
		synctest.Wait() // mostly all are parked; sometimes they are on their way
	}
	order := r.Perm(n)
	if kind := r.IntN(4); kind > 0 {
		slices.Sort(order) // the way that Cancel goes: now the one is ahead, now the other
		if kind == 1 {
			slices.Reverse(order)
		}
	}
	start := int64(r.IntN(n + 1))
	var done atomic.Int64
	race(r, 100, func() {
		for _, i := range order {
			grant(i)
			done.Add(1)
		}
	}, func() {
		spin(func(int) bool { return done.Load() >= start })
		s.Cancel(nil)
	})
	waits.Wait()

	canceled := 0
	for i, err := range results {
		c.Equal(returns[i].Load(), int64(1), "returns of a waiter")
		switch err {
		case nil:
			granted++
		case s.Cause():
			canceled++
		default:
			c.Errorf("waiter %d: %v (%T)", i, err, err)
		}
	}
	c.Equal(granted+canceled, n, "outcomes")
	c.Logf("granted %d, canceled %d", granted, canceled)
	var err error = s.Cause()
	s.Close(&err)
	c.NoError(err)
	return granted
}
