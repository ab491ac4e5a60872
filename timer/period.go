package timer

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
)

// A Period is the schedule of something periodic that waits for its ticks itself, like bide.Ticks; [Every] has its own.
// It is not safe for concurrent use.
type Period struct {
	s     *Service
	p     periodic
	slack slack
	due   clock.Instant
}

// Periodic is [Deadline] for calls that tick: it takes what Every does, except for Inline. The first tick is d from now. It
// panics if d is not positive.
func Periodic(pkg, call string, s *Service, d time.Duration, opts []Option) *Period {
	if d <= 0 {
		panic(fmt.Sprintf("%s: %s: the period must be positive, not %v", pkg, call, d))
	}
	o := gatherFor(pkg, call, forEvery&^(1<<optInline), opts)
	s = o.service(s)
	return &Period{s: s, p: periodic{period: d, late: o.late}, slack: o.slack(s), due: after(s, d)}
}

// Service is the one to wait on.
func (p *Period) Service() *Service { return p.s }

// Due is when to wake up for the next tick.
func (p *Period) Due() clock.Instant { return p.slack.round(p.due) }

// Claim takes the tick that has come: the instant that it was scheduled for, and how many before it got no call. What
// the tick is for follows, and then Next.
func (p *Period) Claim() (scheduled clock.Instant, missed int) {
	return p.p.claim(p.due, p.s.clock.Now())
}

// Next moves on to the next tick.
func (p *Period) Next() {
	now := p.s.clock.Now()
	p.due = p.s.within(now, p.p.next(now))
}
