package park_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

const second = clock.Instant(time.Second)

// The hook runs before the owner goes on, on the goroutine of whoever resolved; the owner reads what it wrote without
// any lock, so the race detector sees the order too.
func TestHook(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	for _, c := range []struct {
		name string
		end  func(w *park.Waiter, tok park.Token)
		want []park.Outcome // what the hook was told
	}{
		{"woken", func(w *park.Waiter, tok park.Token) { w.Wake(tok, park.Woken) }, []park.Outcome{park.Woken}},
		{"user", func(w *park.Waiter, tok park.Token) { w.Wake(tok, park.MaxOutcome) }, []park.Outcome{park.MaxOutcome}},
		{"resolved and unparked", func(w *park.Waiter, tok park.Token) {
			w.Resolve(tok, park.Closed)
			w.Unpark()
		}, []park.Outcome{park.Closed}},
		{"woken twice", func(w *park.Waiter, tok park.Token) {
			w.Wake(tok, park.Woken)
			w.Wake(tok, park.Closed)
		}, []park.Outcome{park.Woken}},
		{"expired", func(*park.Waiter, park.Token) { v.Advance(time.Second) }, []park.Outcome{park.Expired}},
		{"canceled by the host", func(w *park.Waiter, tok park.Token) {
			var l park.Waiters
			l.Add(w, park.KindOther)
			buf := make([]*park.Waiter, 1)
			l.Cancel(buf)
			w.Unpark()
		}, []park.Outcome{park.Canceled}},
		{"withdrawn", func(w *park.Waiter, tok park.Token) { w.Withdraw(tok) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []park.Outcome
			w := park.New(func(o park.Outcome) {
				for range 100 { // if it came too late, the owner would have the time to go on
					runtime.Gosched()
				}
				told = append(told, o)
			})
			defer w.Release()
			tok := w.ArmOn(s, v.Now().Add(time.Second))
			if c.want == nil {
				c.end(w, tok)
			} else {
				var group sync.WaitGroup
				group.Go(func() { c.end(w, tok) })
				if o := w.Wait(context.Background(), tok, park.KindOther); o != c.want[0] {
					t.Errorf("outcome %v", o)
				}
				defer group.Wait()
			}
			if !slices.Equal(told, c.want) {
				t.Errorf("the hook was told %v, want %v", told, c.want)
			}
		})
	}
}

// A waiter that is kept leaves its entry linked from wait to wait.
func TestSticky(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	w := park.New(nil)
	pending := func(want int) {
		t.Helper()
		if got := s.Stats().Pending; got != want {
			t.Fatalf("%d entries are linked, want %d", got, want)
		}
	}
	round := func(due clock.Instant) {
		t.Helper()
		tok := w.ArmOn(s, due)
		w.Wake(tok, park.Woken)
		if o := w.Wait(context.Background(), tok, park.KindOther); o != park.Woken {
			t.Fatalf("outcome %v", o)
		}
	}
	for range 10_000 {
		round(second)
	}
	pending(1)
	if st := s.Stats(); st.Canceled != 0 || st.Wakes != 0 {
		t.Errorf("the service was called to cancel: %+v", st)
	}
	for i := range 1000 { // later and later: each is one store
		round(second + clock.Instant(i))
	}
	round(clock.Forever)
	pending(1)

	// The owner is idle when the look comes: dropped, and nobody is woken.
	v.Advance(2 * time.Second)
	pending(0)
	if st := s.Stats(); st.Fired != 0 || st.Dropped == 0 {
		t.Errorf("fired for an idle owner: %+v", st)
	}

	// Armed again after that, and expiring; not a nanosecond early.
	for i := range 100 {
		due := v.Now().Add(time.Duration(i+1) * time.Millisecond)
		tok := w.ArmOn(s, due)
		v.Advance(due.Sub(v.Now()) - 1)
		v.Jump()
		if v.Now() < due {
			t.Fatal("looked before the deadline for nothing, on an exact clock")
		}
		if o := w.Wait(context.Background(), tok, park.KindOther); o != park.Expired {
			t.Fatalf("outcome %v", o)
		}
	}

	// A deadline that is earlier than the linked one moves the look; one that is later lets the look find it.
	tok := w.ArmOn(s, v.Now().Add(time.Hour))
	w.Withdraw(tok)
	tok = w.ArmOn(s, v.Now().Add(time.Second))
	pending(1)
	v.Advance(time.Second)
	if o := w.Withdraw(tok); o != park.Expired {
		t.Errorf("moved earlier: %v", o)
	}
	round(v.Now().Add(time.Second))
	tok = w.ArmOn(s, v.Now().Add(time.Minute))
	v.Advance(time.Minute - 1)
	if pending(1); w.Wake(tok, park.Woken) == false {
		t.Error("moved later, and expired early")
	}
	w.Withdraw(tok)

	w.Release()
	pending(0)
	w.Release() // idempotent
	round(clock.Forever)
	pending(0)
}

