package httpio

import (
	"net"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

type closeCounter struct {
	net.Conn
	n int
}

func (c *closeCounter) Close() error { c.n++; return nil }

// The transitions of a tail that meet: whoever ends an answer sees it if its time is over.
func TestTail(t *testing.T) {
	c := &closeCounter{}
	x := &tail{conn: c}
	x.entry.Init(x)
	defer timer.Default().Cancel(&x.entry)
	now := clock.Now()
	due := func(at clock.Instant, wantAgain clock.Instant, wantFired bool) {
		t.Helper()
		if again, fired := x.Due(at); again&^last != wantAgain&^last || fired != wantFired {
			t.Errorf("again %d, fired %v; want %d, %v", again, fired, wantAgain, wantFired)
		}
	}
	ask := func() {
		x.asked.Store(int64(now.Add(time.Hour)))
		x.leave() // T2
	}
	done := func(closed int) {
		t.Helper()
		if x.done(); c.n != closed { // T3
			t.Errorf("closed %d times, want %d", c.n, closed)
		}
	}
	x.due.Store(int64(clock.Forever))
	due(now, clock.Forever, false) // idle

	ask()
	due(now, now.Add(time.Hour), false)
	done(0)
	due(now.Add(2*time.Hour), clock.Forever, false) // T3 was faster

	ask()
	later := now.Add(2 * time.Hour)
	due(later, later.Add(linger), false) // T4
	due(later.Add(linger/2), later.Add(linger), false)
	done(0) // last → idle

	ask()
	due(later, later.Add(linger), false)
	due(later.Add(linger+1), clock.Forever, true) // T5, and not Fire yet
	done(1)
	x.Fire(later)
	due(later.Add(time.Hour), clock.Forever, false)
}

type slowCloser struct {
	net.Conn
	closing, closed chan bool
}

func (c slowCloser) Close() error { c.closing <- true; <-c.closed; return nil }

// A connection that is slow to close holds up nobody's timers.
func TestTailFire(t *testing.T) {
	c := slowCloser{closing: make(chan bool), closed: make(chan bool)}
	(&tail{conn: c}).Fire(0) // returns
	<-c.closing
	close(c.closed)
}
