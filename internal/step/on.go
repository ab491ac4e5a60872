//go:build bidestep

package step

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// On is true where steps are compiled in.
const On = true

var (
	taken atomic.Uint64
	seed  = sync.OnceValue(func() uint64 {
		s, err := strconv.ParseUint(os.Getenv("BIDE_STEP_SEED"), 10, 64)
		if err != nil {
			s = rand.Uint64()
		}
		fmt.Fprintf(os.Stderr, "bide: steps scheduled with BIDE_STEP_SEED=%d\n", s)
		return s
	})
)

// A Scheduler is asked before each step of a goroutine in a bubble, and returns when the goroutine may take it. If ready
// is not nil, that is not before it reports true; it is to be called when nobody runs.
type Scheduler func(name string, ready func() bool)

var scheduler atomic.Pointer[Scheduler]

// Schedule makes s the one that is asked in bubbles, in the place of the seeded one; nil ends that.
func Schedule(s Scheduler) {
	if s == nil {
		scheduler.Store(nil)
		return
	}
	scheduler.Store(&s)
}

// ask asks the Scheduler, if there is one and this is a bubble, whose time begins in 2000: elsewhere goroutines of
// other tests may be under way.
func ask(name string, ready func() bool) bool {
	s := scheduler.Load()
	if s == nil || time.Now().Year() >= 2020 {
		return false
	}
	(*s)(name, ready)
	return true
}

// At decides what this goroutine does before the step that is named: most of the time it goes on, often it yields,
// seldom it stays away long enough for everybody else to pass. It never blocks for good, and may be called with
// locks held. If there is a Scheduler, that decides.
func At(name string) {
	if ask(name, nil) {
		return
	}
	switch d := decide(seed(), taken.Add(1)); {
	case d < 160:
	case d < 248:
		for range d%4 + 1 {
			runtime.Gosched()
		}
	default:
		rest(time.Duration(d-247) * 10 * time.Microsecond)
	}
}

// rest spins and yields instead of sleeping: in a synctest bubble a sleep would move the fake clock.
func rest(d time.Duration) {
	for n := int(d / (200 * time.Nanosecond)); n > 0; n-- {
		runtime.Gosched()
	}
}

// decide is a hash of seed and step number, 0 to 255.
func decide(seed, n uint64) uint8 {
	x := seed + n*0x9e3779b97f4a7c15
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return uint8(x >> 56)
}

// A Mutex is a sync.Mutex, and who has to wait for it asks the Scheduler: that has to know who can go on.
type Mutex struct{ mu sync.Mutex }

func (m *Mutex) Lock() {
	for !m.mu.TryLock() {
		if scheduler.Load() == nil || !ask("lock", m.free) { // m.free is allocated; without a Scheduler nothing is
			m.mu.Lock()
			return
		}
	}
}

func (m *Mutex) TryLock() bool { return m.mu.TryLock() }
func (m *Mutex) Unlock()       { m.mu.Unlock() }

func (m *Mutex) free() bool {
	if !m.mu.TryLock() {
		return false
	}
	m.mu.Unlock()
	return true
}
