package timer

import (
	"runtime"
	"strings"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
)

// A Timer calls a function: once ([AfterFunc]), or again and again ([Every]). Its methods are safe for concurrent use,
// also from within the function.
type Timer struct {
	_  noCopy
	sh *shard
	f  func()    // what Reset arms again; nil: every
	ev *periodic // copied for each arming

	// under sh.mu: the node is the timer's while its generation is gen
	n      *node
	gen    uint64
	inline bool
	slack  slack
}

// AfterFunc calls f on a goroutine of its own once d has passed: never early, and on the default service one tick
// (1.05 ms) and the runtime's own lateness late. It costs one allocation and takes constant time, whatever is pending.
// A negative d is 0. Options: [Inline], [On], [Tolerance].
//
// What happened before the call of AfterFunc, or of the Reset that armed it, happened before f.
func AfterFunc(d time.Duration, f func(), opts ...Option) *Timer {
	if f == nil {
		panic("bide/timer: AfterFunc: nil function")
	}
	s, inline, k := def, false, slack(0)
	if len(opts) > 0 {
		o := gather("AfterFunc", forOnce, opts)
		s, inline = o.service(def), o.inline
		k = o.slack(s)
	}
	due := after(s, d)
	t := &Timer{sh: s.shardFor(due), f: f, inline: inline, slack: k}
	t.start(due)
	return t
}

// start arms a new timer.
func (t *Timer) start(due clock.Instant) {
	t.sh.mu.Lock()
	t.arm(due)
	t.sh.mu.Unlock()
}

// after is clock.After for any clock.
func after(s *Service, d time.Duration) clock.Instant {
	d = max(d, 0)
	if s == def || s.clock == clock.Monotonic() {
		return clock.After(d)
	}
	now := s.clock.Now()
	return s.within(now, now.Add(d))
}

// within is at, or Forever if it lies beyond the time in which a bubble can be told, where now was read: as
// [clock.After] has it, the sign says where.
func (s *Service) within(now, at clock.Instant) clock.Instant {
	if s.tell == bySign && now < 0 && at >= 0 {
		return clock.Forever
	}
	return at
}

// arm: Preconditions: mu held.
func (t *Timer) arm(due clock.Instant) {
	n := t.live()
	if n == nil {
		n = t.sh.take()
		t.n, t.gen = n, n.gen
		n.fn, n.inline, n.slack = t.f, t.inline, t.slack
	}
	if t.ev != nil && (n.every == nil || n.every.stopped) {
		ev := *t.ev
		n.every = &ev
	}
	t.sh.arm(n, due)
}

// live is the timer's node while it is armed or runs. Preconditions: mu held.
func (t *Timer) live() *node {
	if t.n != nil && t.n.gen == t.gen {
		return t.n
	}
	return nil
}

func (t *Timer) lock(call string) {
	if t.sh == nil {
		panic("bide/timer: " + call + " of a Timer that AfterFunc or Every did not make")
	}
	step.At("timer.stop")
	t.sh.mu.Lock()
}

// Stop prevents the call that is due next, and reports whether it did: true means that this call of the function will
// not come. A call that is running goes on; Stop does not wait for it, but a periodic timer whose function is running
// is prevented from the next one.
func (t *Timer) Stop() bool {
	t.lock("Stop")
	defer t.sh.mu.Unlock()
	return t.stop()
}

// Preconditions: mu held.
func (t *Timer) stop() bool {
	n := t.live()
	if n == nil {
		return false
	}
	was := n.armed
	n.armed = false
	if n.every != nil {
		was = was || !n.every.stopped
		n.every.stopped = true
	}
	t.sh.cancel(&n.e)
	t.sh.release(n) // N3
	return was
}

// StopWait is Stop, and waits until no call of the function is running: it stops the timer again after waiting, in
// case the function has armed it. It reports true once nothing of the timer runs or will run (unless somebody calls
// Reset). Called from within the function of a timer, of this one or of another, it cannot wait without the danger of
// waiting for itself: if a call is running it returns false at once, with the timer stopped.
//
// What the function did happened before StopWait returns true.
func (t *Timer) StopWait() bool {
	for {
		t.lock("StopWait")
		t.stop()
		n := t.live()
		if n == nil {
			t.sh.mu.Unlock()
			return true
		}
		t.sh.mu.Unlock()
		if onStack("/timer.(*node).run") {
			return false
		}
		t.sh.mu.Lock()
		var idle chan struct{}
		if t.live() == n && n.running > 0 {
			if n.idle == nil {
				n.idle = make(chan struct{})
			}
			idle = n.idle
		}
		t.sh.mu.Unlock()
		if idle != nil {
			<-idle
		}
	}
}

// onStack reports whether a function of this package is on the calling goroutine's stack. It is asked only by who would
// have to wait for it.
func onStack(function string) bool {
	pcs := make([]uintptr, 64)
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if strings.HasSuffix(f.Function, function) {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// Reset arms the timer for d from now, whether it was armed, has fired, or was stopped, and reports whether it was
// armed. A periodic timer goes on from there with its period. A call that is running goes on, too.
func (t *Timer) Reset(d time.Duration) bool {
	if t.sh == nil {
		t.lock("Reset") // panics
	}
	return t.ResetAt(after(t.sh.s, d))
}

// ResetAt is Reset for an instant of the timer's clock; [clock.Forever] leaves it armed but never due. Like the
// runtime's timers, one that was made in a synctest bubble cannot be reset outside of it, nor the other way round: it
// panics.
func (t *Timer) ResetAt(at clock.Instant) bool {
	t.lock("ResetAt")
	defer t.sh.mu.Unlock()
	if tell := t.sh.s.tell; at != clock.Forever && (tell == bySign && (at < 0) != t.sh.bubble || tell == byAsking) {
		if clock.InBubble() != t.sh.bubble {
			panic("bide/timer: Reset of a Timer on the other side of a synctest bubble")
		}
		if tell == bySign {
			at = max(at, 0) // the past; or beyond the time in which a bubble can be told
		}
	}
	n := t.live()
	was := n != nil && (n.armed || n.every != nil && !n.every.stopped)
	t.arm(at)
	return was
}

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
