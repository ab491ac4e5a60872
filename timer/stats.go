package timer

import "time"

// Stats are counters of a service since its start. Entries in bubbles are not counted, except as Canceled.
type Stats struct {
	Pending  int           // linked now; a sticky owner's entry counts even when its owner is idle
	Fired    int64         // looks that fired
	Moved    int64         // looks that linked again: moved to a finer level, or a deadline moved later
	Dropped  int64         // looks that found an idle owner
	Canceled int64         // taken out by Cancel
	Wakes    int64         // drivers started
	Worst    time.Duration // longest time from a look's tick to the driver, of those that fired
}

// Stats reads the counters.
func (s *Service) Stats() (sum Stats) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sum.Pending += sh.len()
		sum.Fired += sh.stats.Fired
		sum.Moved += sh.stats.Moved
		sum.Dropped += sh.stats.Dropped
		sum.Canceled += sh.stats.Canceled
		sum.Wakes += sh.stats.Wakes
		sum.Worst = max(sum.Worst, sh.stats.Worst)
		sh.mu.Unlock()
	}
	return sum
}
