package timer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A stepped clock is put back, as a wall clock may be.
type stepped struct {
	*clock.Virtual
	back time.Duration
}

func (c *stepped) Now() clock.Instant { return c.Virtual.Now().Add(-c.back) }

// A clock that is put back between a tick and its Claim: the tick has come, and what was missed is not less than nothing.
func TestPeriodOfAClockThatIsPutBack(t *testing.T) {
	c := &stepped{Virtual: clock.NewVirtual()}
	p := timer.Periodic("test", "tick", timer.For(c), time.Second, nil)
	c.Advance(time.Second)
	c.back = time.Hour
	if at, missed := p.Claim(); at != clock.Instant(time.Second) || missed != 0 {
		t.Errorf("the tick of %v, %d missed; want that of 1s, and none", at, missed)
	}
	p.Next()
	if due := p.Due(); due != clock.Instant(2*time.Second) {
		t.Errorf("the next one is due at %v, want 2s", due)
	}
}

// Beyond the time in which a bubble can be told nothing is due: an instant of there is one of the world outside.
func TestPeriodAtTheEdgeBubble(t *testing.T) {
	for _, o := range []timer.Option{timer.Skip(), timer.Burst(), timer.Delay()} {
		synctest.Test(t, func(*testing.T) {
			p := timer.Periodic("test", "tick", timer.Default(), 14*year, []timer.Option{o})
			if due := p.Due(); due >= 0 {
				t.Fatalf("the first tick is due at %v", due)
			}
			time.Sleep(14 * year)
			p.Claim()
			p.Next()
			if due := p.Due(); due != clock.Forever {
				t.Errorf("the second tick is due at %v", due)
			}
		})
	}
}
