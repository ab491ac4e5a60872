package rows

import (
	"math/rand/v2"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// timeout is the least that an object with a timeout has: an entry and a deadline.
type timeout struct {
	timer.Entry
	due clock.Instant
}

func (t *timeout) Due(now clock.Instant) (clock.Instant, bool) {
	if t.due > now {
		return t.due, false
	}
	return clock.Forever, true
}

func (t *timeout) Fire(clock.Instant) {}

// chunks makes n timeouts, 4096 at a time: from that size on the collector is indifferent.
func chunks(n int) [][]timeout {
	var all [][]timeout
	for n > 0 {
		c := make([]timeout, min(n, 4096))
		for i := range c {
			c[i].Init(&c[i])
		}
		all = append(all, c)
		n -= len(c)
	}
	return all
}

func each(all [][]timeout, f func(*timeout)) {
	for _, c := range all {
		for i := range c {
			f(&c[i])
		}
	}
}

// far is an hour or two away: pending while something else is measured.
func far(rng *rand.Rand) time.Duration {
	return time.Hour + time.Duration(rng.Int64N(int64(time.Hour)))
}

// dice throws the same numbers for every side.
func dice() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// stdPending makes n other timers of the runtime; stop takes them away.
func stdPending(n int) (stop func()) {
	rng, timers := dice(), make([]*time.Timer, n)
	for i := range timers {
		timers[i] = time.AfterFunc(far(rng), nothing)
	}
	return func() {
		for _, t := range timers {
			t.Stop()
		}
		timers = nil
		pair.Settle()
	}
}

// ourPending makes n other timers of ours. They are owners: the nodes of AfterFunc's timers stay with the service once
// they are made, and the other side's collector would have to walk them.
func ourPending(n int) (stop func()) {
	s, rng, all := timer.Default(), dice(), chunks(n)
	each(all, func(t *timeout) {
		t.due = clock.After(far(rng))
		s.Schedule(&t.Entry, t.due)
	})
	return func() {
		each(all, func(t *timeout) { s.Cancel(&t.Entry) })
		all = nil
		pair.Settle()
	}
}
