package bide_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/execio"
	"bide.invalid/bide/netio"
)

// J. Input and output, processes.

// wire is a connection in memory. The peer is bare.
func (c *C) wire() (mine *netio.Conn, peer net.Conn) {
	a, peer := net.Pipe()
	mine = netio.New(a)
	c.Cleanup(func() { mine.Close(); peer.Close() })
	return mine, peer
}

// early is a connection whose deadline has passed before anybody else's.
type early struct{ net.Conn }

func (early) Read([]byte) (int, error)         { return 0, os.ErrDeadlineExceeded }
func (early) SetReadDeadline(time.Time) error  { return nil }
func (early) SetWriteDeadline(time.Time) error { return nil }

// A wait that is canceled loses no byte, and a write says how far it came.
var _ = register(106, "read_and_write", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		conn, peer := c.wire()
		var buf [8]byte
		err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			op := c.Start(func() error { _, err := conn.ReadContext(ctx, buf[:]); return err })
			op.Parked("nobody writes")
			vc.Advance(time.Second)
			return op.Returned("the deadline")
		})
		c.TimeoutError(err)
		write := c.Start(func() error { _, err := peer.Write([]byte("kept")); return err })
		write.Parked("nobody reads")
		n, err := conn.ReadContext(ctx, buf[:2])
		c.NoError(err)
		m, err := conn.ReadContext(ctx, buf[2:])
		c.NoError(err)
		c.Equal(string(buf[:n+m]), "kept", "what was written")
		c.NoError(write.Returned("all was read"))

		s := bide.Open(ctx)
		sent := -1
		op := c.Start(func() (err error) { sent, err = conn.WriteContext(s, []byte("halfway")); return err })
		_, err = io.ReadFull(peer, buf[:4])
		c.NoError(err)
		op.Parked("half of it is out")
		s.Cancel(failure)
		c.Equal(op.Returned("canceled"), s.Cause(), "error")
		c.Equal(sent, 4, "bytes that went out")
		s.Close(nil)
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) { // the connection's own deadline is the scope's, and faster
		late := &lateClock{Virtual: vc}
		conn := netio.New(early{})
		err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			_, err := conn.ReadContext(ctx, make([]byte, 1))
			c.Equal(err, os.ErrDeadlineExceeded, "before the scope's deadline")
			late.by = time.Second
			_, err = conn.ReadContext(ctx, make([]byte, 1))
			c.Equal(c.Canceled(err).Source, bide.ByDeadline, "source")
			return err
		}, bide.Clock(late))
		c.TimeoutError(err)
	})
})

// lateClock is a clock whose alarms are late.
type lateClock struct {
	*clock.Virtual
	by time.Duration
}

func (l *lateClock) Now() clock.Instant { return l.Virtual.Now().Add(l.by) }

// A scope that was canceled leaves nothing on the connection for the next.
var _ = register(107, "conn_of_two_scopes", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		conn, peer := c.wire()
		for range 3 {
			first, second := bide.Open(ctx, bide.Timeout(time.Second)), bide.Open(ctx, bide.Timeout(time.Minute))
			op := c.Start(func() error { _, err := conn.ReadContext(first, make([]byte, 1)); return err })
			op.Parked("the first scope")
			vc.Advance(time.Second)
			c.Equal(op.Returned("expired"), first.Cause(), "error")
			op = c.Start(func() error { _, err := conn.ReadContext(second, make([]byte, 1)); return err })
			op.Parked("the second scope")
			first.Close(nil)
			op.Parked("the first is closed")
			_, err := peer.Write([]byte("x"))
			c.NoError(err)
			c.NoError(op.Returned("read"))
			second.Close(nil)
		}
	})
})

// Who closes under a canceled scope closes at once: the goodbye is skipped, and the peer is not left hanging.
var _ = register(108, "close_when_canceled", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		conn, peer := c.wire()
		s := bide.Open(ctx)
		s.Cancel(failure)
		_, goodbye := conn.WriteContext(s, []byte("goodbye"))
		c.Equal(goodbye, s.Cause(), "the goodbye")
		c.NoError(conn.Close())
		_, err := peer.Read(make([]byte, 1))
		c.Equal(err, io.EOF, "what the peer reads")
		_, err = conn.ReadContext(ctx, make([]byte, 1))
		c.Is(err, io.ErrClosedPipe)
		s.Close(nil)
	})
})

// Dials is a network where each attempt takes so long, and then fails or stands.
type dials struct {
	vc      *clock.Virtual
	start   clock.Instant
	results []dialed
	mu      sync.Mutex
	starts  []time.Duration
	fours   []bool
	open    int
}

type dialed struct {
	after time.Duration
	err   error
}

type stood struct {
	net.Conn
	of *dials
	n  int
}

func (s *stood) Close() error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.open--
	return nil
}

func (d *dials) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	n := len(d.starts)
	d.starts = append(d.starts, d.vc.Now().Sub(d.start))
	d.fours = append(d.fours, strings.Contains(addr, "."))
	d.mu.Unlock()
	if err := bide.Sleep(ctx, d.results[n].after); err != nil {
		return nil, err
	}
	if d.results[n].err != nil {
		return nil, d.results[n].err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open++
	return &stood{of: d, n: n}, nil
}

