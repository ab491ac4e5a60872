package park_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// fill leaves waiters in the pools of all processors that have been parked, with a deadline and without, and timers'
// shards that have been used.
func fill(t *testing.T) {
	t.Helper()
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			due := clock.Forever
			if i%2 == 0 {
				due = clock.After(time.Hour)
			}
			w := park.GetUntil(due)
			tok := w.Arm(due)
			go w.Wake(tok, park.Woken)
			if o := w.Wait(context.Background(), tok, park.KindOther); o != park.Woken {
				t.Errorf("outside: %v", o)
			}
			park.Put(w)
		})
	}
	group.Wait()
	w := park.GetUntil(clock.After(0))
	if o := w.Wait(context.Background(), w.Arm(clock.After(time.Millisecond)), park.KindOther); o != park.Expired {
		t.Errorf("outside, expiring: %v", o)
	}
	park.Put(w)
}

// bubbleWaits are ways to wait in a bubble for three seconds of its time.
var bubbleWaits = []struct {
	name string
	wait func(ctx context.Context) park.Outcome
	want park.Outcome
}{
	{"Get, no deadline", func(ctx context.Context) park.Outcome {
		w := park.Get()
		defer park.Put(w)
		return wokenIn(ctx, w, w.Arm(clock.Forever), 3*time.Second)
	}, park.Woken},
	{"GetUntil, no deadline", func(ctx context.Context) park.Outcome {
		w := park.GetUntil(clock.Forever)
		defer park.Put(w)
		return wokenIn(ctx, w, w.Arm(clock.Forever), 3*time.Second)
	}, park.Woken},
	{"Get, expiring", func(ctx context.Context) park.Outcome {
		w := park.Get()
		defer park.Put(w)
		return w.Wait(ctx, w.Arm(clock.After(3*time.Second)), park.KindOther)
	}, park.Expired},
	{"GetUntil, expiring", func(ctx context.Context) park.Outcome {
		due := clock.After(3 * time.Second)
		w := park.GetUntil(due)
		defer park.Put(w)
		return w.Wait(ctx, w.Arm(due), park.KindOther)
	}, park.Expired},
	{"GetUntil, woken before the deadline", func(ctx context.Context) park.Outcome {
		due := clock.After(time.Hour)
		w := park.GetUntil(due)
		defer park.Put(w)
		return wokenIn(ctx, w, w.Arm(due), 3*time.Second)
	}, park.Woken},
	{"kept, and its deadline moved", func(ctx context.Context) park.Outcome {
		w := park.New(nil)
		defer w.Release()
		w.Withdraw(w.Arm(clock.After(time.Hour)))
		w.Withdraw(w.Arm(clock.After(time.Second)))
		w.Withdraw(w.Arm(clock.Forever))
		return w.Wait(ctx, w.Arm(clock.After(3*time.Second)), park.KindOther)
	}, park.Expired},
	{"the scope's deadline", func(ctx context.Context) (o park.Outcome) {
		bide.MoveOnAfter(ctx, 3*time.Second, func(ctx context.Context) error {
			w := park.Get()
			defer park.Put(w)
			o = w.Wait(ctx, w.Arm(clock.Forever), park.KindOther)
			return nil
		})
		return o
	}, park.Canceled},
	{"a std context's deadline", func(ctx context.Context) park.Outcome {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		w := park.Get()
		defer park.Put(w)
		return w.Wait(ctx, w.Arm(clock.Forever), park.KindOther)
	}, park.Canceled},
}

func wokenIn(ctx context.Context, w *park.Waiter, tok park.Token, d time.Duration) park.Outcome {
	go func() {
		time.Sleep(d)
		w.Wake(tok, park.Woken)
	}()
	return w.Wait(ctx, tok, park.KindOther)
}

// Waits in a bubble are durable, on the bubble's clock, and share nothing with those outside: the pools were filled
// before, and are used again after.
func TestBubbleWaits(t *testing.T) {
	fill(t)
	for _, c := range bubbleWaits {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := bide.Open(context.Background())
				defer s.Close(nil)
				for range 2 { // what the first left behind must not matter
					start := time.Now()
					got := make(chan park.Outcome, 1)
					go func() { got <- c.wait(s) }()
					time.Sleep(3*time.Second - 1)
					synctest.Wait() // returns only if the wait is durable
					if len(got) != 0 {
						t.Fatalf("ended %v early: %v", 3*time.Second-time.Since(start), <-got)
					}
					if o := <-got; o != c.want {
						t.Errorf("outcome %v, want %v", o, c.want)
					}
					if d := time.Since(start); d != 3*time.Second {
						t.Errorf("took %v of the bubble's time", d)
					}
				}
			})
			fill(t)
		})
	}
}

// Two bubbles at a time, and the world outside.
func TestBubbleSideBySide(t *testing.T) {
	fill(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			synctest.Test(t, func(t *testing.T) {
				for i := range 200 {
					d := time.Duration(i) * time.Minute
					start := time.Now()
					w := park.Get()
					tok := w.Arm(clock.After(d))
					if o := w.Wait(context.Background(), tok, park.KindOther); o != park.Expired || time.Since(start) != d {
						t.Errorf("%v after %v, want after %v", o, time.Since(start), d)
					}
					park.Put(w)
				}
			})
		})
	}
	group.Go(func() {
		for range 50 {
			fill(t)
		}
	})
	group.Wait()
}
