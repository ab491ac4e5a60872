package syncs

import (
	"context"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A Semaphore has a number of permits, its size, of which a caller takes one or several, and gives them back. The zero
// Semaphore has none, until SetSize.
//
// # Fairness
//
// It is FIFO, whatever the numbers: who asks for many is not overtaken by those who ask for few, and neither Acquire nor
// TryAcquire takes anything while others wait. When the first in line leaves, those behind it who fit go on at once. A
// call is linear in the number of those whose wait it ends.
//
// # Cancellation
//
// An Acquire that returns an error has taken nothing, and is out of the line. One that was canceled in the instant in
// which it was given its permits has them, and returns nil.
//
// # Close
//
// There is nothing to close. SetSize(0) refuses whoever waits and whoever comes.
//
// # Memory model
//
// A Release or SetSize synchronizes before the return of every Acquire or TryAcquire that takes permits after it.
//
// # State
//
//	word  bit 0: queued, somebody is in line; the rest: free, permits that are not taken. Less than none are free while
//	      more are taken than a size that has shrunk
//	size  permits there are; changed under mu, and resizing while S4 goes on
//	line  those who wait, in the order of their coming; under mu
//
//	S1 take    free − n         Acquire, TryAcquire: CAS, while not queued and it fits
//	S2 queue   queued: set      Acquire, under mu: it does not fit now, but could
//	S3 return  free + n         Release: CAS while not queued; else under mu, and then S5
//	S4 resize  size, free ± n   SetSize, under mu; on a shrink S6 before, then S5
//	S5 grant   free − n         under mu: the first in line fits: resolved Woken, with its permits. With the last one
//	                            queued is cleared
//	S6 refuse                   under mu: somebody in line wants more than the size: resolved tooLarge
//	S7 leave                    under mu: a waiter that was canceled takes itself out; then S5
//
//	I1 free ≤ size
//	I2 while mu is free, queued is set if and only if the line is not empty
//	I3 while mu is free the first in line does not fit, or is canceled and about to leave
//	I4 while mu is free nobody in line wants more than the size, but who is canceled and about to leave
//	I5 while queued is set the word is changed under mu only
type Semaphore struct {
	_    noCopy
	word atomic.Int64
	size atomic.Int64

	mu   step.Mutex // before a timer shard's; nothing of a user is called with it held
	line line
	counts
}

// An acquirer is an Acquire that waits. It is like a park.Node, with the number that is asked for.
type acquirer struct {
	links ilist.Links[acquirer]
	w     *park.Waiter
	t     park.Token
	n     int64
}

func (a *acquirer) Links() *ilist.Links[acquirer] { return &a.links }

// A line is a list of them.
type line = ilist.List[acquirer, *acquirer]

var acquirers = sync.Pool{New: func() any { return new(acquirer) }}

// tooLarge is the outcome of a waiter that can never get what it asks for.
const tooLarge = park.User

const (
	inLine     = 1         // queued, in the word
	permit     = 2         // one that is free
	maxPermits = 1<<62 - 1 // as many as the word can count

	// In size while that and the word change, under mu: then a Release, which compares the two to find out whether it
	// gives back too many, has to come under mu as well. (Not found out is one that stands still between its looks and
	// its compare-and-swap until a further SetSize has made the word what it was. A Release that is right always passes.)
	resizing = -maxPermits
)

// NewSemaphore returns a semaphore with n permits. It panics if n is negative.
func NewSemaphore(n int64) *Semaphore {
	notNegative("NewSemaphore", n)
	s := new(Semaphore)
	s.SetSize(n)
	return s
}

// Acquire takes n permits, waiting for them as long as ctx allows. It returns nil if and only if it has taken them. If n
// is more than the size it returns [ErrTooLarge], at once, or when the size becomes too small while it waits. No permits
// (n = 0) are always there. It panics if n is negative.
func (s *Semaphore) Acquire(ctx context.Context, n int64) error {
	notNil("Acquire of a Semaphore", ctx)
	notNegative("Acquire of a Semaphore", n)
	if ctx.Err() == nil && s.take(n) {
		return nil
	}
	return s.acquireSlow(ctx, n)
}

// TryAcquire takes n permits if they are there and nobody waits, and reports whether it has. It panics if n is negative.
func (s *Semaphore) TryAcquire(n int64) bool {
	notNegative("TryAcquire of a Semaphore", n)
	return s.take(n)
}

// Release gives n permits back. It panics if fewer are taken, or if n is negative. It need not be the goroutine that
// took them.
func (s *Semaphore) Release(n int64) {
	notNegative("Release of a Semaphore", n)
	v := s.word.Load()
	if v&inLine == 0 && n <= s.size.Load()-v>>1 && s.word.CompareAndSwap(v, v+n*permit) { // S3
		return
	}
	s.releaseSlow(n)
}

// SetSize changes how many permits there are. More: those first in line who fit now get theirs. Less: nothing is taken
// away from who has permits, and nothing is given until enough of them are back; who waits for more than n is refused
// with [ErrTooLarge]. It panics if n is negative; more than 1<<62 - 1 are that many.
func (s *Semaphore) SetSize(n int64) {
	notNegative("SetSize of a Semaphore", n)
	n = min(n, maxPermits)
	step.At("semaphore.resize")
	s.mu.Lock()
	var refused line
	more := n - s.size.Load()
	if more < 0 {
		refused = s.refuseLocked(n)
	}
	s.size.Store(resizing)
	s.word.Add(more * permit) // S4
	step.At("semaphore.size")
	s.size.Store(n)
	ended := s.grantLocked()
	s.mu.Unlock()
	unpark(&refused)
	unpark(&ended)
}

// Size returns how many permits there are, taken or not.
func (s *Semaphore) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size.Load()
}

