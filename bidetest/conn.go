package bidetest

import (
	"context"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// A Conn is a net.Conn on which things go wrong when the test says so. It obeys deadlines and Close whatever is wrong, as
// a connection of package net does, and is safe for concurrent use.
//
//	Drip          little is read at a time
//	Stall         nothing is read, and nothing is written, until Resume
//	HalfOpen      the peer has gone, and nobody says so: nothing comes, and what is written is lost
//	Reset         the peer's system knows nothing of the connection
//	PartialWrite  a write is cut off
type Conn struct {
	net.Conn
	ctx context.Context

	mu          sync.Mutex
	changed     chan struct{} // closed when what is below, or a deadline, changes
	read, write direction
	stalled     bool
	half        bool
	reset       bool
	closed      bool
	most        int // bytes of a read; 0: as many as there are
	pause       time.Duration
	sleeps      map[*bide.Scope]bool // of reads that pause
	cut         bool                 // the next write
	after       int
	why         error
}

// A direction is what reads have, and what writes have; under the Conn's mu.
type direction struct {
	timer  *time.Timer // of the deadline
	passed bool
	rest   []byte // was read, and not delivered
}

// NewConn makes a Conn of c, which is used through it from now on. Its pauses are on the clock of ctx, so that of [Bubble]
// or of [Virtual]; when ctx ends, so does whoever waits because something is wrong. Deadlines are times of package time,
// as everywhere.
func NewConn(ctx context.Context, c net.Conn) *Conn {
	return &Conn{Conn: c, ctx: ctx, changed: make(chan struct{})}
}

// Drip has each read, from the next one on, take a pause, and return n bytes at most. Zero n is the end of that.
func (c *Conn) Drip(n int, pause time.Duration) { c.change(func() { c.most, c.pause = n, pause }) }

// Stall has reads and writes wait, reads that are under way included, until Resume, a deadline, or Close.
func (c *Conn) Stall() { c.change(func() { c.stalled = true }) }

// Resume is the end of Stall: nothing was lost.
func (c *Conn) Resume() { c.change(func() { c.stalled = false }) }

// HalfOpen has writes succeed and be lost, and reads wait for ever. There is no way back.
func (c *Conn) HalfOpen() { c.change(func() { c.half = true }) }

// Reset ends reads and writes, those under way included, with ECONNRESET, and closes the connection below: for the other
// side it ends.
func (c *Conn) Reset() {
	c.change(func() { c.reset = true })
	_ = c.Conn.Close()
}

// PartialWrite has the next write pass on n bytes at most, and then fail with err.
func (c *Conn) PartialWrite(n int, err error) {
	c.change(func() { c.cut, c.after, c.why = true, n, err })
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.change(func() { c.closed = true })
	return c.Conn.Close()
}

// Read reads, as far as nothing is wrong.
func (c *Conn) Read(p []byte) (n int, err error) {
	for {
		if err := c.hold("read", &c.read, true); err != nil {
			return 0, err
		}
		p, err := c.drip(p)
		if err != nil {
			return 0, err
		}
		if n := c.takeRest(p); n > 0 {
			return n, nil
		}
		n, err = c.Conn.Read(p)
		c.mu.Lock()
		wrong := c.stalled || c.half || c.reset
		if wrong && n > 0 {
			c.read.rest = append(c.read.rest, p[:n]...)
		}
		c.mu.Unlock()
		if !wrong {
			return n, err
		}
	}
}

// Write writes, as far as nothing is wrong.
func (c *Conn) Write(p []byte) (n int, err error) {
	if err := c.hold("write", &c.write, false); err != nil {
		return 0, err
	}
	c.mu.Lock()
	half, cut, after, why := c.half, c.cut, c.after, c.why
	c.cut = false
	c.mu.Unlock()
	switch {
	case half:
		return len(p), nil
	case cut && after < len(p):
		if n, err = c.Conn.Write(p[:after]); err == nil {
			err = why
		}
	default:
		n, err = c.Conn.Write(p)
	}
	if err != nil && n < len(p) {
		if wrong := c.wrong("write", &c.write); wrong != nil {
			err = wrong
		}
	}
	return n, err
}

// hold waits while there is something that has whoever reads, or writes, wait.
func (c *Conn) hold(op string, d *direction, reads bool) error {
	for {
		if err := c.wrong(op, d); err != nil {
			return err
		}
		c.mu.Lock()
		waits, changed := c.stalled || c.half && reads, c.changed
		c.mu.Unlock()
		if !waits {
			return nil
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
			return c.error(op, park.Reason(c.ctx))
		}
	}
}

// wrong is what ends an operation.
func (c *Conn) wrong(op string, d *direction) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrongLocked(op, d)
}

func (c *Conn) wrongLocked(op string, d *direction) error {
	switch {
	case c.closed:
		return c.error(op, net.ErrClosed)
	case c.reset:
		return c.error(op, syscall.ECONNRESET)
	case d.passed:
		return c.error(op, os.ErrDeadlineExceeded)
	}
	return nil
}

func (c *Conn) error(op string, err error) error {
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// drip pauses, and returns as much of p as may be filled.
func (c *Conn) drip(p []byte) ([]byte, error) {
	c.mu.Lock()
	most, pause := c.most, c.pause
	if most <= 0 {
		c.mu.Unlock()
		return p, nil
	}
	if wrong := c.wrongLocked("read", &c.read); wrong != nil { // since hold has looked
		c.mu.Unlock()
		return nil, wrong
	}
	s := bide.Open(c.ctx)
	defer s.Close(nil)
	if c.sleeps == nil {
		c.sleeps = map[*bide.Scope]bool{}
	}
	c.sleeps[s] = true
	c.mu.Unlock()
	err := bide.Sleep(s, pause)
	c.mu.Lock()
	delete(c.sleeps, s)
	c.mu.Unlock()
	if wrong := c.wrong("read", &c.read); wrong != nil {
		return nil, wrong
	} else if err != nil {
		return nil, c.error("read", err)
	}
	return p[:min(len(p), most)], nil
}

func (c *Conn) takeRest(p []byte) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = copy(p, c.read.rest)
	c.read.rest = c.read.rest[n:]
	return n
}

// change changes what is under mu, and has everybody who waits look again.
func (c *Conn) change(f func()) {
	c.mu.Lock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
	var ended []*bide.Scope
	if c.closed || c.reset || c.read.passed {
		ended = slices.Collect(maps.Keys(c.sleeps))
	}
	c.mu.Unlock()
	for _, s := range ended {
		s.Cancel(nil)
	}
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline bounds reads.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.bound(&c.read, t)
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline bounds writes.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.bound(&c.write, t)
	return c.Conn.SetWriteDeadline(t)
}

func (c *Conn) bound(d *direction, t time.Time) {
	c.change(func() {
		if d.timer != nil {
			d.timer.Stop()
		}
		left := time.Until(t)
		d.timer, d.passed = nil, !t.IsZero() && left <= 0
		if t.IsZero() || d.passed {
			return
		}
		var timer *time.Timer
		timer = time.AfterFunc(left, func() {
			c.change(func() {
				if d.timer == timer { // else the deadline was moved meanwhile
					d.passed = true
				}
			})
		})
		d.timer = timer
	})
}
