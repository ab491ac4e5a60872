package syncs

import (
	"context"
	"sync/atomic"

	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A WaitGroup counts what is still to be done, and can be waited for until nothing is. The zero WaitGroup counts 0. It is
// sync.WaitGroup with a Wait that is bounded; and it may be used again at once, whoever has not returned from Wait yet.
//
// # Fairness
//
// Everybody who waits is released when the counter becomes 0, in the order of their arrival, and whatever is added
// after that.
//
// # Cancellation
//
// A Wait that returns an error has left the group as it was. What was started goes on.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// A Done, and an Add, synchronizes before the return of any Wait that it releases, and of any later one that finds the
// counter at 0.
type WaitGroup struct {
	_    noCopy
	word atomic.Int64

	mu    step.Mutex // before a timer shard's; nothing of a user is called with it held
	queue park.List
}

// The word of a WaitGroup.
//
//	bit 0      awaited  somebody is in the queue
//	bits 1–63  the counter
//
//	G1 counter → counter + n         Add: CAS, unless G2 is due
//	G2 counter, awaited → 0          Add, under mu: everybody in the queue is resolved before mu is free
//	G3 awaited: set                  a Wait, under mu, before it queues itself; only while the counter is not 0
//	G4 awaited: cleared              the last to leave the queue, under mu, canceled
//
//	I1 while mu is free, awaited is set if and only if the queue is not empty
//	I2 the counter is not 0 while awaited is set
//
// With one atomic addition for G1, as in package sync, the counter could come to 0 and be left again before the queue is
// emptied: then who came after would go with those who came before. Package sync forbids that, here it is common: a
// Wait whose bound has passed, and the group goes on.
const (
	awaited    = 1
	maxCounter = 1<<62 - 1 // as much as the word can count
)

// Add adds n, which may be negative, to the counter. It panics, and changes nothing, if the counter would become
// negative, or more than 1<<62 - 1.
func (g *WaitGroup) Add(n int) {
	for {
		s := g.word.Load()
		c := s>>1 + int64(n)
		if c < 0 && n < 0 {
			panic("bide/syncs: negative counter of a WaitGroup")
		}
		if c < 0 || c > maxCounter {
			panic("bide/syncs: counter of a WaitGroup beyond 1<<62 - 1")
		}
		if c == 0 && s&awaited != 0 {
			if g.release(s) {
				return
			}
			continue
		}
		step.At("waitgroup.add")
		if g.word.CompareAndSwap(s, c<<1|s&awaited) { // G1
			return
		}
	}
}

// Done takes 1 off the counter.
func (g *WaitGroup) Done() { g.Add(-1) }

// Go calls f in a new goroutine, and counts it until f has returned. If f calls runtime.Goexit it has returned. If it
// panics the program ends, as with any goroutine; until then the group counts it, so that nobody takes it for done.
func (g *WaitGroup) Go(f func()) {
	g.Add(1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				panic(v)
			}
			g.Done()
		}()
		f()
	}()
}

// Wait waits until the counter is 0, or returns why ctx ended before. Under a canceled context it returns the error even
// if the counter is 0.
func (g *WaitGroup) Wait(ctx context.Context) error {
	notNil("Wait of a WaitGroup", ctx)
	if err := park.Err(ctx); err != nil {
		return err
	}
	if g.look() == park.Woken {
		return nil
	}
	return wait(ctx, g, park.KindGroup)
}

// release: G2, from s. It reports false if the word has changed.
func (g *WaitGroup) release(s int64) bool {
	var woken park.Batch
	step.At("waitgroup.release")
	g.mu.Lock()
	ok := g.word.CompareAndSwap(s, 0)
	if ok {
		woken.Resolve(&g.queue, park.All)
	}
	g.mu.Unlock()
	woken.Unpark()
	return ok
}

func (g *WaitGroup) look() park.Outcome {
	if g.word.Load()>>1 == 0 {
		return park.Woken
	}
	return park.Pending
}

func (g *WaitGroup) add(n *park.Node, w *park.Waiter, t park.Token, o park.Outcome) park.Outcome {
	step.At("waitgroup.enqueue")
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		s := g.word.Load()
		if s>>1 == 0 {
			return o
		}
		step.At("waitgroup.mark")
		if s&awaited != 0 || g.word.CompareAndSwap(s, s|awaited) { // G3
			break
		}
	}
	g.queue.PushBack(n, w, t, o)
	return park.Pending
}

func (g *WaitGroup) remove(n *park.Node) {
	step.At("waitgroup.remove")
	g.mu.Lock()
	if g.queue.Remove(n) && g.queue.Empty() {
		g.word.And(^awaited) // G4
	}
	g.mu.Unlock()
}