// No deadline: nothing is linked at all.
func TestForeverLinksNothing(t *testing.T) {
	s := timer.NewService(clock.NewVirtual())
	w := park.New(nil)
	tok := w.ArmOn(s, clock.Forever)
	if n := s.Stats().Pending; n != 0 {
		t.Errorf("%d entries are linked", n)
	}
	w.Withdraw(tok)
}

// A deadline that has passed expires at once; the wait need not have begun.
func TestPastDeadline(t *testing.T) {
	for _, due := range []clock.Instant{0, 1, clock.Now()} {
		w := park.New(nil)
		tok := w.Arm(due)
		if o := w.Wait(context.Background(), tok, park.KindOther); o != park.Expired {
			t.Errorf("due %v: %v", due, o)
		}
		w.Release()
	}
}

func TestArmOn(t *testing.T) {
	v1, v2 := clock.NewVirtual(), clock.NewVirtual()
	s1, s2 := timer.NewService(v1), timer.NewService(v2)
	w := park.New(nil)
	pending := func(n1, n2 int) {
		t.Helper()
		if g1, g2 := s1.Stats().Pending, s2.Stats().Pending; g1 != n1 || g2 != n2 {
			t.Errorf("%d and %d entries are linked, want %d and %d", g1, g2, n1, n2)
		}
	}
	w.Withdraw(w.ArmOn(s1, second))
	pending(1, 0)
	tok := w.ArmOn(s2, second)
	pending(0, 1)
	v1.Advance(time.Hour) // the other clock is nobody's business now
	v2.Advance(time.Second)
	if o := w.Wait(context.Background(), tok, park.KindOther); o != park.Expired {
		t.Errorf("on the second clock: %v", o)
	}
	w.Withdraw(w.Arm(clock.After(time.Hour))) // the default service between
	tok = w.ArmOn(s1, v1.Now().Add(time.Second))
	pending(1, 0)
	v2.Advance(time.Hour)
	v1.Advance(time.Second - 1)
	if !w.Wake(tok, park.Woken) {
		t.Error("back on the first clock, it expired early")
	}
	w.Withdraw(tok)
	tok = w.ArmOn(s1, v1.Now().Add(time.Second))
	v1.Advance(time.Second)
	if o := w.Wait(context.Background(), tok, park.KindOther); o != park.Expired {
		t.Errorf("back on the first clock: %v", o)
	}
	w.Release()
	pending(0, 0)

	// Across clocks without a deadline, which changes no service.
	w.Withdraw(w.ArmOn(s1, v1.Now().Add(time.Second)))
	w.Withdraw(w.ArmOn(s2, clock.Forever))
	pending(1, 0)
	v1.Advance(time.Second)
	pending(0, 0)
}

