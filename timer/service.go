package timer

import (
	"runtime"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer/queue"
)

// A Service looks at entries when their time has come. It has no goroutine: each shard keeps one alarm of its clock,
// set for the next look. Cancel leaves the alarm as it is: when it finds nothing, it is not set again.
//
// On the monotonic clock it is coarse: a tick is 2^20 ns (1.05 ms), deadlines are rounded up to it, and entries are
// spread over a few shards by the processor that links them. On any other clock one shard is exact to the
// nanosecond. Schedule, Cover and Cancel take constant time and allocate nothing.
type Service struct {
	clock  clock.Clock
	real   bool    // the monotonic clock, whose negative instants are a synctest bubble's
	shards []shard // the last one is for bubbles, if real
	spread sync.Pool
	turn   atomic.Uint32
}

// coarse is the tick of the monotonic clock, as a shift.
const coarse = 20

// exact, in the place of a shift, is a service without ticks: a heap.
const exact = 0xff

// maxShards bounds what Next and Stats visit, and what an idle machine with many processors keeps.
const maxShards = 16

var def = newService(clock.Monotonic(), min(runtime.GOMAXPROCS(0), maxShards), coarse)

// Default is the process's service, on the monotonic clock.
func Default() *Service { return def }

// NewService returns a service of its own on c, exact to the clock's nanosecond. Most programs never call it: [For]
// is the one that timers and scopes on c share.
func NewService(c clock.Clock) *Service { return newService(c, 1, exact) }

func newService(c clock.Clock, n int, shift uint8) *Service {
	s := &Service{clock: c, real: c == clock.Monotonic()}
	s.shards = make([]shard, n, n+1)
	if s.real {
		s.shards = append(s.shards, shard{bubble: true})
	}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.s, sh.id, sh.target = s, uint32(i+1), clock.Forever
		if shift == exact {
			sh.heap = new(queue.Heap4[Owner])
		} else {
			sh.wheel = new(queue.Wheel[Owner])
			sh.wheel.Init(shift)
		}
		sh.alarm = c.NewAlarm(func(now clock.Instant) { sh.drive(now) })
	}
	s.spread.New = func() any { return &s.shards[s.turn.Add(1)%uint32(n)] }
	return s
}

// Clock is the clock that the service drives.
func (s *Service) Clock() clock.Clock { return s.clock }

// Schedule links e, or moves it, so that the driver looks at it at or after at, and as soon as the tick and the clock's
// alarm allow. An instant that has passed is looked at at once, one within the current tick at its end, by the driver's
// goroutine; [clock.Forever] takes e out.
// isNext: nothing in e's shard is looked at before it, so the alarm was moved.
func (s *Service) Schedule(e *Entry, at clock.Instant) (isNext bool) {
	if e.n.Tag == 0 && e.n.Owner == nil {
		panic("bide/timer: Schedule of an Entry without an owner: call Init first")
	}
	if at == clock.Forever {
		s.Cancel(e)
		return false
	}
	sh := s.lock(e, at)
	sh.remove(e)
	isNext = sh.add(e, at)
	sh.mu.Unlock()
	return isNext
}

// Cover is Schedule for sticky owners, which leave their entry linked while they are idle: it does nothing if the
// driver will look by due anyway. The owner has stored its deadline, and then what Due takes for armed, both with
// sync/atomic, before the call: then either this load of at sees that the driver has unlinked the entry, or the
// driver's Due sees the owner armed.
func (s *Service) Cover(e *Entry, due clock.Instant) {
	step.At("timer.cover")
	if at := e.n.At(); at != 0 && at <= due && (at < 0) == (due < 0) { // not one of a bubble
		return
	}
	s.Schedule(e, due)
}

// Cancel takes e out. was: it was linked; wasNext: its shard was to look at it next, alone or with others. (The alarm stays as it is, and wakes the
// driver for nothing.) A Fire whose Due came before may still be under way: it is the owner's to know.
func (s *Service) Cancel(e *Entry) (was, wasNext bool) {
	sh := s.home(e)
	if sh == nil {
		return false, false
	}
	step.At("timer.cancel")
	sh.mu.Lock()
	defer sh.mu.Unlock()
	wasNext = !sh.bubble && sh.isNext(&e.n)
	if !sh.remove(e) {
		return false, false
	}
	sh.stats.Canceled++
	return true, wasNext
}

// home is the shard that e is or was linked in, or nil.
func (s *Service) home(e *Entry) *shard {
	if e.n.Tag == 0 || int(e.n.Tag) > len(s.shards) {
		return nil
	}
	return &s.shards[e.n.Tag-1]
}

// lock locks the shard that e is to be linked in, having taken it out of any other.
func (s *Service) lock(e *Entry, at clock.Instant) *shard {
	sh, bubble := s.home(e), s.real && at < 0
	if sh == nil || sh.bubble != bubble {
		if sh != nil {
			sh.mu.Lock()
			sh.remove(e)
			sh.mu.Unlock()
		}
		sh = s.pick(bubble)
		e.n.Tag = sh.id
	}
	step.At("timer.lock")
	sh.mu.Lock()
	return sh
}

// pick spreads entries over the shards by processor: a sync.Pool keeps what a processor put there last. (Not by the
// entry's address: two processors that meet in most shards are eight times slower.)
func (s *Service) pick(bubble bool) *shard {
	if bubble {
		return &s.shards[len(s.shards)-1]
	}
	sh := s.spread.Get().(*shard)
	s.spread.Put(sh)
	return sh
}

// Next is when a driver will look next: a lower bound of the next deadline, since a look may find that the deadline
// was moved, or move an entry to a finer level.
func (s *Service) Next() (at clock.Instant, ok bool) {
	at = clock.Forever
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		if look, some := sh.next(); some {
			at, ok = min(at, look), true
		}
		sh.mu.Unlock()
	}
	return at, ok
}
