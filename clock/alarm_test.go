package clock_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

// calls records what an alarm's function was given.
type calls struct {
	mu sync.Mutex
	at []clock.Instant
}

func (c *calls) f(now clock.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, now)
}

// expect lets the bubble come to rest and compares. It forgets what it has seen.
func (c *calls) expect(t *testing.T, when string, want ...clock.Instant) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.at) != len(want) {
		t.Fatalf("%s: called %v, want %v", when, c.at, want)
	}
	for i := range want {
		if c.at[i] != want[i] {
			t.Fatalf("%s: called %v, want %v", when, c.at, want)
		}
	}
	c.at = nil
}

// withAlarm runs body in a bubble, with an alarm of the monotonic clock that was made there.
func withAlarm(t *testing.T, body func(t *testing.T, a clock.Alarm, c *calls, now clock.Instant)) {
	synctest.Test(t, func(t *testing.T) {
		c := new(calls)
		a := clock.Monotonic().NewAlarm(c.f)
		body(t, a, c, clock.Now())
		time.Sleep(200 * year) // whatever else is set comes
		c.expect(t, "in the end")
	})
}

func TestAlarmExact(t *testing.T) {
	withAlarm(t, func(t *testing.T, a clock.Alarm, c *calls, now clock.Instant) {
		at := now.Add(time.Second)
		a.Set(at)
		time.Sleep(time.Second - 1)
		c.expect(t, "a nanosecond before")
		time.Sleep(1)
		c.expect(t, "at the time", at)
	})
}

func TestAlarmMoves(t *testing.T) {
	withAlarm(t, func(t *testing.T, a clock.Alarm, c *calls, now clock.Instant) {
		a.Set(now.Add(10))
		a.Set(now.Add(20)) // later
		time.Sleep(19)
		c.expect(t, "before the later time")
		time.Sleep(1)
		c.expect(t, "at the later time", now.Add(20))

		a.Set(now.Add(1000))
		a.Set(now.Add(30)) // earlier
		time.Sleep(10)
		c.expect(t, "at the earlier time", now.Add(30))
		time.Sleep(2000)
		c.expect(t, "after both")

		now = clock.Now()
		a.Set(now.Add(5)) // again, after it has come
		a.Set(now.Add(5)) // the same
		time.Sleep(10)
		c.expect(t, "set again", now.Add(5))
	})
}

func TestAlarmClear(t *testing.T) {
	withAlarm(t, func(t *testing.T, a clock.Alarm, c *calls, now clock.Instant) {
		a.Clear() // never set
		a.Set(now.Add(10))
		a.Clear()
		a.Clear()
		time.Sleep(20)
		c.expect(t, "cleared")
		a.Set(now.Add(30))
		time.Sleep(10)
		c.expect(t, "set after Clear", now.Add(30))
		a.Clear() // has come
	})
}

func TestAlarmForever(t *testing.T) {
	withAlarm(t, func(t *testing.T, a clock.Alarm, c *calls, _ clock.Instant) { a.Set(clock.Forever) })
}

// TestAlarmInThePast: at once, from another goroutine: the one that sets it may hold what the function wants.
func TestAlarmInThePast(t *testing.T) {
	withAlarm(t, func(t *testing.T, a clock.Alarm, c *calls, now clock.Instant) {
		for _, at := range []clock.Instant{now, now - 1, now.Add(-year)} {
			c.mu.Lock()
			a.Set(at)
			c.mu.Unlock()
			c.expect(t, "set in the past", now)
		}
	})
}

func TestAlarmSetsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		var a clock.Alarm
		a = clock.Monotonic().NewAlarm(func(now clock.Instant) {
			c.f(now)
			if len(c.at) < 3 {
				a.Set(now.Add(time.Minute))
			}
		})
		now := clock.Now()
		a.Set(now.Add(time.Minute))
		time.Sleep(time.Hour)
		c.expect(t, "in an hour", now.Add(time.Minute), now.Add(2*time.Minute), now.Add(3*time.Minute))
	})
}

func TestAlarmNeverEarlyRealTime(t *testing.T) {
	type call struct{ now, read clock.Instant }
	came := make(chan call)
	a := clock.Monotonic().NewAlarm(func(now clock.Instant) { came <- call{now, clock.Now()} })
	for i := range 100 {
		at := clock.After(time.Duration(i) * 7 * time.Microsecond)
		a.Set(at.Add(time.Hour))
		a.Set(at)
		c := <-came
		if c.now < at || c.read < c.now {
			t.Fatalf("set for %d, called with %d at %d", at, c.now, c.read)
		}
	}
	a.Set(clock.After(time.Hour))
	a.Clear()
}

// TestAlarmsTogetherRealTime: Set and Clear from everywhere, for the race detector; in the end one Set counts.
func TestAlarmsTogetherRealTime(t *testing.T) {
	came := make(chan clock.Instant, 10000)
	a := clock.Monotonic().NewAlarm(func(now clock.Instant) { came <- now })
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				if i%3 == g%3 {
					a.Clear()
				}
				a.Set(clock.After(time.Duration(i) * time.Microsecond))
			}
		})
	}
	wg.Wait()
	a.Clear()
	at := clock.After(time.Millisecond)
	a.Set(at)
	for now := range came { // calls that were on their way, then the last
		if now >= at {
			break
		}
	}
}
