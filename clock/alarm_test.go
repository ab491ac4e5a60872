package clock_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
)

// A kind is one of the alarms of real clocks.
type kind struct {
	name  string
	clock clock.Clock
	alarm func(f func(now clock.Instant)) clock.Alarm
}

// kinds are those that this system has.
func kinds() []kind {
	ks := []kind{
		{"runtime", clock.Monotonic(), clock.Monotonic().NewAlarm},
		{"precise", clock.Monotonic(), clock.NewPreciseAlarm},
	}
	if c, err := clock.Boottime(); err == nil {
		ks = append(ks, kind{"boottime", c, c.NewAlarm})
	}
	if c, err := clock.Realtime(); err == nil {
		ks = append(ks, kind{"realtime", c, c.NewAlarm})
	}
	return ks
}

// eachKind runs body for each of them.
func eachKind(t *testing.T, body func(t *testing.T, k kind)) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) { body(t, k) })
	}
}

// in is d from now.
func (k kind) in(d time.Duration) clock.Instant { return k.clock.Now().Add(d) }

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

// withAlarm runs body in a bubble, with an alarm of each kind that was made there.
func withAlarm(t *testing.T, body func(t *testing.T, k kind, a clock.Alarm, c *calls)) {
	eachKind(t, func(t *testing.T, k kind) {
		synctest.Test(t, func(t *testing.T) {
			c := new(calls)
			body(t, k, k.alarm(c.f), c)
			time.Sleep(200 * year) // whatever else is set comes
			c.expect(t, "in the end")
		})
	})
}

func TestAlarmExact(t *testing.T) {
	withAlarm(t, func(t *testing.T, k kind, a clock.Alarm, c *calls) {
		at := k.in(time.Second)
		a.Set(at)
		time.Sleep(time.Second - 1)
		c.expect(t, "a nanosecond before")
		time.Sleep(1)
		c.expect(t, "at the time", at)
	})
}

func TestAlarmMoves(t *testing.T) {
	withAlarm(t, func(t *testing.T, k kind, a clock.Alarm, c *calls) {
		now := k.clock.Now()
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

		now = k.clock.Now()
		a.Set(now.Add(5)) // again, after it has come
		a.Set(now.Add(5)) // the same
		time.Sleep(10)
		c.expect(t, "set again", now.Add(5))
	})
}

func TestAlarmClear(t *testing.T) {
	withAlarm(t, func(t *testing.T, k kind, a clock.Alarm, c *calls) {
		now := k.clock.Now()
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
	withAlarm(t, func(t *testing.T, k kind, a clock.Alarm, c *calls) {
		a.Set(clock.Forever) // never set
		a.Set(k.in(10))
		a.Set(clock.Forever)
		time.Sleep(time.Hour)
		c.expect(t, "taken back")
	})
}

// TestAlarmInThePast: at once, from another goroutine: the one that sets it may hold what the function wants.
func TestAlarmInThePast(t *testing.T) {
	withAlarm(t, func(t *testing.T, k kind, a clock.Alarm, c *calls) {
		now := k.clock.Now()
		for _, at := range []clock.Instant{now, now - 1, now.Add(-year), now.Add(-200 * year)} {
			c.mu.Lock()
			a.Set(at)
			c.mu.Unlock()
			c.expect(t, "set in the past", now)
		}
	})
}

func TestAlarmSetsItself(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		synctest.Test(t, func(t *testing.T) {
			var c calls
			var a clock.Alarm
			a = k.alarm(func(now clock.Instant) {
				c.f(now)
				if len(c.at) < 3 {
					a.Set(now.Add(time.Minute))
				}
			})
			now := k.clock.Now()
			a.Set(now.Add(time.Minute))
			time.Sleep(time.Hour)
			c.expect(t, "in an hour", now.Add(time.Minute), now.Add(2*time.Minute), now.Add(3*time.Minute))
		})
	})
}

// TestAlarmWorlds: what is done in a bubble leaves alone what was set outside, and what was set in a bubble that has
// ended is no burden to the next one.
func TestAlarmWorlds(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		var c calls
		a := k.alarm(c.f)
		a.Set(k.in(time.Hour))
		for range 2 {
			synctest.Test(t, func(t *testing.T) {
				c.expect(t, "at first")
				a.Clear()
				now := k.clock.Now()
				a.Set(now.Add(5))
				time.Sleep(10)
				c.expect(t, "in the bubble", now.Add(5))
				a.Set(now.Add(time.Second))
				a.Clear()
				time.Sleep(24 * time.Hour)
				c.expect(t, "cleared, and the hour of the world outside has not come")
				a.Set(k.in(time.Hour)) // and the bubble ends
			})
		}
		a.Clear()
		nobodyWaits(t)
		if at := k.clock.Now(); at < 0 {
			t.Errorf("outside the clock shows %v", at)
		}
		outside := make(chan clock.Instant, 1)
		b := k.alarm(func(now clock.Instant) { outside <- now })
		synctest.Test(t, func(t *testing.T) { b.Set(k.in(time.Hour)) })
		b.Set(k.clock.Now()) // set in a bubble first
		if now := <-outside; now < 0 {
			t.Errorf("called with a reading of the bubble: %v", now)
		}
	})
}

