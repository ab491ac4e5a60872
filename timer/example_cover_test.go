package timer_test

import (
	"fmt"
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// conn is used again and again, and each use has a timeout. Its entry stays linked when a use has ended, so that the
// next one finds it there: to arm is two stores and a load.
type conn struct {
	due   atomic.Int64 // a clock.Instant; Forever: not in use
	entry timer.Entry
}

func (x *conn) begin(s *timer.Service, timeout time.Duration) {
	due := s.Clock().Now().Add(timeout)
	x.due.Store(int64(due))
	s.Cover(&x.entry, due)
}

func (x *conn) end() { x.due.Store(int64(clock.Forever)) }

func (x *conn) Due(now clock.Instant) (again clock.Instant, fired bool) {
	due := clock.Instant(x.due.Load())
	return due, due <= now
}

func (x *conn) Fire(now clock.Instant) { fmt.Println("timed out at", now) }

func ExampleService_Cover() {
	c := clock.NewVirtual()
	s := timer.For(c)
	x := &conn{}
	x.entry.Init(x)
	for range 3 {
		x.begin(s, 10*time.Second)
		c.Advance(time.Second)
		x.end()
	}
	x.begin(s, 10*time.Second)
	fmt.Println("linked once:", s.Stats().Scheduled)
	c.Advance(time.Minute)
	// Output:
	// linked once: 1
	// timed out at 13s
}
