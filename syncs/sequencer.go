package syncs

import (
	"context"
	"strconv"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Sequencer is a counter that only grows, and a place to wait until it has reached a number. The zero Sequencer counts
// 0. Increment costs one atomic addition and a load unless it reaches a number that somebody waits for; a wait costs the
// logarithm of how many different numbers are waited for.
//
// # Fairness
//
// Whoever waits for a lower number is released first; those who wait for the same, in the order of their arrival. Nobody
// is woken before its number is reached.
//
// # Cancellation
//
// A Wait that returns an error has left the sequencer as it was: the counter does not know who waits.
//
// # Close
//
// A closed Sequencer lets nobody wait: a Wait for what is not reached returns [ErrClosed]. It still counts, and to wait
// for what is reached succeeds.
//
// # Memory model
//
// The Increment or Advance by which a number is reached, and those before it, synchronize before the return of any Wait
// for that number that returns nil, and of any Get that reports it.
type Sequencer struct {
	_      noCopy
	word   atomic.Uint64
	lowest atomic.Uint64 // the lowest number that is waited for, or 0. Stored under mu

	mu     step.Mutex // before a timer shard's; nothing of a user is called with it held
	levels levels
}

// The word of a Sequencer.
//
//	bit 63     shut   closed
//	bits 0–62  the count
//
//	Q1 count → count + 1             Increment: one addition
//	Q2 count → n                     Advance: CAS
//	Q3 count → n                     Reset, under mu: CAS, while nobody waits
//	Q4 shut: set                     Close
//	Q5 lowest → n                    a Wait, under mu, before it looks at the count again. If that has reached n, or the
//	                                 sequencer is closed, lowest is put back; else the waiter is queued at n
//	Q6 lowest → the least number     whoever takes the last waiter of a level out, under mu: who releases those that the
//	                                 count has reached, CancelWaiters and Close, or a waiter that leaves, canceled
//
//	I1 while mu is free, lowest is the least number at which somebody is queued, or 0
//	I2 if the count has reached lowest, somebody is on the way to release those who wait: who moved the count
//
// I2 holds because each side stores first and loads then: who moves the count looks at lowest afterwards, who waits
// stores lowest and looks at the count afterwards. One of them sees the other. In package sync/atomic these four are in
// one order; with less (a plain field, or what other languages call acquire and release) both may miss, once in a
// hundred thousand rounds.
const (
	shut  = 1 << 63
	limit = 1<<62 - 1 // of Advance and Reset: no Increment will ever meet bit 63
)

// Get returns the count.
func (s *Sequencer) Get() uint64 { return s.word.Load() &^ shut }

// Increment adds 1 to the count, and releases those who wait for it.
func (s *Sequencer) Increment() {
	c := s.word.Add(1) &^ shut // Q1
	step.At("sequencer.moved")
	if s.reaches(c) {
		s.release()
	}
}

// Advance raises the count to n, releases those who wait for what is reached, and reports true. It reports false, and
// does nothing, if the count is n already, or more. It panics if n is not below 1<<62.
func (s *Sequencer) Advance(n uint64) bool {
	inRange("Advance", n)
	for {
		old := s.word.Load()
		if n <= old&^shut {
			return false
		}
		step.At("sequencer.advance")
		if s.word.CompareAndSwap(old, n|old&shut) { // Q2
			break
		}
	}
	step.At("sequencer.moved")
	if s.reaches(n) {
		s.release()
	}
	return true
}

// Reset sets the count to n, which may be below what it was. It panics while somebody waits, or if n is not below 1<<62.
func (s *Sequencer) Reset(n uint64) {
	inRange("Reset", n)
	if !s.reset(n) {
		panic("bide/syncs: Reset of a Sequencer that somebody waits for")
	}
}

func (s *Sequencer) reset(n uint64) bool {
	step.At("sequencer.reset")
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.lowest.Load() == 0 {
		old := s.word.Load()
		if s.word.CompareAndSwap(old, n|old&shut) { // Q3
			return true
		}
	}
	return false
}

func inRange(call string, n uint64) {
	if n > limit {
		panic("bide/syncs: " + call + " of a Sequencer to " + strconv.FormatUint(n, 10))
	}
}

// CancelWaiters ends the waits of all who wait for what is not reached, with [ErrClosed], and returns when they are
// ended. It is not a Close: whoever comes after it waits. So does one who has looked at a flag of yours before and does
// not wait yet: to give up, have them wait with an Event beside it ([WaitAny]), or under a scope.
func (s *Sequencer) CancelWaiters() { s.flush() }

// Close ends the waits of all who wait for what is not reached, and of all who come later, with [ErrClosed]. It is
// idempotent.
func (s *Sequencer) Close() {
	s.word.Or(shut) // Q4
	s.flush()
}

// Wait waits until the count is n or more, or returns why ctx ended before, or ErrClosed. Under a canceled context it
// returns its error even if n is reached.
func (s *Sequencer) Wait(ctx context.Context, n uint64) error {
	notNil("Wait of a Sequencer", ctx)
	return s.wait(ctx, n)
}

// At is the count's reaching n as a source for [WaitAny] and [WaitAll]. It allocates the source, 16 bytes, which can be
// used again.
func (s *Sequencer) At(n uint64) Waitable { return &point{s, n} }

func (s *Sequencer) wait(ctx context.Context, n uint64) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	if o := s.look(n); o != park.Pending {
		return failureOf(ctx, o)
	}
	w := park.Get()
	o := s.waitWith(ctx, n, w)
	park.Put(w) // not deferred: a waiter that a panic passed by may be filed in the context
	return failureOf(ctx, o)
}

