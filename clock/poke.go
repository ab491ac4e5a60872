package clock

import "time"

// A poker has the runtime look at its timers when one is due. A thread that has nothing to do waits for its next timer
// in whole milliseconds: that is what a runtime timer is late by. One that something else has woken looks at all timers
// before it waits again.
//
// To wake a thread takes some tens of microseconds, how many depends on how deep its processor sleeps. So the timer is
// set to come earlier, by what that took lately, and who comes too early waits for the rest of it in a loop. What is
// learned is on the short side (the expectile of 0.2), so that there is little to wait for, or nothing.
//
// All under the alarm's lock.
type poker struct {
	poke func(Instant) // Forever: not any more. It may fail: then the timer is late, and that is all

	lead time.Duration // what it took lately: 0 to mostLead
	due  Instant       // when the timer is to come, if it has not, and is poked; or Forever
}

// mostLead bounds the loop. A thread that takes longer has not been asleep: others run.
const mostLead = 64 * time.Microsecond

// early is how much earlier a timer that is to come in d is set: no more than half of a wait is a loop.
func (p *poker) early(d time.Duration) time.Duration { return max(0, min(p.lead, d/2)) }

// set is called when the timer was set at now, to come in d.
func (p *poker) set(now Instant, d time.Duration) {
	p.due = Forever
	if d > 0 { // else the runtime looks at once
		p.due = now.Add(d)
		p.poke(Now().Add(d)) // not before the timer, which has counted d from a moment ago
	}
}

func (p *poker) clear() {
	p.due = Forever
	p.poke(Forever)
}

// come is called when a timer has come: this one, or one that was on its way when this one was set.
func (p *poker) come(now Instant) {
	if now < p.due {
		return
	}
	if more := min(now.Sub(p.due), mostLead) - p.lead; more > 0 {
		p.lead += more / 16
	} else {
		p.lead += more / 4
	}
	p.due = Forever
}
