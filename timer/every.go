package timer

import (
	"fmt"
	"math"
	"time"

	"bide.invalid/bide/clock"
)

// Every calls f every d, first after d, on a goroutine of its own: with the instant that the call was scheduled for,
// and with the number of ticks that got no call since the last one. Calls never overlap: a tick that comes while f
// runs is late, and what becomes of it is an option:
//
//	Skip()   (the default) the latest tick that has come is called, the others are counted as missed;
//	         the schedule stays start + n·d
//	Burst()  every tick gets its call, late ones at once, one after the other; nothing is missed
//	Delay()  the next tick comes d after the call has ended: the schedule shifts
//
// What happened before Every or Reset happened before each call, and each call happened before the next. It panics if d
// is not positive. Further options: [Inline], [On], [Tolerance].
func Every(d time.Duration, f func(scheduled clock.Instant, missed int), opts ...Option) *Timer {
	switch {
	case d <= 0:
		panic(fmt.Sprintf("bide/timer: Every: the period must be positive, not %v", d))
	case f == nil:
		panic("bide/timer: Every: nil function")
	}
	o := gather("Every", forEvery, opts)
	s := o.service(def)
	due := after(s, d)
	t := &Timer{
		sh: s.shardFor(due), ev: &periodic{f: f, period: d, late: o.late}, inline: o.inline, slack: o.slack(s),
	}
	t.start(due)
	return t
}

// periodic is what a node of Every has beside its entry. Under the shard's lock.
type periodic struct {
	f       func(clock.Instant, int)
	period  time.Duration
	late    optKind // optSkip, optBurst, optDelay
	stopped bool
	last    clock.Instant // the tick of the call that runs, or ran
}

// claim returns what to call f with at now, due being the next tick of the schedule.
func (p *periodic) claim(due, now clock.Instant) (scheduled clock.Instant, missed int) {
	var late time.Duration // in periods
	if p.late == optSkip {
		late = max(0, now.Sub(due)/p.period) // a wall clock may have been stepped back since it came
	}
	p.last = due.Add(late * p.period)
	return p.last, int(min(late, math.MaxInt))
}

// next is the tick after the call has ended.
func (p *periodic) next(now clock.Instant) clock.Instant {
	if p.late == optDelay {
		return now.Add(p.period)
	}
	return p.last.Add(p.period)
}
