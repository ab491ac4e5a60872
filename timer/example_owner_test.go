package timer_test

import (
	"fmt"
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// peer is closed when nothing was heard from it for a while. The entry is a part of it: no timer is allocated, and
// being heard is one store.
type peer struct {
	name  string
	until atomic.Int64 // a clock.Instant
	entry timer.Entry
}

const patience = 30 * time.Second

func open(s *timer.Service, name string) *peer {
	x := &peer{name: name}
	x.entry.Init(x)
	x.heard(s.Clock().Now())
	s.Schedule(&x.entry, clock.Instant(x.until.Load()))
	return x
}

// heard moves the deadline later: the service need not know.
func (x *peer) heard(now clock.Instant) { x.until.Store(int64(now.Add(patience))) }

// Due is asked under a lock of the service: look at atomics, and return.
func (x *peer) Due(now clock.Instant) (again clock.Instant, fired bool) {
	until := clock.Instant(x.until.Load())
	return until, until <= now
}

// Fire follows, without a lock.
func (x *peer) Fire(now clock.Instant) { fmt.Println(x.name, "timed out at", now) }

func ExampleOwner() {
	c := clock.NewVirtual()
	s := timer.For(c)
	open(s, "a")
	b := open(s, "b")
	done := open(s, "done")

	c.Advance(20 * time.Second)
	b.heard(c.Now())
	was, _ := s.Cancel(&done.entry)
	fmt.Println("closed in time:", was)
	c.Advance(time.Hour)
	// Output:
	// closed in time: true
	// a timed out at 30s
	// b timed out at 50s
}
