//go:build bidestep

package step

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// On is true where steps are compiled in.
const On = true

var (
	taken atomic.Uint64
	seed  = sync.OnceValue(func() uint64 {
		s, err := strconv.ParseUint(os.Getenv("BIDE_STEP_SEED"), 10, 64)
		if err != nil {
			s = rand.Uint64()
		}
		fmt.Fprintf(os.Stderr, "bide: steps scheduled with BIDE_STEP_SEED=%d\n", s)
		return s
	})
)

// At decides what this goroutine does before the step that is named: most of the time it goes on, often it yields,
// seldom it stays away long enough for everybody else to pass. It never blocks for good, and may be called with
// locks held.
func At(string) {
	switch d := decide(seed(), taken.Add(1)); {
	case d < 160:
	case d < 248:
		for range d%4 + 1 {
			runtime.Gosched()
		}
	default:
		rest(time.Duration(d-247) * 10 * time.Microsecond)
	}
}

// rest spins and yields instead of sleeping: in a synctest bubble a sleep would move the fake clock.
func rest(d time.Duration) {
	for n := int(d / (200 * time.Nanosecond)); n > 0; n-- {
		runtime.Gosched()
	}
}

// decide is a hash of seed and step number, 0 to 255.
func decide(seed, n uint64) uint8 {
	x := seed + n*0x9e3779b97f4a7c15
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return uint8(x >> 56)
}
