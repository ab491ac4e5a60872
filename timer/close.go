package timer

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// Close ends a service of [NewService]: what is pending is taken out and will not be fired, and Close waits until no
// Fire is running. Called from within a Fire it cannot wait without the danger of waiting for itself: it returns false
// at once, with the rest done. Scheduling on a closed service panics; Cancel does nothing. Idempotent.
//
// What Fires did happened before Close returned true. The services that all share (Default, Precise, For) panic.
func (s *Service) Close() bool {
	if !s.own {
		panic("bide/timer: Close of a service that the whole process shares")
	}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sh.closed, sh.target = true, clock.Forever
		for n, _ := sh.pop(clock.Forever - 1); n != nil; n, _ = sh.pop(clock.Forever - 1) {
			sh.stats.Canceled++
			if sh.rec != nil {
				sh.rec.ended(n, queue.Canceled)
			}
		}
		sh.alarm.Clear()
		sh.mu.Unlock()
	}
	if onStack("/timer.(*shard).fire") {
		return false
	}
	for i := range s.shards {
		s.shards[i].wait()
	}
	return true
}

// wait waits until nobody fires.
func (sh *shard) wait() {
	sh.mu.Lock()
	quiet := sh.quiet
	if sh.firing > 0 && quiet == nil {
		quiet = make(chan struct{})
		sh.quiet = quiet
	}
	sh.mu.Unlock()
	if quiet != nil {
		<-quiet
	}
}

// fired: a driver has come back.
func (sh *shard) fired() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.firing--; sh.firing == 0 && sh.quiet != nil {
		close(sh.quiet)
		sh.quiet = nil
	}
}
