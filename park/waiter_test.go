package park_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// panics reports what f panicked with, as a text; "" if it did not.
func panics(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// reusable fails unless w can be used for another wait, with nothing left of the one before.
func reusable(t *testing.T, w *park.Waiter) {
	t.Helper()
	tok := w.Arm(clock.Forever)
	if o := w.Withdraw(tok); o != park.Self {
		t.Errorf("a Withdraw after the wait = %v, want self", o)
	}
	tok = w.Arm(clock.Forever)
	if !w.Wake(tok, park.User) {
		t.Error("a Wake after the wait lost")
	}
	if o := w.Wait(context.Background(), tok, park.KindOther); o != park.User {
		t.Errorf("a Wait after the wait = %v, want user+0", o)
	}
}

func TestResolvePanics(t *testing.T) {
	w := park.New(nil)
	tok := w.Arm(clock.Forever)
	for o, want := range map[park.Outcome]string{
		park.Pending:        "bide/park: Resolve with the outcome pending",
		park.MaxOutcome + 1: "bide/park: Resolve with the outcome user+122",
		255:                 "bide/park: Resolve with the outcome user+249",
	} {
		if got := panics(func() { w.Resolve(tok, o) }); got != want {
			t.Errorf("Resolve with %d: panic %q, want %q", o, got, want)
		}
		if got := panics(func() { w.Wake(tok, o) }); got != want {
			t.Errorf("Wake with %d: panic %q, want %q", o, got, want)
		}
		if got := panics(func() { w.Resolve(park.Token{}, o) }); got != want {
			t.Errorf("Resolve of nothing with %d: panic %q, want %q", o, got, want)
		}
	}
	if !w.Wake(tok, park.MaxOutcome) {
		t.Error("after the panics the token lost")
	}
	if o := w.Withdraw(tok); o != park.MaxOutcome {
		t.Errorf("outcome %v", o)
	}
}

func TestWithdrawBubble(t *testing.T) {
	w := park.New(nil)
	tok := w.Arm(clock.Forever)
	if o := w.Withdraw(tok); o != park.Self {
		t.Errorf("first: %v, want self", o)
	}
	if w.Wake(tok, park.Woken) {
		t.Error("a token that was withdrawn won")
	}
	reusable(t, w)

	// Late: it receives what is owed, however long that takes.
	for _, o := range []park.Outcome{park.Woken, park.Expired, park.Canceled, park.Closed, park.User, park.MaxOutcome} {
		synctest.Test(t, func(t *testing.T) {
			w := park.New(nil)
			tok := w.Arm(clock.Forever)
			if !w.Resolve(tok, o) {
				t.Fatal("the token lost")
			}
			got := make(chan park.Outcome, 1)
			go func() { got <- w.Withdraw(tok) }()
			synctest.Wait()
			if len(got) != 0 {
				t.Fatal("Withdraw returned before the wake-up that is owed")
			}
			w.Unpark()
			if g := <-got; g != o {
				t.Errorf("late: %v, want %v", g, o)
			}
			reusable(t, w)
		})
	}
}

func TestStaleTokens(t *testing.T) {
	w := park.New(nil)
	var old []park.Token
	for i := range 100 {
		tok := w.Arm(clock.Forever)
		for _, o := range old {
			if w.Wake(o, park.Woken) {
				t.Fatal("a stale token won")
			}
		}
		if w.Wake(park.Token{}, park.Woken) {
			t.Fatal("the zero Token won")
		}
		if i%2 == 0 {
			w.Wake(tok, park.Woken)
		}
		if o := w.Withdraw(tok); (o == park.Woken) != (i%2 == 0) {
			t.Fatalf("wait %d: %v", i, o)
		}
		old = append(old, tok)
	}
}

func TestWaitUnder(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			t.Run("canceled before", func(t *testing.T) {
				ctx, cancel := c.make(t)
				cancel()
				w := park.Get()
				defer park.Put(w)
				tok := w.Arm(clock.Forever)
				if o := w.Wait(ctx, tok, park.KindOther); o != park.Canceled {
					t.Errorf("outcome %v", o)
				}
				if w.Wake(tok, park.Woken) {
					t.Error("the token won after Canceled")
				}
				if park.Reason(ctx) == nil {
					t.Error("no Reason")
				}
				reusable(t, w)
			})
			t.Run("granted", func(t *testing.T) {
				ctx, cancel := c.make(t)
				defer cancel()
				w := park.Get()
				defer park.Put(w)
				tok := w.Arm(clock.Forever)
				go w.Wake(tok, park.Woken)
				if o := w.Wait(ctx, tok, park.KindOther); o != park.Woken {
					t.Errorf("outcome %v", o)
				}
				reusable(t, w)
			})
			t.Run("granted, then canceled", func(t *testing.T) {
				ctx, cancel := c.make(t)
				w := park.Get()
				defer park.Put(w)
				tok := w.Arm(clock.Forever)
				w.Resolve(tok, park.User)
				cancel()
				go w.Unpark()
				if o := w.Wait(ctx, tok, park.KindOther); o != park.User {
					t.Errorf("outcome %v: the grant was thrown away", o)
				}
				reusable(t, w)
			})
		})
	}
}

