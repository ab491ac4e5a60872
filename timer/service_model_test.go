package timer

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// distance draws a non-negative number of any size: the number of its bits first.
func distance(t *rapid.T, what string) int64 {
	bits := rapid.IntRange(0, 63).Draw(t, what+" bits")
	return rapid.Int64Range(0, 1<<bits-1).Draw(t, what)
}

// drawOps draws operations of the first kinds. Times are of any size, and often equal.
func drawOps(t *rapid.T, kinds opKind) []op {
	near := rapid.Int64Range(0, 200)
	odd := rapid.SampledFrom([]int64{0, 1, 1 << coarse, 1<<coarse + 1, 63, 64, 64 << coarse, 1 << 36, math.MaxInt64 - 1, math.MaxInt64})
	arg := rapid.Custom(func(t *rapid.T) int64 {
		switch rapid.IntRange(0, 3).Draw(t, "size") {
		case 0:
			return odd.Draw(t, "odd")
		case 1:
			return distance(t, "any")
		case 2:
			return near.Draw(t, "ticks") << (coarse - 1)
		}
		return near.Draw(t, "near")
	})
	n := rapid.IntRange(1, 60).Draw(t, "n")
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
		o := op{
			kind: opKind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind")),
			id:   rapid.IntRange(0, players-1).Draw(t, "id"),
			arg:  time.Duration(arg.Draw(t, "arg")),
		}
		if (o.kind == opSchedule || o.kind == opCover) && rapid.IntRange(0, 9).Draw(t, "sign") == 0 {
			o.arg = -o.arg
		}
		return o
	}), n, n).Draw(t, "ops")
}

// TestServiceModelBubble: what fires, when, and in which order, on a virtual clock; exact, and in ticks of a millisecond.
func TestServiceModelBubble(t *testing.T) {
	for _, shift := range []uint8{exact, 0, coarse} {
		rapid.Check(t, func(rt *rapid.T) {
			if err := play(t, shift, drawOps(rt, eagerOps)); err != nil {
				rt.Fatal(err)
			}
		})
	}
}

// TestServiceModelStickyBubble: the same with owners that leave their entry linked and move their deadline without a call.
// The order within an instant is theirs.
func TestServiceModelStickyBubble(t *testing.T) {
	for _, shift := range []uint8{exact, 0, coarse} {
		rapid.Check(t, func(rt *rapid.T) {
			if err := play(t, shift, drawOps(rt, opKinds)); err != nil {
				rt.Fatal(err)
			}
		})
	}
}