// A pooled waiter's entry is unlinked when it is put back: the pool may drop it.
func TestPutUnlinks(t *testing.T) {
	s := timer.NewService(clock.NewVirtual())
	for range 100 {
		w := park.Get()
		w.Withdraw(w.ArmOn(s, second))
		if n := s.Stats().Pending; n != 1 {
			t.Fatalf("%d entries are linked during the wait", n)
		}
		park.Put(w)
		if n := s.Stats().Pending; n != 0 {
			t.Fatalf("%d entries are linked after Put", n)
		}
	}
	w := park.New(nil) // Put takes those of New as well
	w.Withdraw(w.ArmOn(s, second))
	park.Put(w)
	if n := s.Stats().Pending; n != 0 {
		t.Fatalf("%d entries are linked after Put", n)
	}
	reusable(t, w)
}

// A waiter that still waits, or is still queued, because a panic passed by, does not go into the pool.
func TestPutDrops(t *testing.T) {
	if invariant.On {
		t.Skip("INVARIANTS ARE COMPILED IN, and it panics instead: see TestMisuse")
	}
	var l park.List
	for name, leave := range map[string]func(w *park.Waiter){
		"armed": func(w *park.Waiter) { w.Arm(clock.Forever) },
		"queued": func(w *park.Waiter) {
			tok := w.Arm(clock.Forever)
			l.PushBack(&w.Nodes(1)[0], w, tok, park.Woken)
			w.Withdraw(tok)
		},
		"queued in the last of many places": func(w *park.Waiter) {
			tok := w.Arm(clock.Forever)
			l.PushBack(&w.Nodes(9)[8], w, tok, park.Woken)
			w.Withdraw(tok)
		},
	} {
		for range 100 {
			w := park.Get()
			leave(w)
			park.Put(w)
			for range 3 {
				if again := park.Get(); again == w {
					t.Fatalf("%s: it came out of the pool again", name)
				}
			}
		}
	}
}

// Misuse that would turn up far away, or never, panics where invariants are compiled in.
func TestMisuse(t *testing.T) {
	if !invariant.On {
		t.Skip("INVARIANTS ARE NOT COMPILED IN: run with -race or -tags bideinvariant")
	}
	for _, c := range []struct {
		name, want string
		do         func(w *park.Waiter)
	}{
		{"Put while armed", "Put of a waiter that still waits", func(w *park.Waiter) {
			w.Arm(clock.Forever)
			park.Put(w)
		}},
		{"Put with a wake-up that was not received", "Put of a waiter that still waits", func(w *park.Waiter) {
			w.Wake(w.Arm(clock.Forever), park.Woken)
			park.Put(w)
		}},
		{"Put while queued", "Put of a waiter that is queued", func(w *park.Waiter) {
			var l park.List
			tok := w.Arm(clock.Forever)
			l.PushBack(&w.Nodes(1)[0], w, tok, park.Woken)
			w.Withdraw(tok)
			park.Put(w)
		}},
		{"Put while queued in the last of many places", "Put of a waiter that is queued", func(w *park.Waiter) {
			var l park.List
			tok := w.Arm(clock.Forever)
			l.PushBack(&w.Nodes(9)[8], w, tok, park.Woken)
			w.Withdraw(tok)
			park.Put(w)
		}},
		{"Put while filed in a host", "Put of a waiter that is filed in a host", func(w *park.Waiter) {
			var l park.Waiters
			l.Add(w, park.KindOther)
			park.Put(w)
		}},
		{"Arm while armed", "Arm of a waiter that still waits", func(w *park.Waiter) {
			w.Arm(clock.Forever)
			w.Arm(clock.Forever)
		}},
		{"Arm before the wake-up was received", "Arm of a waiter that still waits", func(w *park.Waiter) {
			w.Wake(w.Arm(clock.Forever), park.Woken)
			w.Arm(clock.Forever)
		}},
	} {
		got := panics(func() { c.do(park.New(nil)) })
		if !strings.HasPrefix(got, "bide: broken invariant: park: ") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
	}
}