// In a bubble it is certain that the goroutine is parked when the cancellation comes.
func TestBubbleWaitCanceledDuring(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := c.make(t)
				w := park.Get()
				tok := w.Arm(clock.Forever)
				got := make(chan park.Outcome, 1)
				go func() { got <- w.Wait(ctx, tok, park.KindOther) }()
				synctest.Wait()
				if len(got) != 0 {
					t.Fatalf("ended by itself: %v", <-got)
				}
				cancel()
				if o := <-got; o != park.Canceled {
					t.Errorf("outcome %v", o)
				}
				if park.Reason(ctx) == nil {
					t.Error("no Reason")
				}
				if w.Wake(tok, park.Woken) {
					t.Error("the token won after Canceled")
				}
				reusable(t, w)
				park.Put(w)
			})
		})
	}
}

func TestBubbleWaitDeaf(t *testing.T) {
	for _, c := range deaf {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := c.make(t)
				w := park.Get()
				tok := w.Arm(clock.Forever)
				got := make(chan park.Outcome, 1)
				go func() { got <- w.Wait(ctx, tok, park.KindOther) }()
				synctest.Wait()
				cancel()
				synctest.Wait()
				if len(got) != 0 {
					t.Fatalf("canceled by what it must not hear: %v", <-got)
				}
				if err := park.Err(ctx); err != nil {
					t.Errorf("Err = %v", err)
				}
				w.Wake(tok, park.Woken)
				if o := <-got; o != park.Woken {
					t.Errorf("outcome %v", o)
				}
				park.Put(w)
			})
		})
	}
}

// A scope that is closed with somebody waiting under it.
func TestBubbleWaitScopeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bide.Open(context.Background())
		w := park.Get()
		tok := w.Arm(clock.Forever)
		got := make(chan park.Outcome, 1)
		go func() { got <- w.Wait(s, tok, park.KindOther) }()
		synctest.Wait()
		s.Close(nil)
		if o := <-got; o != park.Canceled {
			t.Errorf("outcome %v", o)
		}
		var c *bide.Canceled
		if err := park.Reason(s); !errors.As(err, &c) || c.Source != bide.ByAbandoned {
			t.Errorf("Reason = %v", err)
		}
		park.Put(w)
	})
}

// The waiter's own deadline and its scope's come at the same instant of one clock: one of them wins the token, and the
// context says that it is canceled, so the caller can put it first.
func TestExpiredAndCanceledAtOnce(t *testing.T) {
	seen := map[park.Outcome]int{}
	for i := range 200 {
		v := clock.NewVirtual()
		s := bide.Open(context.Background(), bide.Clock(v), bide.Timeout(time.Second))
		w := park.New(nil)
		tok := w.ArmOn(timer.For(v), clock.Instant(time.Second))
		got := make(chan park.Outcome)
		go func() { got <- w.Wait(s, tok, park.KindOther) }()
		if i%2 == 0 { // sometimes attached, and so the scope observed, before time moves
			open(t, s).Done()
		}
		v.Advance(time.Second)
		o := <-got
		if o != park.Expired && o != park.Canceled {
			t.Fatalf("outcome %v", o)
		}
		seen[o]++
		if err := park.Reason(s); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Reason = %v", err)
		}
		reusable(t, w)
		w.Release()
		s.Close(nil)
	}
	t.Logf("who won: %v", seen)
}
