package timer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
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

// A shard is a wheel, its lock, and its alarm.
//
// Lock order: a shard's lock comes after any lock of an owner, and before the clock's own; no two are held at a time.
// With the lock free, an entry with a look at t has a wake-up coming: target is at most t and the alarm set for it, or
// a driver is under way that has not set the alarm again yet: it is set under the lock.
type shard struct {
	s  *Service
	id uint16

	mu     sync.Mutex
	bubble bool // entries have a runtime timer each, made in their bubble; no wheel
	target clock.Instant
	alarm  clock.Alarm
	wheel  wheel
	free   []*node
	chunks [][]node
	stats  Stats

	_ [64]byte // the next shard's lock is another processor's
}

// coarse is the tick of the monotonic clock, as a shift.
const coarse = 20

// maxShards bounds what Next and Stats visit, and what an idle machine with many processors keeps.
const maxShards = 16

var def = newService(clock.Monotonic(), min(runtime.GOMAXPROCS(0), maxShards), coarse)

// Default is the process's service, on the monotonic clock.
func Default() *Service { return def }

// NewService returns a service of its own on c, exact to the clock's nanosecond. Most programs never call it: [For]
// is the one that timers and scopes on c share.
func NewService(c clock.Clock) *Service { return newService(c, 1, 0) }

func newService(c clock.Clock, n int, shift uint8) *Service {
	s := &Service{clock: c, real: c == clock.Monotonic()}
	s.shards = make([]shard, n, n+1)
	if s.real {
		s.shards = append(s.shards, shard{bubble: true})
	}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.s, sh.id, sh.target = s, uint16(i+1), clock.Forever
		sh.wheel.shift, sh.wheel.open = shift, overdue
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
	if e.owner == nil {
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
	if at := clock.Instant(e.at.Load()); at != 0 && at <= due && (at < 0) == (due < 0) { // not one of a bubble
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
	wasNext = e.slot == sh.wheel.nextSlot()
	if !sh.remove(e) {
		return false, false
	}
	sh.stats.Canceled++
	return true, wasNext && !sh.bubble
}

// home is the shard that e is or was linked in, or nil.
func (s *Service) home(e *Entry) *shard {
	if e.shard == 0 || int(e.shard) > len(s.shards) {
		return nil
	}
	return &s.shards[e.shard-1]
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
		e.shard = sh.id
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

// remove takes e out, if it is linked here.
//
// Preconditions: mu held.
func (sh *shard) remove(e *Entry) bool {
	switch {
	case e.at.Load() == 0:
		return false
	case sh.bubble:
		unlinkBubbled(e)
	default:
		sh.wheel.unlink(e)
	}
	return true
}

// add links e and sets the alarm if need be.
//
// Preconditions: mu held; e is not linked.
func (sh *shard) add(e *Entry, at clock.Instant) (isNext bool) {
	if sh.bubble {
		sh.linkBubbled(e, at)
		return true
	}
	look := sh.wheel.link(e, at)
	if look >= sh.target {
		return false
	}
	now := sh.s.clock.Now()
	if now < 0 && sh.s.real {
		// In a bubble, and a deadline from outside. The alarm must not be moved from here: the runtime would
		// count the duration from the bubble's clock, and every timer of the shard sleep for decades. The next
		// entry that is linked from outside sets it.
		return false
	}
	// The alarm needed the reading of the clock anyway: with base brought forward the look is not too early.
	sh.wheel.unlink(e)
	sh.wheel.forward(int64(now) >> sh.wheel.shift)
	sh.wheel.link(e, at)
	next, _ := sh.wheel.next() // e's look, or that of one for which no alarm could be set, above
	if look = sh.wheel.instant(next); look >= sh.target {
		return false
	}
	sh.target = look
	sh.alarm.Set(look)
	return true
}

// Next is when a driver will look next: a lower bound of the next deadline, since a look may find that the deadline
// was moved, or move an entry to a finer level.
func (s *Service) Next() (at clock.Instant, ok bool) {
	at = clock.Forever
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		if t, some := sh.wheel.next(); some {
			at, ok = min(at, sh.wheel.instant(t)), true
		}
		sh.mu.Unlock()
	}
	return at, ok
}

// Stats are counters of a service since its start. Entries in bubbles are not counted, except as Canceled.
type Stats struct {
	Pending  int           // linked now; a sticky owner's entry counts even when its owner is idle
	Fired    int64         // looks that fired
	Moved    int64         // looks that linked again: moved to a finer level, or a deadline moved later
	Dropped  int64         // looks that found an idle owner
	Canceled int64         // taken out by Cancel
	Wakes    int64         // drivers started
	Worst    time.Duration // longest time from a look's tick to the driver, of those that fired
}

// Stats reads the counters.
func (s *Service) Stats() (sum Stats) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sum.Pending += sh.wheel.count
		sum.Fired += sh.stats.Fired
		sum.Moved += sh.stats.Moved
		sum.Dropped += sh.stats.Dropped
		sum.Canceled += sh.stats.Canceled
		sum.Wakes += sh.stats.Wakes
		sum.Worst = max(sum.Worst, sh.stats.Worst)
		sh.mu.Unlock()
	}
	return sum
}
