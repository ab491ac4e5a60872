package syncs

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// At is an instant of the monotonic clock as a source: ready from then on. With it a [WaitAny] has a bound of its own
// that is not an error. It allocates the source, 8 bytes, which can be used again.
//
// The instant is read where it is used: one from outside of a synctest bubble means decades inside.
func At(at clock.Instant) Waitable { return &instant{at} }

type instant struct{ at clock.Instant }

func (i *instant) look() park.Outcome {
	if clock.Now() < i.at {
		return park.Pending
	}
	return park.Woken
}

// An instant has no queue: the waiter is armed with it.
func (i *instant) add(*park.Node, *park.Waiter, park.Token, park.Outcome) park.Outcome {
	return park.Pending
}

func (i *instant) remove(*park.Node) {}
