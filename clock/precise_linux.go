package clock

import (
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var preciseKernel = kernelClock{id: unix.CLOCK_MONOTONIC, monotonic: true, now: Now, zero: monotonicZero}

func newPreciseAlarm(f func(Instant)) Alarm { return newTimerfdAlarm(&preciseKernel, f) }

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