func (s *Sequencer) waitWith(ctx context.Context, n uint64, w *park.Waiter) (o park.Outcome) {
	node := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever)
	if o = s.add(n, node, w, t, park.Woken); o != park.Pending {
		w.Withdraw(t)
		return o
	}
	o = safeWait(ctx, w, t, park.KindSequencer, func(park.Outcome) { s.remove(n, node) })
	if o != park.Woken {
		s.remove(n, node)
	}
	return o
}

// look is Woken if n is reached, or else Closed if that is so.
func (s *Sequencer) look(n uint64) park.Outcome {
	switch c := s.word.Load(); {
	case c&^shut >= n:
		return park.Woken
	case c&shut != 0:
		return park.Closed
	}
	return park.Pending
}

// reaches reports whether somebody waits for c or less.
func (s *Sequencer) reaches(c uint64) bool {
	return s.lowest.Load()-1 < c // 0 - 1 is more than any count
}

// add queues w at n, unless n is reached or the sequencer closed.
//
// Preconditions: n is not 0, which is reached from the first, and in lowest means nobody.
func (s *Sequencer) add(n uint64, node *park.Node, w *park.Waiter, t park.Token, o park.Outcome) park.Outcome {
	step.At("sequencer.lock")
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.lowest.Load()
	if old == 0 || n < old {
		s.lowest.Store(n) // Q5
	}
	step.At("sequencer.recheck")
	switch s.look(n) {
	case park.Woken:
		s.lowest.Store(old)
		return o
	case park.Closed:
		s.lowest.Store(old)
		return park.Closed
	}
	s.levels.make(n).queue.PushBack(node, w, t, o)
	return park.Pending
}

// remove takes a waiter out that waits at n, if it is in.
func (s *Sequencer) remove(n uint64, node *park.Node) {
	step.At("sequencer.remove")
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.levels.find(n)
	if x == nil || !x.queue.Remove(node) || !x.queue.Empty() {
		return
	}
	s.levels.drop(x)
	s.lowest.Store(s.levels.least()) // Q6
}

// release releases those whose number is reached.
func (s *Sequencer) release() {
	var woken park.Batch
	step.At("sequencer.release")
	s.mu.Lock()
	s.reached(&woken)
	s.mu.Unlock()
	woken.Unpark()
}

// reached resolves those whose number is reached.
//
// Preconditions: mu is held.
func (s *Sequencer) reached(woken *park.Batch) {
	for x := s.levels.first(); x != nil && x.n <= s.Get(); x = s.levels.first() {
		woken.Resolve(&x.queue, park.All)
		s.levels.drop(x)
	}
	step.At("sequencer.lowest")
	s.lowest.Store(s.levels.least()) // Q6
}

// flush releases those whose number is reached, and ends the waits of all others.
func (s *Sequencer) flush() {
	var ended park.Batch
	step.At("sequencer.flush")
	s.mu.Lock()
	s.reached(&ended)
	for x := s.levels.first(); x != nil; x = s.levels.first() {
		ended.ResolveAs(&x.queue, park.All, park.Closed)
		s.levels.drop(x)
	}
	s.lowest.Store(0) // Q6
	s.mu.Unlock()
	ended.Unpark()
}

// A point is a Sequencer and a number.
type point struct {
	s *Sequencer
	n uint64
}

func (p *point) look() park.Outcome { return p.s.look(p.n) }

func (p *point) add(n *park.Node, w *park.Waiter, t park.Token, o park.Outcome) park.Outcome {
	return p.s.add(p.n, n, w, t, o)
}

func (p *point) remove(n *park.Node) { p.s.remove(p.n, n) }
