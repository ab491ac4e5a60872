package timer

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
)

// batch bounds what one driver fires, and looks at: how long the shard is locked at a time.
const (
	batch = 64
	looks = 4096
)

// drive is called by the alarm. Looks, and the next alarm, are made under the lock; then what is due is fired. The
// alarm is set before the first Fire, since a Fire may not return: what a full batch left behind is the next driver's,
// which the alarm calls at once.
func (sh *shard) drive(now clock.Instant) (fired int, more bool) {
	var due [batch]Owner
	step.At("timer.drive")
	sh.mu.Lock()
	if sh.closed {
		sh.mu.Unlock()
		return 0, false
	}
	sh.stats.Wakes++
	if sh.wheel != nil {
		// Another driver may have read the clock later, and locked earlier. Base is never ahead of the clock, and
		// looks are made as of base: with an older reading Fire would take a due timer for one that was moved.
		now = max(now, sh.wheel.Base())
	}
	sh.latest = now
	n := sh.collect(&due, now)
	var r running
	if n > 0 {
		r = sh.starts()
	}
	if look, ok := sh.next(); !ok {
		sh.rest() // if it is not the alarm that calls
		sh.target = clock.Forever
	} else {
		sh.target = look
		sh.alarm.Set(sh.target)
		more = sh.target <= now
	}
	sh.mu.Unlock()
	if n > 0 {
		sh.fire(due[:n], now, r)
	}
	return n, more
}

// collect looks at what has come, in order, until due is full or it has looked often enough.
//
// Preconditions: mu held.
func (sh *shard) collect(due *[batch]Owner, now clock.Instant) (n int) {
	for i := 0; n < len(due) && i < looks; i++ {
		e, look := sh.pop(now)
		if e == nil {
			break
		}
		// pop has stored At = 0, before Due reads whether the owner is armed: see Cover.
		step.At("timer.due")
		again, fired := e.Owner.Due(look)
		switch {
		case fired:
			due[n] = e.Owner
			n++
			sh.stats.late(now.Sub(look))
		case again == clock.Forever:
			sh.stats.Dropped++
		default:
			sh.link(e, again)
			sh.stats.Moved++
		}
		if sh.rec != nil {
			sh.rec.looked(e, again, fired)
		}
	}
	return n
}

// fire calls Fire of each. One that calls runtime.Goexit does not take the others along. Close from within is
// recognized by this frame.
func (sh *shard) fire(due []Owner, now clock.Instant, r running) {
	next := 0
	defer func() {
		if next < len(due) {
			rest := append([]Owner(nil), due[next:]...)
			go sh.fire(rest, now, r)
		} else {
			sh.ends(r)
		}
	}()
	for next < len(due) {
		o := due[next]
		next++
		step.At("timer.fire")
		o.Fire(now)
	}
}

// Expire is a driver of the caller's own, for a loop that moves time itself: it looks at everything whose look has
// come by now, fires what is due, on the calling goroutine, and returns how many that were. It may run beside the
// alarm's. The time of [clock.Monotonic] and of [clock.Boottime] nobody moves: on these a now that the clock does not
// show yet counts as what it shows.
func (s *Service) Expire(now clock.Instant) (fired int) {
	if s.tell != never && clock.InBubble() {
		return 0 // in a bubble, whose entries have timers of their own; alarms are not set from there
	}
	if s.tell == bySign {
		now = min(now, s.clock.Now()) // what is linked later would not be looked at before: see floor, and Wheel.Base
	}
	for i := range s.shards {
		for more := true; more; {
			var n int
			n, more = s.shards[i].drive(now)
			fired += n
		}
	}
	return fired
}
