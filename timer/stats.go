package timer

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"time"
)

// Stats are counters of a service since its start. Entries in bubbles are not counted, except as Canceled.
type Stats struct {
	Pending   int           // linked now; a sticky owner's entry counts even when its owner is idle
	Scheduled int64         // calls that linked an entry, or moved it; what Cover found covered is not among them
	Fired     int64         // looks that fired
	Moved     int64         // looks that linked again: moved to a finer level, or a deadline moved later
	Dropped   int64         // looks that found an idle owner
	Canceled  int64         // taken out by Cancel
	Wakes     int64         // drivers started
	Worst     time.Duration // longest time from a look's tick to the driver, of those that fired
	Late      Histogram     // all of these times
}

// Histogram counts durations: the i-th element those from 2^(i-1) to 2^i microseconds, the first those below one, the
// last all longer ones.
type Histogram [24]int64

// add counts d, which is not negative.
func (h *Histogram) add(d time.Duration) { h[min(bits.Len64(uint64(d/time.Microsecond)), len(h)-1)]++ }

// Quantile returns a bound that the fraction q of the durations is below: with q 0.99 the 99th percentile, rounded up to
// a power of two of microseconds, or, among the longest, the longest duration that there is. 0: nothing was counted.
func (h *Histogram) Quantile(q float64) time.Duration {
	var all, below int64
	for _, n := range h {
		all += n
	}
	for i, n := range h {
		below += n
		if n > 0 && float64(below) >= q*float64(all) {
			if i == len(h)-1 {
				return math.MaxInt64
			}
			return time.Microsecond << i
		}
	}
	return 0
}

// late records a firing. Preconditions: the shard's mu held.
func (s *Stats) late(d time.Duration) {
	s.Fired++
	s.Worst = max(s.Worst, d)
	s.Late.add(d)
}

// Stats reads the counters.
func (s *Service) Stats() (sum Stats) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sum.Pending += sh.len()
		sum.Scheduled += sh.stats.Scheduled
		sum.Fired += sh.stats.Fired
		sum.Moved += sh.stats.Moved
		sum.Dropped += sh.stats.Dropped
		sum.Canceled += sh.stats.Canceled
		sum.Wakes += sh.stats.Wakes
		sum.Worst = max(sum.Worst, sh.stats.Worst)
		for i, n := range sh.stats.Late {
			sum.Late[i] += n
		}
		sh.mu.Unlock()
	}
	return sum
}

// Dump writes how the service's shards are filled, for people: what is pending, when the next look is, and how many
// slots of each of the wheel's levels are taken.
func (s *Service) Dump(w io.Writer) error {
	for i := range s.shards {
		if _, err := io.WriteString(w, s.shards[i].dump()); err != nil {
			return err
		}
	}
	return nil
}

func (sh *shard) dump() string {
	now := sh.s.clock.Now()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.bubble {
		return "" // its entries are the runtime's
	}
	line := fmt.Sprintf("%v shard %d: %d pending", sh.s.clock, sh.id, sh.len())
	if look, ok := sh.next(); ok && (now >= 0 || sh.s.tell != bySign) { // a bubble's clock says nothing about it
		line += fmt.Sprintf(", next look in %v", look.Sub(now))
	}
	if sh.wheel != nil {
		for level, n := range sh.wheel.Occupied() {
			if n > 0 {
				line += fmt.Sprintf(", level %d: %d of 64 slots", level, n)
			}
		}
	}
	return line + "\n"
}
