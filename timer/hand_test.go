package timer

import (
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// hand is a clock whose alarms do nothing by themselves: a test sees what they are set for, and is the driver. So
// whatever may happen between two steps of a driver can be made to happen.
type hand struct {
	mu     sync.Mutex
	now    clock.Instant
	alarms []*handAlarm
}

type handAlarm struct {
	c    *hand
	f    func(clock.Instant)
	at   clock.Instant // Forever: not set
	sets int
}

func (h *hand) Now() clock.Instant {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) set(now clock.Instant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = now
}

func (h *hand) FromTime(t time.Time) clock.Instant          { return clock.Instant(t.UnixNano()) }
func (h *hand) Time(i clock.Instant) (t time.Time, ok bool) { return time.Unix(0, int64(i)), false }
func (h *hand) String() string                              { return "hand" }

func (h *hand) NewAlarm(f func(clock.Instant)) clock.Alarm {
	a := &handAlarm{c: h, f: f, at: clock.Forever}
	h.alarms = append(h.alarms, a)
	return a
}

func (a *handAlarm) Set(at clock.Instant) {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	a.at = at
	a.sets++
}

func (a *handAlarm) Clear() { a.Set(clock.Forever) }

// expect says what the alarm is set for, and how often it was set since the last expect.
func (a *handAlarm) expect(t *testing.T, when string, at clock.Instant, sets int) {
	t.Helper()
	if a.at != at || a.sets != sets {
		t.Fatalf("%s: the alarm is set for %v, set %d times; want %v, %d times", when, a.at, a.sets, at, sets)
	}
	a.sets = 0
}

// byHand is a service of one shard with nanosecond ticks on a hand clock.
func byHand() (*Service, *shard, *hand, *handAlarm) {
	h := new(hand)
	s := newService(h, h.NewAlarm, 1, 0)
	return s, &s.shards[0], h, h.alarms[0]
}

// drive moves the clock, and runs a driver as the alarm does.
func (a *handAlarm) drive(now clock.Instant) {
	a.c.set(now)
	a.at = clock.Forever
	a.f(now)
}

// once is an owner that fires once a deadline, and keeps what it saw.
type once struct {
	Entry
	due   clock.Instant
	idle  bool
	asked []clock.Instant
	fired []clock.Instant
	then  func(now clock.Instant)
}

func newOnce(s *Service, due clock.Instant) *once {
	o := &once{due: due}
	o.Init(o)
	s.Schedule(&o.Entry, due)
	return o
}

func (o *once) Due(now clock.Instant) (clock.Instant, bool) {
	o.asked = append(o.asked, now)
	switch {
	case o.idle:
		return clock.Forever, false
	case o.due > now:
		return o.due, false
	}
	o.idle = true
	return clock.Forever, true
}

func (o *once) Fire(now clock.Instant) {
	o.fired = append(o.fired, now)
	if o.then != nil {
		o.then(now)
	}
}
