//go:build !race

// Under the race detector sync.Pool drops at random what is put into it, so there is nothing to hold it to.

package park_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// noAllocs holds f at no allocation, once what it needs is there.
func noAllocs(t *testing.T, name string, f func()) {
	t.Helper()
	for range 100 {
		f()
	}
	if n := testing.AllocsPerRun(1000, f); n != 0 {
		t.Errorf("%s: %v allocations, want none", name, n)
	}
}

func TestAllocsOfOneGoroutine(t *testing.T) {
	far := clock.After(time.Hour)
	w := park.New(nil)
	defer w.Release()
	noAllocs(t, "Arm, Resolve, Unpark, Withdraw", func() {
		tok := w.Arm(clock.Forever)
		w.Resolve(tok, park.Woken)
		w.Unpark()
		w.Withdraw(tok)
	})
	noAllocs(t, "Arm with a deadline", func() { w.Withdraw(w.Arm(far)) })
	noAllocs(t, "Arm with a new deadline each", func() { w.Withdraw(w.Arm(clock.After(time.Hour))) })
	noAllocs(t, "Arm with an earlier deadline each", func() {
		far--
		w.Withdraw(w.Arm(far))
	})
	noAllocs(t, "Get, Arm, Withdraw, Put", func() {
		w := park.Get()
		w.Withdraw(w.Arm(clock.Forever))
		park.Put(w)
	})
	noAllocs(t, "Get, Arm with a deadline, Withdraw, Put", func() {
		w := park.GetUntil(far)
		w.Withdraw(w.Arm(far))
		park.Put(w)
	})
	var l park.List
	noAllocs(t, "queued in one place", func() {
		w := park.Get()
		tok := w.Arm(clock.Forever)
		l.PushBack(&w.Nodes(1)[0], w, tok, park.Woken)
		l.Resolve()
		w.Unpark()
		w.Withdraw(tok)
		park.Put(w)
	})
	noAllocs(t, "queued in eight places", func() {
		w := park.Get()
		tok := w.Arm(clock.Forever)
		nodes := w.Nodes(8)
		for i := range nodes {
			l.PushBack(&nodes[i], w, tok, park.User)
		}
		w.Withdraw(tok)
		for i := range nodes {
			l.Remove(&nodes[i])
		}
		park.Put(w)
	})
}

// A wait and the wake-up that ends it, with a goroutine that wakes, under each kind of context.
func TestAllocsOfWait(t *testing.T) {
	s := open(t, context.Background())
	std, cancel := context.WithCancel(context.Background())
	defer cancel()
	below := open(t, std)
	for _, c := range []struct {
		name string
		ctx  context.Context
		due  clock.Instant
	}{
		{"background", context.Background(), clock.Forever},
		{"a deadline", context.Background(), clock.After(time.Hour)},
		{"std", std, clock.Forever},
		{"scope", s, clock.Forever},
		{"scope with a timeout", open(t, s, bide.Timeout(time.Hour)), clock.Forever},
		{"scope right below std", below, clock.Forever},
		{"value below a scope", context.WithValue(s, key{}, 1), clock.Forever},
	} {
		type wait struct {
			w   *park.Waiter
			tok park.Token
		}
		waits, over := make(chan wait, 1), make(chan struct{})
		go func() {
			for x := range waits {
				x.w.Wake(x.tok, park.Woken)
			}
			close(over)
		}()
		noAllocs(t, c.name, func() {
			w := park.GetUntil(c.due)
			tok := w.Arm(c.due)
			waits <- wait{w, tok}
			if w.Wait(c.ctx, tok, park.KindOther) != park.Woken {
				t.Error(c.name, "was not woken")
			}
			park.Put(w)
		})
		close(waits)
		<-over
	}
}
