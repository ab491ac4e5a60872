package clock

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// boot is CLOCK_BOOTTIME.
type boot struct{}

// bootZero is what the kernel's clock shows at instant 0. Read at package initialization, as base is.
var bootZero = kernelNow(unix.CLOCK_BOOTTIME)

var bootKernel = kernelClock{id: unix.CLOCK_BOOTTIME, now: boot{}.Now, zero: func() int64 { return bootZero }}

var probeBoot = sync.OnceValue(func() error { return bootKernel.probe("Boottime") })

func newBoottime() (Clock, error) {
	if err := probeBoot(); err != nil {
		return nil, err
	}
	return boot{}, nil
}

// Now is the monotonic clock's in a bubble, whose fake time knows no suspend.
func (boot) Now() Instant {
	if now := Now(); bubbled(now) {
		return now
	}
	return Instant(kernelNow(unix.CLOCK_BOOTTIME) - bootZero)
}

func (c boot) FromTime(t time.Time) Instant {
	d := time.Until(t) // before the reading that it is added to: the result may be late by a moment, never early
	return from(c.Now(), d)
}

func (c boot) Time(i Instant) (time.Time, bool) {
	d := i.Sub(c.Now()) // first: see FromTime
	return time.Now().Add(d), true
}

func (boot) NewAlarm(f func(Instant)) Alarm { return newTimerfdAlarm(&bootKernel, f) }
func (boot) String() string                 { return "boottime" }
