package clock

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The state of a timerfdAlarm, under mu.
//
//	clear      at is Forever, nobody waits
//	set        at is an instant, and a goroutine waits: it is in read, or on its way to look
//	leaving    at is Forever; the goroutine that waited is made to return from read, and will look
//	elsewhere  at is Forever, nobody waits, there is no timer: what is set, if anything, is with the portable alarm
//
//	A1 clear → set               Set: the timer is opened if need be, and set; a goroutine starts
//	A2 set → set                 Set: the timer is set
//	A3 set → leaving             Clear: the timer is stopped
//	A4 leaving → set             Set: the timer is set; the goroutine stays
//	A5 leaving → clear           the goroutine looks: nothing is set, and it ends
//	A6 set → clear               the goroutine looks: at has come. It calls f, and ends
//	A7 set → set                 the goroutine looks: not yet. It sets the timer again, and reads
//	A8 clear → elsewhere         Set: no timer can be opened
//	A9 all others → elsewhere    the timer fails: in Set, in Clear, or in the goroutine
//	A10 elsewhere → clear        Set, Clear: the portable alarm is cleared; a Set goes on with A1
//
//	I1 while mu is free, at is an instant only if a goroutine waits, and the timer wakes it by then or has done so
//	I2 no two goroutines wait for one timer
//
// A goroutine that comes from read knows nothing by it: who moves the alarm before it looks has set the timer anew, and
// if it finds at in the future it sets the timer itself. So neither the expiration of an earlier setting, nor the end
// of an earlier stop, nor a step of the clock calls f early; and one that sleeps for a second between read and its look
// is late, and that is all. Once it has taken A6 it has nothing more to do with the timer, so f may take as long as it
// likes: the next Set starts another goroutine.

// A timerfdAlarm is an alarm over a timer of the kernel, which is opened at the first Set and stays until the alarm is
// collected. A goroutine waits only while it is set, and keeps it from being collected, as a runtime timer would.
type timerfdAlarm struct {
	f        func(Instant)
	now      func() Instant
	open     func() (kernelTimer, error)
	portable runtimeAlarm // in bubbles, and while there is no timer

	mu        sync.Mutex // before the portable alarm's
	timer     kernelTimer
	at        Instant
	waiting   bool
	elsewhere bool
}

// A kernelTimer is a timerfd, or a test's idea of one. Its methods but read are called with mu held.
type kernelTimer interface {
	// settime sets the timer to at, which may have passed, and forgets an expiration that was not read.
	settime(at Instant) error
	// stop stops it; read returns.
	stop() error
	// read waits for an expiration. If the error is passing, it has returned for another reason: the clock was
	// stepped, the timer was stopped, perhaps set again since.
	read() error
	// close makes read return, with an error that is not passing.
	close()
}

func passing(err error) bool {
	return err == nil || errors.Is(err, unix.ECANCELED) || errors.Is(err, os.ErrDeadlineExceeded)
}

func newTimerfdAlarm(k *kernelClock, f func(Instant)) *timerfdAlarm {
	a := &timerfdAlarm{f: f, now: k.now, open: k.open, at: Forever}
	a.portable.f = f
	if !k.monotonic {
		a.portable.now, a.portable.look = k.now, time.Second
	}
	return a
}

// Set costs one system call, and if the alarm was clear the start of a goroutine. In a bubble it is the portable alarm
// that is set: a goroutine that waits for the kernel is never at rest in the sense of synctest.
func (a *timerfdAlarm) Set(at Instant) {
	if InBubble() {
		a.portable.Set(at)
		return
	}
	a.set(at)
}

// Clear costs as much as Set.
func (a *timerfdAlarm) Clear() {
	if InBubble() {
		a.portable.Clear()
		return
	}
	a.set(Forever)
}

// set sets the alarm to at; Forever clears it.
func (a *timerfdAlarm) set(at Instant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.elsewhere {
		a.portable.Clear()
		a.elsewhere = false // A10
	}
	was := a.at
	a.at = at
	switch {
	case at == Forever && was == Forever:
	case at == Forever:
		if a.timer.stop() != nil { // A3
			a.fall() // A9
		}
	default:
		a.arm()
	}
}

// arm has a goroutine wait until a.at.
//
// Preconditions: mu held; a.at is an instant.
func (a *timerfdAlarm) arm() {
	if a.timer == nil {
		timer, err := a.open()
		if err != nil {
			a.fall() // A8
			return
		}
		a.timer = timer
	}
	if a.timer.settime(a.at) != nil { // A2, A4, A7
		a.fall() // A9
		return
	}
	if !a.waiting {
		a.waiting = true // A1
		go a.wait(a.timer)
	}
}

// fall leaves what is set to the portable alarm. The next Set tries again to open a timer: most reasons pass.
//
// Preconditions: mu held.
func (a *timerfdAlarm) fall() {
	if a.timer != nil {
		a.timer.close() // who waits for it will see that it is the alarm's no more
		a.timer, a.waiting = nil, false
	}
	if a.at != Forever {
		a.portable.Set(a.at)
	}
	a.at, a.elsewhere = Forever, true
}

// wait is what the goroutine does.
func (a *timerfdAlarm) wait(timer kernelTimer) {
	for {
		now, then := a.look(timer, timer.read())
		switch then {
		case call:
			a.f(now)
			return
		case end:
			return
		}
	}
}

// What the goroutine does after its look.
type then int

const (
	again then = iota
	call
	end
)

// look is the goroutine's look at the alarm and at the clock, when read has returned err.
func (a *timerfdAlarm) look(timer kernelTimer, err error) (now Instant, _ then) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch now = a.now(); {
	case a.timer != timer: // after A9; somebody else may wait for another timer
		return now, end
	case a.at == Forever:
		a.waiting = false // A5
		return now, end
	case !passing(err):
		a.fall() // A9
		return now, end
	case now < a.at:
		a.arm()
		return now, again // after A9, to read that the timer is closed
	}
	a.at, a.waiting = Forever, false // A6
	return now, call
}
