//go:build linux

package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/netio"
)

// A bad server is one that misbehaves: what it does with a connection before that is closed at the end of the test.
type badServer struct {
	name string
	do   func(c *net.TCPConn, over <-chan struct{})
}

var badServers = []badServer{
	{"never answers", func(c *net.TCPConn, over <-chan struct{}) {
		go io.Copy(io.Discard, c)
		<-over
	}},
	{"never reads", func(c *net.TCPConn, over <-chan struct{}) { <-over }},
	{"drips", func(c *net.TCPConn, over <-chan struct{}) {
		go io.Copy(io.Discard, c)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if _, err := c.Write([]byte{'x'}); err != nil {
					return
				}
			case <-over:
				return
			}
		}
	}},
	// Its end says nothing to the other, as that of a machine that has lost its power.
	{"is half-open", func(c *net.TCPConn, over <-chan struct{}) {
		raw, err := c.SyscallConn()
		if err == nil {
			raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_REPAIR, 1) })
		}
		if err != nil { // only root may: then it is one that never reads
			<-over
		}
	}},
}

// resets is the one that ends at once, with an error: no bound makes a timeout of that.
var resets = badServer{"resets", func(c *net.TCPConn, _ <-chan struct{}) {
	c.Read(make([]byte, 1))
	c.SetLinger(0)
}}

// serve starts the server, until the test is over.
func (b badServer) serve(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				b.do(c.(*net.TCPConn), over)
			})
		}
	})
	t.Cleanup(func() {
		close(over)
		l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

// Clients ask a server: by lines, by a handshake of TLS, by as much as does not fit into the network's buffers.
var clients = map[string]func(ctx context.Context, c net.Conn) error{
	"line": func(ctx context.Context, c net.Conn) error {
		if _, err := c.Write([]byte("PING\n")); err != nil {
			return err
		}
		_, err := bufio.NewReader(c).ReadString('\n')
		return err
	},
	"TLS": func(ctx context.Context, c net.Conn) error {
		return tls.Client(c, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	},
	"much": func(ctx context.Context, c net.Conn) error {
		for range 100 {
			if _, err := c.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
		}
		_, err := c.Read(make([]byte, 1<<20))
		for err == nil {
			_, err = c.Read(make([]byte, 1<<20))
		}
		return err
	},
}

// One bound around dial and use ends it, whatever the server does, and leaves nothing behind.
func TestBadServersRealTime(t *testing.T) {
	for _, server := range badServers {
		for name, client := range clients {
			t.Run(server.name+"/"+name, func(t *testing.T) {
				bidetest.NoLeaks(t) // what is registered later, the server's end, comes before it
				addr := server.serve(t)
				err := bide.FailAfter(context.Background(), 100*time.Millisecond, func(ctx context.Context) error {
					c, err := netio.Dial(ctx, "tcp", addr)
					if err != nil {
						return err
					}
					defer c.Close()
					return client(ctx, netio.Bind(ctx, c))
				}, bide.Name("call"))
				var late *bide.TimeoutError
				switch {
				case errors.As(err, &late) && late.Scope == "call":
				// The kernel of a machine that forgot the connection answers what is sent after that. And TLS knows at once
				// that an x is no handshake.
				case server.name == "is half-open" && errors.Is(err, syscall.ECONNRESET), server.name == "drips" && name == "TLS":
				default:
					t.Errorf("%v (%T)", err, err)
				}
			})
		}
	}
}

// Where nobody sends, nothing but a bound ends a read from a half-open peer.
func TestHalfOpenRealTime(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("SKIPPED: only root may make a connection half-open (TCP_REPAIR)")
	}
	bidetest.NoLeaks(t)
	addr := badServers[3].serve(t)
	err := bide.FailAfter(context.Background(), 100*time.Millisecond, func(ctx context.Context) error {
		c, err := netio.Dial(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = netio.New(c).ReadContext(ctx, make([]byte, 1))
		return err
	})
	var late *bide.TimeoutError
	if !errors.As(err, &late) {
		t.Errorf("%v (%T)", err, err)
	}
}

// A reset is told at once, as what it is.
func TestResetRealTime(t *testing.T) {
	addr := resets.serve(t)
	err := bide.FailAfter(context.Background(), time.Hour, func(ctx context.Context) error {
		c, err := netio.Dial(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer c.Close()
		return clients["line"](ctx, netio.Bind(ctx, c))
	})
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v (%T)", err, err)
	}
}

// A server whose queue of connections is full does not answer a SYN: the dial hangs, and its bound ends it.
func TestDialHangsRealTime(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*unix.SockaddrInet4).Port}).String()
	bidetest.NoLeaks(t)
	err = bide.FailAfter(context.Background(), 300*time.Millisecond, func(ctx context.Context) error {
		for { // until the queue is full
			c, err := netio.Dial(ctx, "tcp", addr)
			if err != nil {
				return err
			}
			defer c.Close()
		}
	}, bide.Name("dial"))
	var late *bide.TimeoutError
	if !errors.As(err, &late) || late.Scope != "dial" {
		t.Errorf("%v (%T)", err, err)
	}
}

// A proxy between a client that waits and a server that says nothing any more ends when nothing has moved for long.
func TestProxyRealTime(t *testing.T) {
	for _, server := range badServers {
		if server.name == "drips" {
			continue // it never stops
		}
		t.Run(server.name, func(t *testing.T) {
			bidetest.NoLeaks(t)
			addr := server.serve(t)
			front, client := net.Pipe()
			defer client.Close()
			defer front.Close()
			err := bide.FailAfter(context.Background(), time.Hour, func(ctx context.Context) error {
				back, err := netio.Dial(ctx, "tcp", addr)
				if err != nil {
					return err
				}
				defer back.Close()
				return netio.Pipe(ctx, front, back, 50*time.Millisecond)
			})
			var late *bide.TimeoutError
			if !errors.As(err, &late) || !late.Idle {
				t.Errorf("%v (%T)", err, err)
			}
		})
	}
}

// An answer over TLS that drips for ever: the bound covers the body, too.
func TestDripOverTLSRealTime(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", server.TLS)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
			if _, err := c.Write([]byte{'x'}); err != nil {
				return
			}
		}
	})
	defer func() { close(over); l.Close(); done.Wait() }()

	begun := false
	err = bide.Run(context.Background(), func(s *bide.Scope) error {
		c, err := netio.Dial(s, "tcp", l.Addr().String())
		if err != nil {
			return err
		}
		defer c.Close()
		answer := tls.Client(netio.Bind(s, c), &tls.Config{InsecureSkipVerify: true})
		if _, err := answer.Read(make([]byte, 1)); err != nil {
			return err
		}
		begun = true
		s.SetTimeout(100 * time.Millisecond)
		_, err = io.Copy(io.Discard, answer)
		return err
	})
	var late *bide.TimeoutError
	if !errors.As(err, &late) || !begun {
		t.Errorf("begun: %v, %v (%T)", begun, err, err)
	}
}
