package timer

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// Close ends a service of [NewService]: what is pending is taken out and will not be fired, and Close waits until no
// Fire is running. Scheduling on a closed service does nothing, so a Fire that is running may do it. Called from within a Fire
// Close cannot wait without the danger of waiting for itself: it returns false at once, with the rest done. (A Fire that
// waits for a goroutine that calls Close waits for itself, too, and for ever.) Idempotent.
//
// What Fires did happened before Close returned true. The services that all share (Default, Precise, For) panic.
func (s *Service) Close() bool {
	if !s.own {
		panic("bide/timer: Close of a service that the whole process shares")
	}
	for i := range s.shards {
		s.shards[i].close()
	}
	if onStack("/timer.(*shard).fire") {
		return false
	}
	for i := range s.shards {
		s.shards[i].wait()
	}
	return true
}

func (sh *shard) close() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.closed, sh.target = true, clock.Forever
	for n, _ := sh.pop(clock.Forever - 1); n != nil; n, _ = sh.pop(clock.Forever - 1) {
		sh.stats.Canceled++
		if sh.rec != nil {
			sh.rec.ended(n, queue.Canceled)
		}
	}
	for b := range sh.bubbles {
		b.leave()
		sh.stats.Canceled++
	}
	sh.alarm.Clear()
}

// running is closed when a driver has come back. The driver makes it: what it is in a synctest bubble, or not, its channel is.
// nil in services that are not closed.
type running chan struct{}

// starts: a driver goes to fire. Preconditions: mu held.
func (sh *shard) starts() running {
	if !sh.s.own {
		return nil
	}
	r := make(running)
	if sh.firing == nil {
		sh.firing = map[running]bool{}
	}
	sh.firing[r] = true
	return r
}

// ends: it has come back.
func (sh *shard) ends(r running) {
	if r == nil {
		return
	}
	sh.mu.Lock()
	delete(sh.firing, r)
	sh.mu.Unlock()
	close(r)
}

// wait waits until nobody fires. Preconditions: closed.
func (sh *shard) wait() {
	for {
		var r running
		sh.mu.Lock()
		for r = range sh.firing {
			break
		}
		sh.mu.Unlock()
		if r == nil {
			return
		}
		<-r
	}
}
