package clock

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// wall is CLOCK_REALTIME.
type wall struct{}

// wallZero is the time at instant 0: between a bubble's, which starts in 2000, and the present, so that the sign of an
// instant says where it was read. The start of the process would not do: a step back across it makes readings negative
// outside of bubbles, and layers above would take deadlines after it for those of another world.
var wallZero = time.Unix(1577836800, 0) // 2020-01-01 UTC

// With cancel-on-set each step of the clock wakes the goroutine that waits, which looks at the clock and sets the timer
// again. The kernel itself looks at its timers after a step, so this is a second line: a step past the instant is seen
// whatever becomes of the first. It does not call the alarm's function: who set an alarm is promised one call, not
// before its time, on this clock as on the others.
var wallKernel = kernelClock{
	id:    unix.CLOCK_REALTIME,
	flags: unix.TFD_TIMER_CANCEL_ON_SET,
	now:   wall{}.Now,
	zero:  wallZero.UnixNano,
}

var probeWall = sync.OnceValue(func() error { return wallKernel.probe("Realtime") })

func newRealtime() (Clock, error) {
	if err := probeWall(); err != nil {
		return nil, err
	}
	return wall{}, nil
}

// Now needs no care in a bubble: time.Now shows the bubble's time.
func (c wall) Now() Instant { return c.FromTime(time.Now()) }

// FromTime goes by the wall reading: wallZero has no other.
func (wall) FromTime(t time.Time) Instant { return Instant(t.Sub(wallZero)) }

func (wall) Time(i Instant) (time.Time, bool) { return wallZero.Add(time.Duration(i)), true }

func (wall) NewAlarm(f func(Instant)) Alarm { return newTimerfdAlarm(&wallKernel, f) }
func (wall) String() string                 { return "realtime" }