// TestAlarmBeforeWaitInBubble: an alarm that is set does not keep a bubble from resting, as one would that waits for
// the kernel; this would hang.
func TestAlarmBeforeWaitInBubble(t *testing.T) {
	withAlarm(t, func(t *testing.T, k kind, a clock.Alarm, c *calls) {
		go a.Set(k.in(365 * 24 * time.Hour))
		c.expect(t, "at rest")
		a.Clear()
	})
}

func TestAlarmNeverEarlyRealTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		type call struct{ now, read clock.Instant }
		came := make(chan call)
		a := k.alarm(func(now clock.Instant) { came <- call{now, k.clock.Now()} })
		for i := range 100 {
			at := k.in(time.Duration(i) * 7 * time.Microsecond)
			a.Set(at.Add(time.Hour))
			a.Set(at)
			c := <-came
			if c.now < at || c.read < c.now && k.name != "realtime" {
				t.Fatalf("set for %d, called with %d at %d", at, c.now, c.read)
			}
		}
		a.Set(k.in(time.Hour))
		a.Clear()
		nobodyWaits(t)
	})
}

// TestAlarmOnceRealTime: every Set that is waited for comes once, whatever was set and cleared before it.
func TestAlarmOnceRealTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		came := make(chan clock.Instant, 10000)
		a := k.alarm(func(now clock.Instant) { came <- now })
		rng := stress.Source(t)(0)
		n := 0
		for range 300 {
			for range rng.IntN(4) { // an hour ahead, so none of these is on its way
				a.Set(k.in(time.Hour + time.Duration(rng.IntN(1000))))
				if rng.IntN(2) == 0 {
					a.Clear()
				}
			}
			at := k.in(time.Duration(rng.IntN(200)-20) * time.Microsecond)
			a.Set(at)
			if now := <-came; now < at {
				t.Fatalf("set for %d, called with %d", at, now)
			}
			n++
		}
		a.Clear()
		nobodyWaits(t)
		if len(came) != 0 {
			t.Errorf("%d calls more than the %d that were set", len(came), n)
		}
	})
}

// TestAlarmChainRealTime: the function sets the alarm, and is called while it has not returned.
func TestAlarmChainRealTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		const n = 50
		var a clock.Alarm
		var calls sync.WaitGroup
		calls.Add(n)
		var mu sync.Mutex
		left := n
		release := make(chan struct{})
		a = k.alarm(func(now clock.Instant) {
			mu.Lock()
			left--
			if left > 0 {
				a.Set(now.Add(time.Hour))
				a.Set(now) // the lock is held
			}
			mu.Unlock()
			calls.Done()
			<-release
		})
		a.Set(k.in(0))
		calls.Wait()
		close(release)
		nobodyWaits(t)
	})
}

// TestAlarmsTogetherRealTime: Set and Clear from everywhere, for the race detector; in the end one Set counts.
func TestAlarmsTogetherRealTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		came := make(chan clock.Instant, 10000)
		a := k.alarm(func(now clock.Instant) { came <- now })
		source := stress.Source(t)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				rng := source(g)
				for i := range 400 {
					switch rng.IntN(4) {
					case 0:
						a.Clear()
					case 1:
						a.Set(k.in(time.Hour))
					case 2:
						a.Set(k.clock.Now())
					case 3:
						a.Set(k.in(time.Duration(i) * time.Microsecond / 4))
					}
					if rng.IntN(8) == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		wg.Wait()
		a.Clear()
		at := k.in(time.Millisecond)
		a.Set(at)
		for now := range came { // calls that were on their way, then the last
			if now >= at {
				break
			}
		}
		a.Set(k.in(time.Hour))
		a.Clear()
		nobodyWaits(t)
	})
}

// TestAlarmKeptRealTime: one that is set comes though nobody refers to it.
func TestAlarmKeptRealTime(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		came := make(chan clock.Instant)
		for range 10 {
			func() { k.alarm(func(now clock.Instant) { came <- now }).Set(k.in(20 * time.Millisecond)) }()
		}
		for range 3 {
			runtime.GC()
		}
		for range 10 {
			<-came
		}
		nobodyWaits(t)
	})
}

// waiting counts the goroutines that wait for a timer of the kernel.
func waiting() int {
	buf := make([]byte, 1<<20)
	return bytes.Count(buf[:runtime.Stack(buf, true)], []byte("clock.(*timerfdAlarm).wait("))
}

// nobodyWaits fails if such a goroutine stays.
func nobodyWaits(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		if n := waiting(); n > 0 {
			return fmt.Errorf("%d goroutines wait, and nothing is set", n)
		}
		return nil
	})
}

// eventually calls cond until it returns nil. The watchdog's time is not a bound of anything.
func eventually(t *testing.T, cond func() error) {
	t.Helper()
	for start := time.Now(); ; runtime.Gosched() {
		err := cond()
		if err == nil {
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatal(err)
		}
	}
}
