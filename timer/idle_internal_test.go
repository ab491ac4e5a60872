package timer

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// TestIdleAlarm: after timeouts were canceled the alarm is still set, for the look that was pending; the driver that
// it wakes sets none. Nothing is armed then.
func TestIdleAlarm(t *testing.T) {
	s, sh, _, a := byHand()
	o := &once{}
	o.Init(o)
	for i := range clock.Instant(100_000) {
		s.Schedule(&o.Entry, 1000+i%7*1000)
		if was, _ := s.Cancel(&o.Entry); !was {
			t.Fatal("not canceled")
		}
	}
	if a.sets > 1 || sh.target == clock.Forever {
		t.Errorf("the alarm was set %d times, the target is %v", a.sets, sh.target)
	}
	a.sets = 0
	a.drive(a.at)
	a.expect(t, "after the look", clock.Forever, 0)
	if sh.target != clock.Forever || s.Stats().Pending != 0 {
		t.Errorf("target %v, %+v", sh.target, s.Stats())
	}
}

// TestIdleVirtual: the same for timers on a virtual clock: nothing waits for time then.
func TestIdleVirtual(t *testing.T) {
	v := clock.NewVirtual()
	sh := &For(v).shards[0]
	for i := range 100_000 {
		AfterFunc(time.Duration(1+i%100), func() { t.Error("stopped") }, On(v)).Stop()
	}
	looks := 0
	for v.Jump() {
		looks++
	}
	if looks > 2 || sh.target != clock.Forever || len(sh.chunks) != 1 {
		t.Errorf("%d looks, target %v, %d chunks of nodes", looks, sh.target, len(sh.chunks))
	}
}
