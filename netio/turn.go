package netio

import (
	"context"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// A turn is one operation's time on a side: the waiter is claimed by it. Who finds it claimed waits in turns, under the
// side's address.
//
//	wanted    somebody may be in the lot; set and cleared under the lot's lock. Set in vain it costs one look
//	shut      the connection is closed; never cleared
//
//	R1 free → taken      begin, whatever wanted is; or wait
//	R2 wanted set        wait, filed in the same section, unless the turn is free now (R1)
//	R3 taken → free      end, release
//	R4 wanted cleared    pass, which wakes the first in the lot, to try; only if nobody is left there
//
// The handshake: who wants the turn sets wanted, then tries it; who has it frees it, then looks at wanted. One of them
// sees the other. shut likewise: close sets it and tries the turn, to take the waiter out; who has the turn does it.
const (
	wanted = 1 << iota
	shut
)

// turns is where those wait who want one: no connection needs room for them.
var turns park.Lot

// wait waits for the turn as long as ctx allows, behind those who wait already. But an operation that comes just when the
// turn is free may overtake whoever was woken.
func (s *side) wait(ctx context.Context) (t park.Token, err error) {
	if err := park.Err(ctx); err != nil {
		return t, err
	}
	for {
		got := false
		o := turns.Park(ctx, s, clock.Forever, s.kind, func() bool {
			step.At("netio.want")
			s.flags.Or(wanted) // R2
			t, got = s.w.Claim()
			return !got
		})
		switch {
		case got:
			return t, nil
		case o == park.Canceled:
			return t, park.Reason(ctx)
		}
	}
}

// pass is called when the turn is free, or was.
func (s *side) pass() {
	step.At("netio.pass")
	if s.flags.Load() != 0 {
		s.passSlow()
	}
}

func (s *side) passSlow() {
	if s.flags.Load()&shut != 0 {
		if t, ok := s.w.Claim(); ok { // else whoever has it comes here
			s.hold(t)
			s.unfile() // F5
			s.w.Free()
		}
	}
	if s.flags.Load()&wanted != 0 {
		turns.Wake(s, 1, park.Woken, func(_, left int) {
			if left == 0 {
				s.flags.And(^uint32(wanted)) // R4
			}
		})
	}
}
