package bide_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// A block is a wait that nothing satisfies but a cancellation.
type block struct {
	name string
	wait func(ctx context.Context) error
}

var blocks = []block{
	{"Sleep for ever", func(ctx context.Context) error { return bide.Sleep(ctx, time.Duration(clock.Forever)) }},
	{"a long Sleep", func(ctx context.Context) error { return bide.Sleep(ctx, 1e6*time.Hour) }},
	{"Lock of a held Mutex", func(ctx context.Context) error {
		var m syncs.Mutex
		m.TryLock()
		return m.Lock(ctx)
	}},
	{"Wait for an Event", func(ctx context.Context) error {
		var e syncs.Event
		return e.Wait(ctx)
	}},
	{"Wait for a Future", func(ctx context.Context) error {
		var f syncs.Future[int]
		_, err := f.Wait(ctx)
		return err
	}},
	{"WaitAny", func(ctx context.Context) error {
		var e syncs.Event
		var f syncs.Future[int]
		_, err := syncs.WaitAny(ctx, &e, &f)
		return err
	}},
}

// blk is the block to use where the kind does not matter.
func blk(ctx context.Context) error { return blocks[3].wait(ctx) }

// A failure is a real error.
var failure = errors.New("failure")

// run is bide.Run that also returns the scope, closed, to be asked for Caught and the like.
func run(ctx context.Context, body func(s *bide.Scope) error, opts ...bide.Option) (s *bide.Scope, err error) {
	err = bide.Run(ctx, func(in *bide.Scope) error {
		s = in
		return body(in)
	}, opts...)
	return s, err
}

// open opens a scope that is closed at the end of the test: of the bubble, inside of one.
func (c *C) open(ctx context.Context, opts ...bide.Option) *bide.Scope {
	s := bide.Open(ctx, opts...)
	c.Cleanup(func() { s.Close(nil) })
	return s
}

// keeps checks that of n calls of f next to nothing is left on the heap.
func (c *C) keeps(n int, f func()) {
	c.Helper()
	if raceEnabled {
		n /= 10
	}
	objects := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapObjects)
	}
	f() // what is made once
	before := objects()
	for range n {
		f()
	}
	left := objects() - before
	c.True(left < n/2, "%d objects are left of %d calls", left, n)
}

// within is MoveOn and Timeout: how the list opens a scope with a deadline.
func within(d time.Duration, more ...bide.Option) []bide.Option {
	return append(more, bide.MoveOn(), bide.Timeout(d))
}

// at is the time d after the virtual clock's beginning.
func at(vc *clock.Virtual, d time.Duration) time.Time {
	t, _ := vc.Time(clock.Instant(d))
	return t
}

// standing checks what a closed scope says of itself.
func (c *C) standing(s *bide.Scope, name string, called, caught bool) {
	c.Helper()
	if !c.True(s != nil, "%s has been opened", name) {
		return
	}
	c.Equal(s.CancelCalled(), called, name+".CancelCalled")
	c.Equal(s.Caught(), caught, name+".Caught")
}

// Timed runs f on a goroutine, moves vc on whenever everybody is parked, and returns how long f took on it.
func (c *C) Timed(vc *clock.Virtual, f func() error) (took time.Duration, err error) {
	c.Helper()
	start := vc.Now()
	op := c.Start(f)
	bidetest.JumpUntil(c, vc, op.Ended)
	return vc.Now().Sub(start), op.err
}

// hooked parks a waiter under ctx, and returns once it is filed. hook is called by whoever ends the wait, inside of its
// call.
func (c *C) hooked(ctx context.Context, hook func()) *Op {
	w := park.New(func(park.Outcome) { hook() })
	t := w.Arm(clock.Forever)
	op := c.Start(func() error {
		if o := w.Wait(ctx, t, park.KindUser); o != park.Canceled {
			return errors.New("woken: " + o.String())
		}
		return park.Reason(ctx)
	})
	op.Parked("a waiter with a hook")
	return op
}

// slow is a clock whose alarms are late: it is ahead of the virtual clock that rings them; if it is behind, it reads as
// it does for somebody who has read it a moment ago. It counts its readings.
type slow struct {
	*clock.Virtual
	ahead atomic.Int64
	reads atomic.Int64
}

func (s *slow) Now() clock.Instant {
	s.reads.Add(1)
	return s.Virtual.Now().Add(time.Duration(s.ahead.Load()))
}
