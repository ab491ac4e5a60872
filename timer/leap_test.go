package timer_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

// leaper is a clock that moves by leaps, over whatever alarms lie between: as one that counts suspend does over a suspend,
// and a wall clock, forwards or backwards, when somebody sets it. What has come is called after the leap, by whoever
// leaps, with the reading of then.
type leaper struct {
	mu      sync.Mutex
	now     clock.Instant
	leaping bool
	alarms  []*leaperAlarm
}

type leaperAlarm struct {
	l  *leaper
	f  func(clock.Instant)
	at clock.Instant // Forever: not set
}

func (l *leaper) Now() clock.Instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *leaper) FromTime(t time.Time) clock.Instant          { return clock.Instant(t.UnixNano()) }
func (l *leaper) Time(i clock.Instant) (t time.Time, ok bool) { return time.Unix(0, int64(i)), false }
func (l *leaper) String() string                              { return "leaper" }

func (l *leaper) NewAlarm(f func(clock.Instant)) clock.Alarm {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &leaperAlarm{l, f, clock.Forever}
	l.alarms = append(l.alarms, a)
	return a
}

func (a *leaperAlarm) Set(at clock.Instant) {
	a.l.mu.Lock()
	defer a.l.mu.Unlock()
	if a.at = at; at <= a.l.now && !a.l.leaping {
		a.at = clock.Forever
		go a.f(a.l.now)
	}
}

func (a *leaperAlarm) Clear() { a.Set(clock.Forever) }

// leap moves the clock by d, which may be negative.
func (l *leaper) leap(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaping = true
	defer func() { l.leaping = false }()
	l.now = l.now.Add(d)
	for a := l.come(); a != nil; a = l.come() {
		a.at = clock.Forever
		now := l.now
		l.mu.Unlock()
		a.f(now)
		l.mu.Lock()
	}
}

func (l *leaper) come() *leaperAlarm {
	for _, a := range l.alarms {
		if a.at <= l.now {
			return a
		}
	}
	return nil
}

// TestLeaperBubble: it leaps over alarms, and calls what has come; an alarm in the past is called at once.
func TestLeaperBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(leaper)
		var called []clock.Instant
		a := l.NewAlarm(func(now clock.Instant) { called = append(called, now) })
		a.Set(10)
		l.leap(9)
		l.leap(-5)
		l.leap(100)
		l.leap(-50)
		a.Set(20)
		synctest.Wait()
		a.Set(1000)
		a.Clear()
		l.leap(5000)
		expectTimes(t, "called", called, 104, 54)
	})
}
