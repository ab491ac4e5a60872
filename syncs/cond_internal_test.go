package syncs

import (
	"context"
	"sync"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Queued reports whether somebody is in the queue, canceled or not.
func (c *Cond) Queued() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.queue.Empty()
}

func TestCondTransitions(t *testing.T) {
	c := Cond{L: new(sync.Mutex)}
	taken := marks{}
	step := func(names string, queued bool, op func()) {
		t.Helper()
		op()
		if c.queued.Load() != queued {
			t.Fatalf("%s: queued %v", names, c.queued.Load())
		}
		taken.take(names)
		if c.Queued() != queued {
			t.Errorf("I1: %s: queued %v, and somebody in the queue %v", names, queued, c.Queued())
		}
	}
	type wait struct {
		w *park.Waiter
		t park.Token
	}
	var ws [4]wait
	add := func(i int) func() {
		return func() {
			w := park.New(nil)
			ws[i] = wait{w, w.Arm(clock.Forever)}
			c.add(&w.Nodes(1)[0], w, ws[i].t)
		}
	}
	ended := func(i int, want park.Outcome) {
		t.Helper()
		if o := ws[i].w.Withdraw(ws[i].t); o != want {
			t.Fatalf("wait %d: %v, want %v", i, o, want)
		}
	}
	remove := func(i int) func() { return func() { c.remove(&ws[i].w.Nodes(1)[0]) } }

	step("C2", false, c.Signal)
	step("C3", false, c.Broadcast)
	step("C1", true, add(0))
	step("C1", true, add(1))
	step("C2", true, c.Signal)
	ended(0, park.Woken)
	step("C2", false, c.Signal)
	ended(1, park.Woken)

	for i := range ws {
		step("C1", true, add(i))
	}
	ended(0, park.Self)
	step("C2", true, c.Signal) // goes on to the next
	ended(1, park.Woken)
	ended(2, park.Self)
	step("C4", true, remove(2))
	step("C3", false, c.Broadcast)
	ended(3, park.Woken)
	step("C4", false, remove(0))

	step("C1", true, add(0))
	ended(0, park.Self)
	step("C4", false, remove(0))
	taken.demand(t, "cond.go", "C")
}

// A faulty Locker is one of a user's that panics, once.
type faulty struct {
	sync.Mutex
	in    string
	first func()
}

func (l *faulty) panic(in string) {
	if l.in == in {
		l.in = ""
		l.first()
		panic("brittle")
	}
}

func (l *faulty) Lock()   { l.panic("Lock"); l.Mutex.Lock() }
func (l *faulty) Unlock() { l.panic("Unlock"); l.Mutex.Unlock() }

// A signal that comes to a wait which ends in a panic, of its context or of its lock, is passed on, and if it can be the
// lock is held again.
func TestCondPanicWithTheSignal(t *testing.T) {
	for _, in := range []string{"Done", "Unlock", "Lock"} {
		for _, signaled := range []bool{false, true} {
			var l faulty
			c := Cond{L: &l}
			behind := park.New(nil)
			tok := behind.Arm(clock.Forever)
			l.Lock()
			l.in = in
			join := func() {
				c.add(&behind.Nodes(1)[0], behind, tok)
				if signaled {
					c.Signal()
				}
			}
			var ctx context.Context = &brittle{context.Background(), join}
			switch in {
			case "Unlock":
				ctx, l.first = context.Background(), join
			case "Lock": // woken, or canceled; then the lock panics
				below, cancel := context.WithCancel(context.Background())
				ctx, l.first = &gentle{below, func() { join(); cancel() }}, func() {}
			}
			func() {
				defer func() {
					if r := recover(); r != "brittle" {
						t.Errorf("%s: panic %v", in, r)
					}
				}()
				_ = c.Wait(ctx)
			}()
			if held := !l.TryLock(); held != (in != "Lock") {
				t.Errorf("%s: the lock is held: %v", in, held)
			}
			want := park.Self
			if signaled {
				want = park.Woken
			}
			if o := behind.Withdraw(tok); o != want {
				t.Errorf("%s, signaled %v: who was behind: %v", in, signaled, o)
			}
			c.remove(&behind.Nodes(1)[0])
			if c.Queued() {
				t.Errorf("%s: somebody is left in the queue", in)
			}
		}
	}
}
