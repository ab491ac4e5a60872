package timer_test

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A driver of one's own that is ahead of a clock that nobody moves: what is scheduled later came as late as that, or
// never, and what was pending came early.
func TestExpireAheadRealTime(t *testing.T) {
	services := map[string]*timer.Service{
		"Default": timer.Default(), "Precise": timer.Precise(), "NewService": timer.NewService(clock.Monotonic()),
	}
	if c, err := clock.Boottime(); err == nil {
		services["Boottime"] = timer.For(c)
	}
	for name, s := range services {
		for _, ahead := range []clock.Instant{s.Clock().Now().Add(48 * time.Hour), clock.Forever - 1, clock.Forever} {
			early := newOwner()
			early.fire = func(now clock.Instant) {
				t.Errorf("%s: Expire(%v) fired, at %v, what is due in a day", name, ahead, now)
			}
			early.schedule(s, s.Clock().Now().Add(24*time.Hour))
			s.Expire(ahead)
			s.Cancel(&early.Entry)

			came := make(chan struct{})
			o := newOwner()
			o.fire = func(clock.Instant) { close(came) }
			o.schedule(s, s.Clock().Now().Add(time.Millisecond))
			select {
			case <-came:
			case <-time.After(time.Minute):
				t.Fatalf("%s: after Expire(%v) what is due in a millisecond does not come", name, ahead)
			}
		}
	}
}
