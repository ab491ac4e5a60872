package bide_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// golang/go#35012 (taskcluster#5269). Credentials were good for an hour, and the timer that was to renew them slept with
// the machine: it woke with credentials that had expired hours before, and went on to use them.
//
// Here the scope is on a clock that counts suspend. When the machine wakes its deadline has passed: waits under it end,
// and the first look sees it, before any timer of the other clock has come.
func TestReportGo35012(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boot := new(bootClock)
		var renewal syncs.Event // never set
		waited, slept := make(chan error, 1), make(chan error, 1)
		start := time.Now()
		go func() {
			waited <- bide.FailAfter(context.Background(), time.Hour, renewal.Wait, bide.Clock(boot))
		}()
		go func() {
			slept <- bide.Run(context.Background(), func(s *bide.Scope) error {
				return bide.Sleep(s, 50*time.Minute) // on the scope's clock
			}, bide.Clock(boot), bide.Timeout(time.Hour))
		}()
		looker := bide.Open(context.Background(), bide.Clock(boot), bide.Timeout(time.Hour))
		defer looker.Close(nil)
		if left := looker.Remaining(); left != time.Hour {
			t.Errorf("%v remain of an hour", left)
		}
		synctest.Wait()

		boot.pass(10*time.Minute, true)
		synctest.Wait()
		if len(waited)+len(slept) != 0 || looker.Err() != nil {
			t.Fatal("it is over after ten minutes")
		}
		boot.pass(8*time.Hour, false) // the machine sleeps, and wakes: no alarm has been called yet
		if err := looker.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first look after eight hours: %v", err)
		}
		if left := looker.Remaining(); left != 0 {
			t.Errorf("%v remain after eight hours", left)
		}
		boot.pass(0, true)
		var late *bide.TimeoutError
		if err := <-waited; !errors.As(err, &late) {
			t.Errorf("the wait ended with %v", err)
		}
		if err := <-slept; !errors.As(err, &late) { // both have come: the bound first
			t.Errorf("the sleep ended with %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("that took %v of being awake", took)
		}
	})
}

// bootClock counts suspend: it moves by leaps. Its alarms are called when the test says so.
type bootClock struct {
	mu     sync.Mutex
	now    clock.Instant
	alarms []*bootAlarm
}

type bootAlarm struct {
	c  *bootClock
	f  func(clock.Instant)
	at clock.Instant // Forever: not set
}

func (c *bootClock) Now() clock.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *bootClock) FromTime(t time.Time) clock.Instant { return clock.Instant(t.UnixNano()) }
func (c *bootClock) Time(i clock.Instant) (t time.Time, ok bool) {
	return time.Unix(0, int64(i)), false
}
func (c *bootClock) String() string { return "boot" }

func (c *bootClock) NewAlarm(f func(clock.Instant)) clock.Alarm {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &bootAlarm{c, f, clock.Forever}
	c.alarms = append(c.alarms, a)
	return a
}

func (a *bootAlarm) Set(at clock.Instant) {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	a.at = at
}

func (a *bootAlarm) Clear() { a.Set(clock.Forever) }

// pass moves the clock at once by d; then, if told so, it calls the alarms that have come, until none is left.
func (c *bootClock) pass(d time.Duration, call bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for again := call; again; {
		again = false
		for _, a := range c.alarms {
			if a.at <= c.now {
				a.at, again = clock.Forever, true
				now := c.now
				c.mu.Unlock()
				a.f(now)
				c.mu.Lock()
			}
		}
	}
}
