package clock

import (
	"fmt"
	"time"

	"bide.invalid/bide/internal/step"
)

// epoch is the time that a virtual clock stands at when it is new: that of a synctest bubble.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A Virtual is a clock for tests. It stands at zero, and moves when it is told to, by [Virtual.Advance] or by
// [Virtual.Jump]. What comes due on the way is called by the goroutine that moves the clock, in order of time and, for
// equal times, of setting; during each call the clock shows the time that was asked for. So after Advance has returned
// everything that was due has been woken, though not yet run: let the woken goroutines come to rest (synctest.Wait)
// before looking at what they did. That holds while one goroutine moves the clock, and not from a function that it calls.
//
// Times at its edge are its own: it starts at midnight UTC of January 1, 2000 (see [Virtual.Time]), wherever the
// real clock stands. Safe for concurrent use.
type Virtual struct {
	mu     step.Mutex
	now    Instant
	moving int    // calls of Advance and Jump under way
	sets   uint64 // ordinal of the latest Set, for order among equals
	alarms map[*virtualAlarm]struct{}
}

// NewVirtual returns a virtual clock that stands at zero.
func NewVirtual() *Virtual { return &Virtual{alarms: map[*virtualAlarm]struct{}{}} }

// Now is where the clock stands.
func (v *Virtual) Now() Instant {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// FromTime is the inverse of [Virtual.Time].
func (v *Virtual) FromTime(t time.Time) Instant { return Instant(t.Sub(epoch)) }

// Time is the clock's own time: midnight UTC of January 1, 2000, plus i. ok is false: to the standard library, which
// compares with time.Now, it would be a deadline long past.
func (v *Virtual) Time(i Instant) (t time.Time, ok bool) { return epoch.Add(time.Duration(i)), false }

// String is "virtual".
func (v *Virtual) String() string { return "virtual" }

// Advance moves the clock by d, and on the way calls what comes due. It panics if d is negative: virtual time does not
// run backwards either.
func (v *Virtual) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("bide/clock: Advance by %v: a clock does not run backwards", d))
	}
	v.start()
	defer v.stop()
	end := min(v.now.Add(d), Forever-1) // no reading is Forever
	for a := v.earliest(); a != nil && a.at <= end; a = v.earliest() {
		v.call(a)
	}
	v.now = max(v.now, end)
}

// Jump moves the clock to the next instant that somebody set an alarm for, calls what is due then, and reports true;
// or it reports false, because nothing waits for time. It is the hook for an autojump: a test's driver that calls it
// whenever everybody is at rest spends no time on sleeping. Far deadlines are reached in several hops, so one Jump may
// wake nobody: call it until what you wait for has happened. It never passes a deadline.
func (v *Virtual) Jump() bool {
	v.start()
	defer v.stop()
	a := v.earliest()
	if a == nil {
		return false
	}
	for end := a.at; a != nil && a.at <= end; a = v.earliest() {
		v.call(a)
	}
	return true
}

// start locks the clock for a call that moves it.
func (v *Virtual) start() {
	v.mu.Lock()
	v.moving++
}

// stop unlocks it. If a function panicked, or called Goexit, alarms that are due are left behind.
func (v *Virtual) stop() {
	v.moving--
	for a := v.earliest(); v.moving == 0 && a != nil && a.at <= v.now; a = v.earliest() {
		delete(v.alarms, a)
		go a.f(v.now)
	}
	v.mu.Unlock()
}

// earliest is the alarm to be called next, or nil. Linear: there is one alarm a timer service, not one a timer.
// Preconditions: mu held.
func (v *Virtual) earliest() (first *virtualAlarm) {
	for a := range v.alarms {
		if first == nil || a.at < first.at || a.at == first.at && a.set < first.set {
			first = a
		}
	}
	return first
}

// call moves the clock to a's instant and calls its function, unlocked.
// Preconditions: mu held; it is again on return.
func (v *Virtual) call(a *virtualAlarm) {
	v.now = max(v.now, a.at)
	delete(v.alarms, a)
	now := v.now
	v.mu.Unlock()
	defer v.mu.Lock() // also when f panics: Advance's caller may recover
	a.f(now)
}

// NewAlarm returns an alarm that the clock's movement calls.
func (v *Virtual) NewAlarm(f func(now Instant)) Alarm { return &virtualAlarm{v: v, f: f} }

type virtualAlarm struct {
	v *Virtual
	f func(Instant)

	// under v.mu
	at  Instant
	set uint64
}

// Set files the alarm. If at has passed, whoever moves the clock calls the function next; if nobody does, a goroutine
// calls it at once, since the clock may not move again.
func (a *virtualAlarm) Set(at Instant) {
	v := a.v
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.alarms, a)
	switch {
	case at == Forever:
		return
	case at <= v.now && v.moving == 0:
		go a.f(v.now)
		return
	}
	v.sets++
	a.at, a.set = max(at, v.now), v.sets
	v.alarms[a] = struct{}{}
}

func (a *virtualAlarm) Clear() {
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	delete(a.v.alarms, a)
}
