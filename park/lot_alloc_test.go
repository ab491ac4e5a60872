//go:build !race

// As in alloc_test.go: under the race detector sync.Pool drops at random.

package park_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// noAllocs2 holds a wait, and what ends it on another goroutine, at no allocation: wait calls filed when it may end.
func noAllocs2(t *testing.T, name string, wait func(filed func()), end func()) {
	t.Helper()
	begun, over := make(chan struct{}, 1), make(chan struct{})
	go func() {
		for range begun {
			end()
		}
		close(over)
	}()
	filed := func() { begun <- struct{}{} }
	noAllocs(t, name, func() { wait(filed) })
	close(begun)
	<-over
}

func TestAllocsOfLot(t *testing.T) {
	bg := context.Background()
	s := bide.Open(bg, bide.Timeout(time.Hour))
	defer s.Close(nil)
	far := clock.After(time.Hour)
	var l park.Lot
	a, b := new(int), new(int)
	for _, c := range []struct {
		name string
		ctx  context.Context
		due  clock.Instant
	}{
		{"background", bg, clock.Forever},
		{"deadline", bg, far},
		{"scope", s, clock.Forever},
	} {
		noAllocs2(t, "Park, Wake: "+c.name, func(filed func()) {
			free := false // captured, as a primitive's state would be
			o := l.Park(c.ctx, a, c.due, 0, func() bool { filed(); return !free })
			if o != park.Woken {
				t.Error(o)
			}
		}, func() {
			sum := 0
			l.Wake(a, 1, park.Woken, func(woken, left int) { sum += woken + left })
			if sum != 1 {
				t.Error("nobody was filed")
			}
		})
		noAllocs2(t, "Park, Requeue, Wake: "+c.name, func(filed func()) {
			l.Park(c.ctx, a, c.due, 0, func() bool { filed(); return true })
		}, func() {
			if l.Requeue(a, b, park.All, func() bool { return true }) != 1 || l.Wake(b, park.All, park.Woken, nil) != 1 {
				t.Error("nobody was filed")
			}
		})
	}
	noAllocs(t, "Park that validate stops", func() { l.Park(s, a, far, 0, func() bool { return false }) })
	noAllocs(t, "Wake of nobody", func() { l.Wake(a, 1, park.Woken, nil) })
	noAllocs(t, "Park that has expired", func() { l.Park(bg, a, 1, 0, nil) })
}

func TestAllocsOfRecv(t *testing.T) {
	bg := context.Background()
	s := bide.Open(bg, bide.Timeout(time.Hour))
	defer s.Close(nil)
	std, cancel := context.WithCancel(bg)
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
	}{{"background", bg}, {"scope", s}, {"std", std}} {
		values := make(chan int)
		noAllocs2(t, "a value: "+c.name, func(filed func()) {
			w := park.Get()
			tok := w.Arm(clock.Forever)
			filed()
			if v, _, _, o := park.WaitRecv(c.ctx, w, tok, 0, values); v != 7 || o != park.Self {
				t.Error(v, o)
			}
			park.Put(w)
		}, func() { values <- 7 })
		var w *park.Waiter
		var tok park.Token
		noAllocs2(t, "woken: "+c.name, func(filed func()) {
			w = park.Get()
			tok = w.Arm(clock.Forever)
			filed()
			if _, _, received, o := park.WaitRecv(c.ctx, w, tok, 0, values); received || o != park.Woken {
				t.Error(received, o)
			}
			park.Put(w)
		}, func() { w.Wake(tok, park.Woken) })
	}
}

func TestAllocsOfBatch(t *testing.T) {
	const n = 100
	ws, toks := make([]*park.Waiter, n), make([]park.Token, n)
	for i := range ws {
		ws[i] = park.New(nil)
	}
	var l park.List
	noAllocs(t, "a batch of many", func() {
		for i, w := range ws {
			toks[i] = w.Arm(clock.Forever)
			l.PushBack(&w.Nodes(1)[0], w, toks[i], park.Woken)
		}
		var b park.Batch
		if b.Resolve(&l, park.All) != n {
			t.Error("not all")
		}
		b.Unpark()
		for i, w := range ws {
			w.Withdraw(toks[i])
		}
	})
}
