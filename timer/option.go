package timer

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"time"
	"weak"

	"bide.invalid/bide/clock"
)

// An Option adjusts a timer or a sleep. It is a plain value. A call panics on an option that it has no use for; of two of
// a kind the last counts.
type Option struct {
	kind      optKind
	clock     clock.Clock
	tolerance time.Duration
	cap       int
}

type optKind uint8

const (
	optNone optKind = iota
	optInline
	optOn
	optSkip
	optBurst
	optDelay
	optTolerance
	optCap
)

var optNames = [...]string{"the zero Option", "Inline", "On", "Skip", "Burst", "Delay", "Tolerance", "Cap"}

const (
	forSleep   = 1<<optOn | 1<<optTolerance
	forOnce    = forSleep | 1<<optInline
	forService = 1 << optCap
	forEvery   = forOnce | 1<<optSkip | 1<<optBurst | 1<<optDelay
)

// Inline calls the function on the driver's goroutine instead of one of its own: for callbacks that only set
// something. While it runs, it holds up what came due in the same batch. On a virtual clock that is who moves the clock.
func Inline() Option { return Option{kind: optInline} }

// On puts the timer, or the sleep, on a clock.
func On(c clock.Clock) Option {
	if c == nil {
		panic("bide/timer: On: nil Clock")
	}
	return Option{kind: optOn, clock: c}
}

// Tolerance says how late the call may be because it waits for company; how late the system is comes on top. It is never
// early. The default, a millisecond, is the wheel's tick. Less than that is precise: the timer is on [Precise], with 0
// alone, and with more coarsened to what it tolerates. More than that makes calls that are near each other one wake-up:
// deadlines are rounded up to a power of two of nanoseconds, at most d, so those with other tolerances fall together, too.
//
// Of a periodic timer whose period is less, some ticks count as missed.
//
// On another clock than the monotonic one all timers are exact, and d says only what is rounded. In a synctest bubble time
// is free, and nothing is rounded.
func Tolerance(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("bide/timer: Tolerance: must not be negative, not %v", d))
	}
	return Option{kind: optTolerance, tolerance: d}
}

// Cap bounds how many entries may be pending in a service of one's own: see [Service.TrySchedule].
func Cap(n int) Option {
	if n <= 0 {
		panic(fmt.Sprintf("bide/timer: Cap: must be positive, not %d", n))
	}
	return Option{kind: optCap, cap: n}
}

// Skip makes [Every] call only the latest tick that came while the function ran, and count the others as missed. It is
// the default.
func Skip() Option { return Option{kind: optSkip} }

// Burst makes [Every] call every tick, late ones at once; none is missed.
func Burst() Option { return Option{kind: optBurst} }

// Delay makes [Every] count the period from the end of each call: the schedule shifts.
func Delay() Option { return Option{kind: optDelay} }

type options struct {
	clock     clock.Clock
	tolerance time.Duration // negative: not given
	inline    bool
	late      optKind
	cap       int
}

func gather(call string, allowed uint, opts []Option) options {
	return gatherFor("bide/timer", call, allowed, opts)
}

func gatherFor(pkg, call string, allowed uint, opts []Option) options {
	o := options{late: optSkip, tolerance: -1}
	for _, opt := range opts {
		if allowed&(1<<opt.kind) == 0 {
			panic(pkg + ": " + call + " has no use for " + optNames[opt.kind])
		}
		switch opt.kind {
		case optInline:
			o.inline = true
		case optOn:
			o.clock = opt.clock
		case optTolerance:
			o.tolerance = opt.tolerance
		case optCap:
			o.cap = opt.cap
		default:
			o.late = opt.kind
		}
	}
	return o
}

// service is the one for the clock and the tolerance; s if no clock was given.
func (o options) service(s *Service) *Service {
	if o.clock != nil {
		s = For(o.clock)
	}
	if s == def && 0 <= o.tolerance && o.tolerance < time.Millisecond {
		return Precise()
	}
	return s
}

// slack is a tolerance as a shift: a deadline is rounded up to a multiple of 1<<slack nanoseconds.
type slack uint8

// slack is 0 where nothing is tolerated, or the tick is all that is.
func (o options) slack(s *Service) slack {
	if o.tolerance <= 0 || s == def && o.tolerance < 2<<coarse {
		return 0
	}
	return slack(bits.Len64(uint64(o.tolerance)) - 1)
}

// round rounds up; not in bubbles, where instants are negative and wake-ups free.
func (k slack) round(at clock.Instant) clock.Instant {
	rest := clock.Instant(1)<<k - 1
	if at <= 0 || at >= clock.Forever-rest {
		return at
	}
	return (at + rest) &^ rest
}

// Deadline is for calls that take options of this package, like a sleep of d: it returns the service that [On] and
// [Tolerance] name, or s if neither was given, and the instant on its clock that is d from now, rounded up by what is
// tolerated. It panics, naming the call, on any other option.
func Deadline(pkg, call string, s *Service, d time.Duration, opts []Option) (*Service, clock.Instant) {
	o := gatherFor(pkg, call, forSleep, opts)
	s = o.service(s)
	return s, o.slack(s).round(after(s, d))
}

// services has the service of each clock, weakly: it lives as long as somebody uses it, or an alarm is set.
var services sync.Map // keyOf(clock) → weak.Pointer[Service]

// keyOf keeps the table from holding a virtual clock, and through its alarms the service.
func keyOf(c clock.Clock) any {
	if v, ok := c.(*clock.Virtual); ok {
		return weak.Make(v)
	}
	return c
}

// For returns the service that timers and scopes on c share, so that what is due at one instant is fired in one order.
func For(c clock.Clock) *Service {
	if c == clock.Monotonic() {
		return def
	}
	key := keyOf(c)
	for {
		if p, ok := services.Load(key); ok {
			if s := p.(weak.Pointer[Service]).Value(); s != nil {
				return s
			}
			services.CompareAndDelete(key, p)
		}
		s := newService(c, c.NewAlarm, 1, exact)
		p := weak.Make(s)
		if _, lost := services.LoadOrStore(key, p); !lost {
			runtime.AddCleanup(s, func(key any) { services.CompareAndDelete(key, p) }, key)
			return s
		}
	}
}
