package queue

import (
	"math"
	"math/bits"
	"time"

	"bide.invalid/bide/clock"
)

// ticks counts instants in ticks. A tick that is a power of two needs no division.
type ticks struct {
	tick  int64
	shift int8 // negative: not a power of two
}

func newTicks(tick time.Duration) ticks {
	if tick < time.Microsecond || tick > time.Second {
		panic("bide/timer/queue: a tick is a microsecond to a second")
	}
	k := ticks{int64(tick), -1}
	if tick&(tick-1) == 0 {
		k.shift = int8(bits.TrailingZeros64(uint64(tick)))
	}
	return k
}

// up is the first tick at or after a positive instant.
func (k ticks) up(at clock.Instant) int64 { return k.down(at-1) + 1 }

// down is the last tick at or before an instant that is not negative.
func (k ticks) down(at clock.Instant) int64 {
	if k.shift >= 0 {
		return int64(at) >> k.shift
	}
	return int64(at) / k.tick
}

// instant is when tick t begins; that of nowhere is Forever.
func (k ticks) instant(t int64) clock.Instant {
	if t == nowhere {
		return clock.Forever
	}
	return clock.Instant(t * k.tick)
}

// nowhere is the tick of what does not come.
const nowhere = math.MaxInt64

// A slotMap says which of up to 4096 slots are not empty.
type slotMap struct {
	words [64]uint64
	some  uint64 // which words are not 0
}

func (m *slotMap) set(i int) {
	m.words[i>>6] |= 1 << (i & 63)
	m.some |= 1 << (i >> 6)
}

func (m *slotMap) clear(i int) {
	m.words[i>>6] &^= 1 << (i & 63)
	if m.words[i>>6] == 0 {
		m.some &^= 1 << (i >> 6)
	}
}

// from is the first slot at or after i that is not empty; -1: there is none.
func (m *slotMap) from(i int) int {
	w := i >> 6
	if rest := m.words[w] >> (i & 63); rest != 0 {
		return i + bits.TrailingZeros64(rest)
	}
	rest := m.some >> w >> 1
	if rest == 0 {
		return -1
	}
	w += 1 + bits.TrailingZeros64(rest)
	return w<<6 + bits.TrailingZeros64(m.words[w])
}

// slotBits checks a number of slots and returns its logarithm.
func slotBits(slots int) uint {
	if slots < 2 || slots > 4096 || slots&(slots-1) != 0 {
		panic("bide/timer/queue: the number of slots is a power of two from 2 to 4096")
	}
	return uint(bits.TrailingZeros(uint(slots)))
}
