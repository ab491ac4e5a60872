package main

import (
	"context"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A conn is a connection's idle timeout. When that passes, it tells the soak, once. All but that is done by the soak's
// goroutine.
type conn interface {
	push()  // it was used
	close() // no timeout is told after that
}

// An owner is half of the connections: it keeps its deadline, and an entry of the default service covers it.
type owner struct {
	timer.Entry
	limit  time.Duration
	due    atomic.Int64
	open   atomic.Bool
	passed clock.Instant // what Due took for the deadline; it may be pushed back before Fire
	expire func(late time.Duration)
}

func openOwner(limit time.Duration, expired func(c conn, late time.Duration)) conn {
	o := &owner{limit: limit}
	o.expire = func(late time.Duration) { expired(o, late) }
	o.Init(o)
	o.open.Store(true)
	o.push()
	return o
}

func (o *owner) push() {
	due := clock.After(o.limit)
	o.due.Store(int64(due))
	timer.Default().Cover(&o.Entry, due)
}

func (o *owner) close() {
	o.open.Store(false)
	timer.Default().Cancel(&o.Entry)
}

func (o *owner) Due(now clock.Instant) (clock.Instant, bool) {
	if !o.open.Load() { // told already, and pushed back too late
		return clock.Forever, false
	}
	due := clock.Instant(o.due.Load())
	if due > now {
		return due, false
	}
	o.passed = due
	return clock.Forever, o.open.CompareAndSwap(true, false)
}

func (o *owner) Fire(clock.Instant) { o.expire(clock.Now().Sub(o.passed)) }

// A scope is the other half: an idle limit, and progress.
type scope struct {
	s    *bide.Scope
	stop func() bool
}

func openScope(limit time.Duration, expired func(c conn, late time.Duration)) conn {
	c := &scope{s: bide.Open(context.Background(), bide.Idle(limit))}
	c.stop = c.s.AfterFunc(func() {
		// A Progress that read the clock in time may have moved what Deadline says, although the scope has ended.
		due, _ := c.s.Deadline()
		expired(c, max(0, time.Since(due)))
	})
	return c
}

func (c *scope) push() { c.s.Progress() }

func (c *scope) close() {
	c.stop()
	c.s.Close(nil)
}
