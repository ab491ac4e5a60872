package bide

import (
	"strconv"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// An Option adjusts a scope, a nursery or a child. It is a plain value: giving none costs nothing.
//
//	Name, Clock, Account, Labels      every call that opens a scope
//	Timeout, Deadline, Idle           Run, Open, WithNursery, Go, TryGo, Service: one of the three, the scope's bound
//	MoveOn, Stacks                    the same calls
//	Limit, Supervise, Repanic         WithNursery
//	Abandon, Slot                     Blocking
//	Grace, Signals                    Main
//
// A call panics on an option that it has no use for, and on two bounds. Of two Names or Clocks the last counts.
type Option struct {
	kind optKind
	n    int64 // a Duration; Limit's number
	name string
	of   any // a time.Time, a clock.Clock, Slots, []os.Signal
}

func (o Option) d() time.Duration { return time.Duration(o.n) }

type optKind uint8

const (
	optNone optKind = iota
	optName
	optClock
	optTimeout
	optDeadline
	optMoveOn
	optLimit
	optSupervise
	optRepanic
	optAbandon
	optSlot
	optAccount
	optIdle
	optGrace
	optSignals
	optStacks
	optLabels
)

var optNames = [...]string{"the zero Option", "Name", "Clock", "Timeout", "Deadline", "MoveOn", "Limit", "Supervise", "Repanic",
	"Abandon", "Slot", "Account", "Idle", "Grace", "Signals", "Stacks", "Labels"}

// Name names the scope, in its errors and in those of what it cancels.
func Name(name string) Option { return Option{kind: optName, name: name} }

// Clock puts the scope, and whatever is opened below it, on c: deadlines, [Sleep], [Ticks] and [Retry] go by it. A
// deadline further up stays on its own clock; nothing is converted, each expires by its own.
func Clock(c clock.Clock) Option {
	if c == nil {
		panic("bide: Clock: nil clock.Clock")
	}
	return Option{kind: optClock, of: c}
}

// Timeout bounds the scope: d from its opening, whenever the option was made. Expiry is a [*TimeoutError], unless
// MoveOn is given as well. Zero or negative: canceled from the start.
func Timeout(d time.Duration) Option { return Option{kind: optTimeout, n: int64(d)} }

// Deadline is Timeout for a point in time, of the scope's clock. The zero time is in the past (unlike
// [Scope.SetDeadline]'s, which removes the deadline).
func Deadline(t time.Time) Option { return Option{kind: optDeadline, of: t} }

// Idle bounds the scope by d without progress: d from its opening, and again from each [Scope.Progress]. Expiry is a
// [*TimeoutError], as with Timeout, and its Source [ByIdle]. It is for a transfer whose length is not known, but that
// must not stall. A deadline of [Scope.SetDeadline] takes the place of the limit, as a deadline like any other
// ([ByDeadline]), until a Progress brings a later one.
func Idle(d time.Duration) Option { return Option{kind: optIdle, n: int64(d)} }

// MoveOn makes the scope absorb its expiry, instead of making a [*TimeoutError] of it.
func MoveOn() Option { return Option{kind: optMoveOn} }

// Account makes the scope, and everything that is opened below it, measure its waits. The [TimeoutError] of a bound
// then says where the time went, and, if the scope has no name, which call set the bound ([TimeoutError.SetBy]). It
// costs two readings of the clock a wait, and the opening of a scope without a name three hundred nanoseconds. Only
// waits under a scope's own context are counted, not those under a context that package context has made of it.
func Account() Option { return Option{kind: optAccount} }

// Limit lets at most n children of a nursery run at a time: see [Nursery.Go].
func Limit(n int) Option {
	if n <= 0 {
		panic("bide: Limit: must be positive, not " + strconv.Itoa(n))
	}
	return Option{kind: optLimit, n: int64(n)}
}

// Supervise lets the children of a nursery go on when one of them fails; their errors are joined in the end. A body
// that fails still cancels them.
func Supervise() Option { return Option{kind: optSupervise} }

// Repanic turns a panic of a nursery's child into a panic of WithNursery, with a [*PanicError]: the siblings are
// canceled, and WithNursery panics when all of them have ended. By default a child's panic ends the process at once,
// with the child's own stack.
func Repanic() Option { return Option{kind: optRepanic} }

// A call is one of the functions that take options.
type call struct {
	name  string
	uses  uint32 // 1 << optKind
	state uint32 // of the scope
}

const (
	usesAny     = 1<<optName | 1<<optClock | 1<<optAccount | 1<<optLabels
	usesNursery = usesBound | 1<<optLimit | 1<<optSupervise | 1<<optRepanic
	usesBound   = usesAny | 1<<optTimeout | 1<<optDeadline | 1<<optIdle | 1<<optMoveOn | 1<<optStacks
)

var (
	callFailAfter   = call{"FailAfter", usesAny, 0}
	callFailAt      = call{"FailAt", usesAny, 0}
	callWithin      = call{"Within", usesAny, 0}
	callMoveOnAfter = call{"MoveOnAfter", usesAny, moveOn}
	callMoveOnAt    = call{"MoveOnAt", usesAny, moveOn}
	callShield      = call{"Shield", usesAny, shield}
	callRun         = call{"Run", usesBound, 0}
	callOpen        = call{"Open", usesBound, 0}
	callWithNursery = call{"WithNursery", usesNursery, nursed | isNamed}
	callGo          = call{"Go", usesBound, 0}
	callTryGo       = call{"TryGo", usesBound, 0}
	callService     = call{"Service", usesBound, 0}
	callServices    = call{"Service", 0, shield | spared}
	callStart       = call{"Start", 0, 0}
	callBlocking    = call{"Blocking", usesAny | 1<<optAbandon | 1<<optSlot, 0}
	callMain        = call{"Main", usesAny | 1<<optGrace | 1<<optSignals, stacks | accounts | isNamed}
)

// apply sets what the options say, except for bits, which are for the state, and the bound, which needs the clock that
// another option may set. st is the state that s begins in.
func (s *Scope) apply(c *call, st uint32, opts []Option) (bits uint32, bound Option) {
	for i := range opts {
		o := &opts[i]
		if c.uses&(1<<o.kind) == 0 {
			panic("bide: " + c.name + " has no use for " + optNames[o.kind])
		}
		switch o.kind {
		case optName:
			if st&isNamed == 0 {
				panic("bide: " + c.name + ": the slice of options was changed meanwhile")
			}
			s.setName(o.name)
		case optClock:
			s.more().service = timer.For(o.of.(clock.Clock))
			bits |= onClock
		case optTimeout, optDeadline, optIdle:
			if bound.kind != optNone {
				panic("bide: " + c.name + ": " + optNames[bound.kind] + " and " + optNames[o.kind] + " are both given: one bound a scope")
			}
			bound = *o
		case optMoveOn:
			bits |= moveOn
		case optAccount:
			bits |= accounts
		case optStacks:
			bits |= stacks
		case optLabels:
			bits |= labels
		}
	}
	return bits, bound
}
