package clock

import (
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var preciseKernel = kernelClock{id: unix.CLOCK_MONOTONIC, monotonic: true, now: Now, zero: monotonicZero}

func newPreciseAlarm(f func(Instant)) Alarm {
	k := &kick{open: preciseKernel.open}
	return &runtimeAlarm{f: f, poke: &poker{poke: k.set, due: Forever}}
}

// A kick wakes the runtime's poller at an instant, by a timerfd that nobody reads: each expiration is an event, read or
// not, since the poller asks for edges. It need not be trusted with anything: if it cannot be had, or fails, the alarm
// is late; if it expires for nothing, a thread looks for nothing. And no goroutine waits for it, which would have to be
// started, woken, and run before the one that it is all about.
type kick struct {
	open  func() (kernelTimer, error)
	timer kernelTimer // opened when it is first set, and closed when the alarm is collected
}

// set sets the timer; Forever stops it. One that has failed is opened again the next time: most reasons pass.
//
// Preconditions: the alarm's mu held.
func (k *kick) set(at Instant) {
	if k.timer == nil && at != Forever {
		timer, err := k.open()
		if err != nil {
			return
		}
		k.timer = timer
	}
	var err error
	switch {
	case at != Forever:
		err = k.timer.settime(at)
	case k.timer != nil:
		err = k.timer.stop()
	}
	if err != nil {
		k.timer.close()
		k.timer = nil
	}
}

// monotonicZero is what CLOCK_MONOTONIC shows at instant 0. It is Go's monotonic clock, but package time does not say
// what it showed at base. So it is found once, by a reading of the one between two of the other: taken to belong to
// the first of the two it is too large, if anything, by as much as lies between them. Alarms are late by that, some
// tenths of a microsecond, and not early.
var monotonicZero = sync.OnceValue(func() int64 {
	zero, width := int64(0), time.Duration(math.MaxInt64)
	for range 10 {
		before := Now()
		ns := kernelNow(unix.CLOCK_MONOTONIC)
		if w := Now().Sub(before); w < width {
			zero, width = ns-int64(before), w
		}
	}
	return zero
})

// kernelNow reads a clock that the kernel is known to have.
func kernelNow(id int32) int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts)
	return ts.Nano()
}
