package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/stress"
)

// random: random operations on a few items at a time, and on a thousand.
func (s *suite) random() {
	rounds, many := 200, 5
	if testing.Short() || invariant.On {
		rounds, many = 40, 2
	}
	source := stress.Source(s)
	for g := range rounds {
		s.run(1+g%30, func(p *player) error { return s.scramble(p, source(g), 200) }, "round %d", g)
	}
	for g := range many {
		s.run(1000, func(p *player) error { return s.scramble(p, source(g), 3000) }, "round %d of a thousand", g)
	}
}

// scramble plays random operations.
func (s *suite) scramble(p *player, r *rand.Rand, ops int) error {
	if r.IntN(2) == 0 {
		if err := p.uptime(clock.Instant(r.Int64N(1 << r.IntN(62)))); err != nil {
			return err
		}
	}
	reach := 1 + r.IntN(45) // the logarithm of how far deadlines are
	deadline := func() clock.Instant {
		switch r.IntN(20) {
		case 0:
			return p.told.Add(-time.Duration(r.Int64N(1 << 30)))
		case 1:
			return p.told
		case 2:
			if len(p.ref) > 0 {
				return p.ref[r.IntN(len(p.ref))].at
			}
		case 3:
			if r.IntN(10) == 0 {
				return p.told.Add(time.Duration(r.Int64N(1 << 62)))
			}
		case 4:
			if r.IntN(3) == 0 {
				return clock.Forever
			}
		case 5, 6, 7: // few durations
			return p.told.Add(time.Duration(1+r.IntN(3)) << (reach - 1))
		}
		return p.told.Add(time.Duration(r.Int64N(1 << reach)))
	}
	for i := range ops {
		var err error
		id := r.IntN(len(p.items))
		switch op := r.IntN(20); {
		case op < 10:
			if p.find(id) < 0 {
				err = p.schedule(id, deadline(), false)
			} else if op < 5 {
				err = p.cancel(id)
			}
		case op < 14:
			err = p.schedule(id, deadline(), true)
		case op < 15:
			err = p.cancel(id)
		case op < 18:
			_, err = p.expire(min(p.next(), clock.Forever-1), 1+r.IntN(3), r.IntN(2) == 0)
		case op < 19:
			now := p.told.Add(time.Duration(r.Int64N(1 << reach)))
			_, err = p.expire(min(now, clock.Forever-1), 1+r.IntN(len(p.items)), r.IntN(2) == 0)
		default:
			_, err = p.expire(p.told/2, 2, false)
		}
		if err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	_, err := p.drain()
	return err
}
