package clock

import (
	"math"
	"time"
)

// An Instant is a reading of a clock: nanoseconds since the clock's base. The monotonic clock's base is the start of
// the process. Arithmetic saturates, at [Forever] and at the most negative value.
type Instant int64

// Forever is later than every reading. It is the deadline of what has none; adding to it leaves it.
const Forever Instant = math.MaxInt64

// Add returns i+d, saturating.
func (i Instant) Add(d time.Duration) Instant {
	s := i + Instant(d)
	switch {
	case i == Forever:
		return i
	case d > 0 && s < i:
		return Forever
	case d < 0 && s > i:
		return math.MinInt64
	}
	return s
}

// Sub returns the duration i-j, saturating. Forever minus anything is the longest duration.
func (i Instant) Sub(j Instant) time.Duration {
	d := i - j
	switch {
	case i == Forever:
		return math.MaxInt64
	case j < 0 && d < i:
		return math.MaxInt64
	case j > 0 && d > i:
		return math.MinInt64
	}
	return time.Duration(d)
}

// Before reports whether i is earlier than j.
func (i Instant) Before(j Instant) bool { return i < j }

// String is the time since the clock's base, or "forever".
func (i Instant) String() string {
	if i == Forever {
		return "forever"
	}
	return time.Duration(i).String()
}
