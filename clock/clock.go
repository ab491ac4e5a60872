package clock

import "time"

// A Clock is read in instants, and converts them at the edge. Implementations are comparable (a pointer, an empty
// struct): two scopes are on the same clock if their Clock values are equal.
//
// What is due on one clock is in one queue, with one alarm. Only the clocks of this package that go by themselves keep
// apart what is in a synctest bubble and what is outside. One of your own that is made of these, with an offset perhaps,
// is to be another one, not equal, in each bubble: what a bubble leaves behind may hold up for ever who is outside.
type Clock interface {
	// Now reads the clock.
	Now() Instant

	// FromTime turns a time of this clock into an instant, once, at entry. The zero time is in the past.
	FromTime(t time.Time) Instant

	// Time turns an instant into a time. ok is false where the standard library, which compares with time.Now,
	// would be misled by it (virtual clocks).
	Time(i Instant) (t time.Time, ok bool)

	// NewAlarm returns an alarm that calls f, with a reading of the clock. Context of f: a goroutine of its own or
	// the one that moves the clock, nothing locked; it may set and clear the alarm; it should be short.
	NewAlarm(f func(now Instant)) Alarm

	// String names the clock.
	String() string
}

// An Alarm calls its function once for every Set that was neither moved nor cleared before it came: never early. A
// call that is already on its way when the alarm is moved or cleared still comes, so the function looks at the clock
// and at its own state. Safe for concurrent use.
//
// In a synctest bubble the alarm of a real clock is another one, with the same function: it goes by the bubble's fake
// time, and what is set or cleared there leaves alone what was set outside.
type Alarm interface {
	// Set sets the alarm, or moves it, to at. An instant that has passed means: at once, from another goroutine.
	// Forever clears it.
	Set(at Instant)
	// Clear takes the alarm back.
	Clear()
}

// base is the reading that the monotonic clock counts from. Read at package initialization, so never in a bubble.
var base = time.Now()

// decade of uptime is when a non-negative reading stops being proof of not being in a bubble.
const decade = 10 * 365 * 24 * time.Hour

// Now reads the monotonic clock. It costs some 25 ns, a third of a bound that nobody looks at: read it once and pass the
// instant on.
func Now() Instant { return Instant(time.Since(base)) }

// After is Now().Add(d), for a relative timeout that becomes a deadline. Outside of a bubble the result is never
// negative: the base of the clock is in the past, too. In a bubble it never crosses zero: that is Forever.
func After(d time.Duration) Instant { return from(Now(), d) }

// from keeps the promise that the sign of an instant says where it was read.
func from(now Instant, d time.Duration) Instant {
	at := now.Add(d)
	switch {
	case now >= 0 && at < 0:
		return 0
	case now < 0 && at >= 0:
		return Forever
	}
	return at
}

// FromTime turns t into an instant of the monotonic clock.
//
// A time with a monotonic reading converts exactly. One without (from JSON, from a database, from time.Date) is taken
// as that far from the wall clock's present, never as a distance from the base: the wall clock may have been stepped,
// or the machine suspended, since the process started. Either way the result does not follow later steps.
func FromTime(t time.Time) Instant {
	if now := Now(); monotonic(t) && now >= 0 {
		return from(now, time.Duration(Instant(t.Sub(base)).Sub(now)))
	}
	d := time.Until(t) // before the reading that it is added to: the result may be late by a moment, never early
	return from(Now(), d)
}

// monotonic reports whether t has a monotonic reading: == looks at it, and Round(0) strips it.
func monotonic(t time.Time) bool { return t != t.Round(0) }

// InBubble reports whether the caller runs in a testing/synctest bubble. It costs a clock read.
func InBubble() bool { return bubbled(Now()) }

func bubbled(now Instant) bool {
	return now < 0 || now > Instant(decade) && !monotonic(time.Now())
}

// Monotonic is the default clock: it never steps, and stands still while the machine is suspended (on Linux and
// most other systems; Go's own monotonic clock).
func Monotonic() Clock { return mono{} }

type mono struct{}

func (mono) Now() Instant                 { return Now() }
func (mono) FromTime(t time.Time) Instant { return FromTime(t) }
func (mono) Time(i Instant) (time.Time, bool) {
	now := time.Now() // one reading: Now is its distance from base
	return now.Add(i.Sub(Instant(now.Sub(base)))), true
}
func (mono) NewAlarm(f func(Instant)) Alarm { return &runtimeAlarm{f: f} }
func (mono) String() string                 { return "monotonic" }
