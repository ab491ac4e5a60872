package timer

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer/queue"
)

// A Service looks at entries when their time has come. It has no goroutine: each shard keeps one alarm of its clock,
// set for the next look. Safe for concurrent use; Schedule, Cover and Cancel allocate nothing.
//
// The default service is coarse: a wheel with a tick of 2^20 ns (1.05 ms), deadlines are rounded up to it, and entries
// are spread over a few shards by the processor that links them. Schedule, Cover and Cancel take constant time. Cancel
// leaves the alarm as it is: when it finds nothing, it is not set again.
//
// Every other service is exact to the nanosecond: a heap in one shard, logarithmic in what is pending. Cancel of the
// last entry clears the alarm.
type Service struct {
	clock  clock.Clock
	tell   telling
	own    bool    // of NewService: it may have a cap, and may be closed
	cap    int     // 0: none
	shards []shard // the last one is for bubbles, if there can be any
	spread sync.Pool
	turn   atomic.Uint32
}

// coarse is the tick of the default service, as a shift.
const coarse = 20

// exact, in the place of a shift, is a service without ticks: a heap.
const exact = 0xff

// maxShards bounds what Next and Stats visit, and what an idle machine with many processors keeps.
const maxShards = 16

var def = newService(clock.Monotonic(), clock.Monotonic().NewAlarm, min(runtime.GOMAXPROCS(0), maxShards), coarse)

// Default is the process's service for timeouts, on the monotonic clock.
func Default() *Service { return def }

var precise = sync.OnceValue(func() *Service {
	return newService(clock.Monotonic(), clock.NewPreciseAlarm, 1, exact)
})

// Precise is the process's service for what has to come at its time, within some tens of microseconds on Linux: its
// alarm is [clock.NewPreciseAlarm]'s, which waits for the last microseconds in a loop. Elsewhere that is the runtime's
// timer, a millisecond late or more. Timers and sleeps with a small [Tolerance] are on it. Scheduling what comes next
// costs a system call.
func Precise() *Service { return precise() }

// NewService returns a service of its own on c, exact to the clock's nanosecond. Most programs never call it: [For] is
// the one that timers and scopes on c share. Option: [Cap].
func NewService(c clock.Clock, opts ...Option) *Service {
	if c == nil {
		panic("bide/timer: NewService with a nil Clock")
	}
	o := gather("NewService", forService, opts)
	s := newService(c, c.NewAlarm, 1, exact)
	s.own, s.cap = true, o.cap
	return s
}

func newService(c clock.Clock, alarm func(func(clock.Instant)) clock.Alarm, n int, shift uint8) *Service {
	s := &Service{clock: c, tell: tellingOf(c)}
	s.shards = make([]shard, n, n+1)
	if s.tell != never {
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
		sh.alarm = alarm(func(now clock.Instant) { sh.drive(now) })
	}
	if n > 1 {
		s.spread.New = func() any { return &s.shards[s.turn.Add(1)%uint32(n)] }
	}
	return s
}

// Clock is the clock that the service drives.
func (s *Service) Clock() clock.Clock { return s.clock }

// ErrClosed is what TrySchedule returns on a service that is closed.
var ErrClosed = errors.New("bide/timer: the service is closed")

// Schedule links e, or moves it, so that the driver looks at it at or after at, and as soon as the tick and the clock's
// alarm allow. An instant that has passed is looked at at once, one within the current tick at its end, by the driver's
// goroutine; [clock.Forever] takes e out.
// On a closed service it does nothing.
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
	if !sh.closed {
		isNext = sh.move(e, at)
	}
	sh.mu.Unlock()
	return isNext
}

// TrySchedule is Schedule with regard to the [Cap] of the service: an entry that would be one too many is refused with a
// [*FullError]. One that is linked may always be moved. On a closed service it returns [ErrClosed].
func (s *Service) TrySchedule(e *Entry, at clock.Instant) (isNext bool, err error) {
	if at == clock.Forever || e.n.Tag == 0 && e.n.Owner == nil {
		return s.Schedule(e, at), nil
	}
	sh := s.lock(e, at)
	defer sh.mu.Unlock()
	switch {
	case sh.closed:
		return false, ErrClosed
	case s.cap > 0 && e.n.At() == 0 && sh.len() >= s.cap:
		return false, &FullError{s.cap}
	}
	return sh.move(e, at), nil
}

// A FullError is what [Service.TrySchedule] refuses an entry with.
type FullError struct {
	Cap int // of the service
}

// Error says what to do.
func (e *FullError) Error() string {
	return fmt.Sprintf("bide/timer: %d entries are pending, as many as the service's cap allows: cancel some, or try later", e.Cap)
}

// Cover is Schedule for sticky owners, which leave their entry linked while they are idle: it does nothing if the
// driver will look by due anyway. The owner has stored its deadline, and then what Due takes for armed, both with
// sync/atomic, before the call: then either this load of At sees that the driver has unlinked the entry, or the
// driver's Due sees the owner armed.
func (s *Service) Cover(e *Entry, due clock.Instant) {
	step.At("timer.cover")
	if at := e.n.At(); at != 0 && at <= due && (at < 0) == (due < 0) && // else one is of a bubble
		(s.tell != byAsking || s.home(e) != nil && s.home(e).bubble == s.bubbled(due)) {
		return
	}
	s.Schedule(e, due)
}

// Cancel takes e out. was: it was linked; wasNext: its shard was to look at it next, alone or with others. A Fire whose
// Due came before may still be under way: it is the owner's to know.
func (s *Service) Cancel(e *Entry) (was, wasNext bool) {
	sh := s.home(e)
	if sh == nil {
		return false, false
	}
	step.At("timer.cancel")
	sh.mu.Lock()
	defer sh.mu.Unlock()
	wasNext = !sh.bubble && sh.isNext(&e.n)
	return sh.cancel(e), wasNext
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
	sh, bubble := s.home(e), s.bubbled(at)
	if sh == nil || sh.bubble != bubble {
		if sh != nil {
			sh.mu.Lock()
			sh.remove(e)
			sh.rest()
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
	if s.spread.New == nil { // there is one
		return &s.shards[0]
	}
	sh := s.spread.Get().(*shard)
	s.spread.Put(sh)
	return sh
}

// shardFor is the shard for a timer that is made now, due then.
func (s *Service) shardFor(due clock.Instant) *shard {
	return s.pick(s.bubbled(due) || due == clock.Forever && s.tell == bySign && clock.InBubble())
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