func (d *dials) lookup(context.Context, string, string) (ips []netip.Addr, err error) {
	for i := range d.results { // the resolver has all of one family first
		s := fmt.Sprintf("2001:db8::%d", i)
		if i >= (len(d.results)+1)/2 {
			s = fmt.Sprintf("192.0.2.%d", i)
		}
		ips = append(ips, netip.MustParseAddr(s))
	}
	return ips, nil
}

// Happy eyeballs: who wins, when, and when each attempt begins.
var _ = register(109, "dial", func(c *C) {
	const s, ms = time.Second, time.Millisecond
	first, second, third := errors.New("first"), errors.New("second"), errors.New("third")
	for _, x := range []struct {
		results []dialed
		winner  int // -1: nobody
		at      time.Duration
		starts  []time.Duration
		err     string
	}{
		{[]dialed{{s, nil}, {s, nil}, {200 * ms, nil}}, 2, 700 * ms, []time.Duration{0, 250 * ms, 500 * ms}, ""},
		{[]dialed{{s, nil}, {100 * ms, nil}, {200 * ms, nil}}, 1, 350 * ms, []time.Duration{0, 250 * ms}, ""},
		{[]dialed{{100 * ms, first}, {200 * ms, second}, {10 * s, nil}, {250 * ms, nil}}, 3, 800 * ms,
			[]time.Duration{0, 100 * ms, 300 * ms, 550 * ms}, ""},
		{[]dialed{{400 * ms, first}, {100 * ms, second}, {30 * ms, third}}, -1, 400 * ms,
			[]time.Duration{0, 250 * ms, 350 * ms}, "second\nthird\nfirst"},
		{[]dialed{{10 * s, nil}, {10 * s, nil}}, -1, 5 * s, []time.Duration{0, 250 * ms}, "caught"},
	} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			d := &dials{vc: vc, start: vc.Now(), results: x.results}
			dialer := netio.Dialer{Dial: d.dial, Lookup: d.lookup}
			var conn net.Conn
			took, err := c.Timed(vc, func() error {
				moved, err := bide.MoveOnAfter(ctx, 5*time.Second, func(ctx context.Context) (err error) {
					conn, err = dialer.DialContext(ctx, "tcp", "name.example:443")
					return err
				})
				if moved {
					err = errors.New("caught")
				}
				return err
			})
			c.Equal(took, x.at, "when it is over")
			c.True(slices.Equal(d.starts, x.starts), "attempts begin at %v, not %v", x.starts, d.starts)
			for i, four := range d.fours {
				c.Equal(four, i%2 == 1, fmt.Sprintf("attempt %d is to IPv4", i))
			}
			if x.winner < 0 {
				c.True(err != nil && err.Error() == x.err, "error %q, not %v", x.err, err)
			} else if c.NoError(err) {
				c.Equal(conn.(*stood).n, x.winner, "the winner")
				conn.Close()
			}
			c.Equal(d.open, 0, "connections that are open")
		})
	}
})

// says is where a command writes: each Write is a message.
type says chan string

func (s says) Write(p []byte) (int, error) {
	s <- strings.TrimSpace(string(p))
	return len(p), nil
}

// A canceled command is told, has 5 s in a shield, and is killed with a warning; its end is waited for. The rest of the
// item is in package execio.
var _ = register(110, "exec", func(c *C) {
	const deaf = `trap 'echo told' TERM; echo ready; while :; do sleep 1000 & wait $!; done`
	type ended struct {
		cmd *exec.Cmd
		err error
		log string
	}
	start := func(s *bide.Scope, r execio.Runner, script string) (says, <-chan ended) {
		cmd := exec.Command("sh", "-c", script)
		out := make(says, 8)
		cmd.Stdout = out
		var log strings.Builder
		r.Log = slog.New(slog.NewTextHandler(&log, nil))
		done := make(chan ended)
		go func() {
			err := r.Run(s, cmd)
			done <- ended{cmd, err, log.String()}
		}()
		c.Equal(<-out, "ready", "what the command says")
		return out, done
	}
	signal := func(e ended) syscall.Signal { return e.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() }

	vc := clock.NewVirtual()
	s := bide.Open(context.Background(), bide.Clock(vc), bide.Timeout(time.Minute))
	out, done := start(s, execio.Runner{}, deaf)
	vc.Advance(time.Minute)
	c.Equal(<-out, "told", "what the command says")
	vc.Advance(execio.DefaultGrace - 1)
	c.True(len(done) == 0, "it lives until its grace is over")
	vc.Advance(1)
	e := <-done
	c.Equal(e.err, s.Cause(), "error")
	c.Equal(signal(e), syscall.SIGKILL, "signal")
	c.True(strings.Contains(e.log, "level=WARN"), "a warning, not %q", e.log)
	s.Close(nil)

	s = bide.Open(context.Background()) // one that obeys
	_, done = start(s, execio.Runner{}, `echo ready; exec sleep 1000`)
	s.Cancel(failure)
	e = <-done
	c.Equal(e.err, s.Cause(), "error")
	c.Equal(signal(e), syscall.SIGTERM, "signal")
	c.Equal(e.log, "", "warnings")
	s.Close(nil)

	s = bide.Open(context.Background()) // a killer of one's own, which fails
	_, done = start(s, execio.Runner{Kill: func(context.Context, *execio.Tree) error { return failure }}, deaf)
	s.Cancel(nil)
	e = <-done
	c.Is(e.err, failure)
	c.Is(e.err, context.Canceled)
	s.Close(nil)
})
