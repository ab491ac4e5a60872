package timer

import (
	"runtime"
	"sync"
	"weak"

	"bide.invalid/bide/clock"
)

// An Option adjusts a timer or a sleep. It is a plain value. A call panics on an option that it has no use for; of two of
// a kind the last counts.
type Option struct {
	kind  optKind
	clock clock.Clock
}

type optKind uint8

const (
	optNone optKind = iota
	optInline
	optOn
	optSkip
	optBurst
	optDelay
)

var optNames = [...]string{"the zero Option", "Inline", "On", "Skip", "Burst", "Delay"}

const (
	forOnce  = 1<<optOn | 1<<optInline
	forEvery = forOnce | 1<<optSkip | 1<<optBurst | 1<<optDelay
)

// Inline calls the function on the driver's goroutine instead of one of its own: for callbacks that only set
// something. While it runs, it holds up what came due in the same batch.
func Inline() Option { return Option{kind: optInline} }

// On puts the timer, or the sleep, on a clock.
func On(c clock.Clock) Option {
	if c == nil {
		panic("bide/timer: On: nil Clock")
	}
	return Option{kind: optOn, clock: c}
}

// Skip makes [Every] call only the latest tick that came while the function ran, and count the others as missed. It is
// the default.
func Skip() Option { return Option{kind: optSkip} }

// Burst makes [Every] call every tick, late ones at once; none is missed.
func Burst() Option { return Option{kind: optBurst} }

// Delay makes [Every] count the period from the end of each call: the schedule shifts.
func Delay() Option { return Option{kind: optDelay} }

type options struct {
	clock  clock.Clock
	inline bool
	late   optKind
}

func gather(call string, allowed uint, opts []Option) options {
	o := options{late: optSkip}
	for _, opt := range opts {
		if allowed&(1<<opt.kind) == 0 {
			panic("bide/timer: " + call + " has no use for " + optNames[opt.kind])
		}
		switch opt.kind {
		case optInline:
			o.inline = true
		case optOn:
			o.clock = opt.clock
		default:
			o.late = opt.kind
		}
	}
	return o
}

func (o options) service() *Service {
	if o.clock == nil {
		return def
	}
	return For(o.clock)
}

// Choose is for calls that take options of this package, like a sleep: it returns the service of the clock given by
// [On], or s if none was given. It panics, naming the call, on any other option.
func Choose(pkg, call string, s *Service, opts []Option) *Service {
	for _, opt := range opts {
		if opt.kind != optOn {
			panic(pkg + ": " + call + " has no use for " + optNames[opt.kind])
		}
		s = For(opt.clock)
	}
	return s
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
		s := NewService(c)
		p := weak.Make(s)
		if _, lost := services.LoadOrStore(key, p); !lost {
			runtime.AddCleanup(s, func(key any) { services.CompareAndDelete(key, p) }, key)
			return s
		}
	}
}