// Stats reports how many permits are taken and who waits.
func (s *Semaphore) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats(s.size.Load() - s.word.Load()>>1)
}

func notNegative(call string, n int64) {
	if n < 0 {
		panic("bide/syncs: " + call + " with a negative number") // not the number: TryAcquire is to be inlined
	}
}

// take: S1. None are always there.
func (s *Semaphore) take(n int64) bool {
	for {
		v := s.word.Load()
		if v&inLine != 0 || n > v>>1 {
			return n == 0
		}
		step.At("semaphore.take")
		if s.word.CompareAndSwap(v, v-n*permit) {
			return true
		}
	}
}

func (s *Semaphore) acquireSlow(ctx context.Context, n int64) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	if s.take(n) {
		return nil
	}
	w := park.Get()
	a := acquirers.Get().(*acquirer)
	a.w, a.n = w, n
	a.t = w.Arm(clock.Forever)
	o := s.queue(a)
	if o == park.Pending {
		o = safeWait(ctx, w, a.t, park.KindSemaphore, func(o park.Outcome) { s.undo(a, o) })
		if o == park.Canceled {
			s.leave(a)
		}
	} else {
		w.Withdraw(a.t)
	}
	a.w = nil
	acquirers.Put(a) // not deferred: one that a panic passed by is left to the collector
	park.Put(w)
	switch o {
	case park.Woken:
		return nil
	case tooLarge:
		return ErrTooLarge
	}
	return park.Reason(ctx)
}

// queue looks once more: Woken, it has taken; tooLarge; or else a is in line, and it is Pending.
func (s *Semaphore) queue(a *acquirer) park.Outcome {
	step.At("semaphore.queue")
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		v := s.word.Load()
		step.At("semaphore.set")
		switch {
		case v&inLine == 0 && a.n <= v>>1:
			if s.word.CompareAndSwap(v, v-a.n*permit) { // S1
				return park.Woken
			}
		case a.n > s.size.Load():
			return tooLarge
		case v&inLine != 0 || s.word.CompareAndSwap(v, v|inLine): // S2
			s.line.PushBack(a)
			s.begin()
			return park.Pending
		}
	}
}

func (s *Semaphore) releaseSlow(n int64) {
	step.At("semaphore.release")
	s.mu.Lock()
	for {
		v := s.word.Load()
		if n > s.size.Load()-v>>1 {
			s.mu.Unlock()
			panic("bide/syncs: release of more permits than are taken")
		}
		step.At("semaphore.return")
		if s.word.CompareAndSwap(v, v+n*permit) { // S3
			break
		}
	}
	ended := s.grantLocked()
	s.mu.Unlock()
	unpark(&ended)
}

// grantLocked takes those out of the line who fit, as far as they are first. The caller unparks them.
func (s *Semaphore) grantLocked() (ended line) {
	v := s.word.Load()
	if v&inLine == 0 {
		return ended
	}
	free := v >> 1
	for a := s.line.Front(); a != nil && a.n <= free; a = s.line.Front() {
		s.line.Remove(a)
		if a.w.Resolve(a.t, park.Woken) { // S5
			free -= a.n
			s.end()
			ended.PushBack(a)
		}
	}
	v = free * permit
	if !s.line.Empty() {
		v |= inLine
	}
	invariant.True(free <= s.size.Load(), "syncs: a Semaphore of which less than nothing is taken")
	s.word.Store(v) // I5
	return ended
}

// refuseLocked takes those out of the line who want more than size. The caller unparks them.
func (s *Semaphore) refuseLocked(size int64) (ended line) {
	for a := s.line.Front(); a != nil; {
		next := s.line.Next(a)
		if a.n > size {
			s.line.Remove(a)
			if a.w.Resolve(a.t, tooLarge) { // S6
				s.fail()
				ended.PushBack(a)
			}
		}
		a = next
	}
	return ended
}

// leave takes out a waiter that was canceled: S7. Those behind it may fit.
func (s *Semaphore) leave(a *acquirer) {
	step.At("semaphore.leave")
	s.mu.Lock()
	s.fail()
	s.line.Remove(a)
	ended := s.grantLocked()
	s.mu.Unlock()
	unpark(&ended)
}

// undo gives back what a waiter that a panic passes by has got.
func (s *Semaphore) undo(a *acquirer, o park.Outcome) {
	switch o {
	case park.Woken:
		s.Release(a.n)
	case tooLarge:
	default:
		s.leave(a)
	}
}

// unpark wakes those whose wait was ended. A moment after its wake-up, an acquirer may be in another line.
func unpark(ended *line) {
	for a := ended.PopFront(); a != nil; a = ended.PopFront() {
		a.w.Unpark()
	}
}
