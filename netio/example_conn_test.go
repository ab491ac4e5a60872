package netio_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/netio"
)

// One bound over a whole exchange; afterwards the connection is as before.
func ExampleConn() {
	a, peer := net.Pipe()
	c := netio.New(a)
	defer c.Close()
	v := clock.NewVirtual()
	go func() {
		bufio.NewReader(peer).ReadString('\n')
		fmt.Fprint(peer, "+O")
		v.Advance(2 * time.Second) // the rest is late
		fmt.Fprint(peer, "K\n")
	}()

	var buf [16]byte
	err := bide.FailAfter(context.Background(), 2*time.Second, func(ctx context.Context) error {
		if _, err := c.WriteContext(ctx, []byte("PING\n")); err != nil {
			return err
		}
		for {
			n, err := c.ReadContext(ctx, buf[:])
			if err != nil {
				return err
			}
			fmt.Printf("%q\n", buf[:n])
		}
	}, bide.Clock(v))
	fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))

	n, err := c.ReadContext(context.Background(), buf[:])
	fmt.Printf("%q %v\n", buf[:n], err)

	// Output:
	// "+O"
	// true
	// "K\n" <nil>
}

// A deadline of the connection's own holds beside the context, whichever comes first. The socket is at hand, for what
// netio has no method for.
func ExampleConn_SetReadDeadline() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	socket, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	c := netio.New(socket)
	defer c.Close()
	fmt.Println(c.NetConn().(*net.TCPConn).SetNoDelay(false))

	past := time.Unix(1, 0)
	fmt.Println(c.SetReadDeadline(past), c.SetWriteDeadline(past))
	_, err = c.ReadContext(context.Background(), make([]byte, 1))
	fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))
	_, err = c.WriteContext(context.Background(), []byte{1})
	fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))

	// Output:
	// <nil>
	// <nil> <nil>
	// true
	// true
}

// A Scanner knows no context. Bound to one, it ends with it.
func ExampleBind() {
	a, peer := net.Pipe()
	c := netio.New(a)
	defer c.Close()
	v := clock.NewVirtual()
	go func() {
		fmt.Fprintln(peer, "one")
		fmt.Fprintln(peer, "two")
		v.Advance(time.Minute)
	}()

	err := bide.FailAfter(context.Background(), time.Minute, func(ctx context.Context) error {
		lines := bufio.NewScanner(netio.Bind(ctx, c))
		for lines.Scan() {
			fmt.Println(lines.Text())
		}
		return lines.Err()
	}, bide.Clock(v))
	fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))

	// Output:
	// one
	// two
	// true
}

// At least 1000 bytes in 10 seconds, or the peer is too slow.
func ExampleBindProgress() {
	a, peer := net.Pipe()
	c := netio.New(a)
	defer c.Close()
	v := clock.NewVirtual()
	go func() {
		for range 9 { // a byte a second: enough to look alive
			fmt.Fprint(peer, ".")
			v.Advance(time.Second)
		}
		fmt.Fprint(peer, ".")
		v.Advance(time.Second)
	}()

	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		body, err := io.ReadAll(netio.BindProgress(s, c, 1000))
		fmt.Println(len(body), "bytes")
		return err
	}, bide.Idle(10*time.Second), bide.Clock(v))
	var late *bide.TimeoutError
	fmt.Println(errors.As(err, &late))

	// Output:
	// 10 bytes
	// true
}

// Who accepts stops when he is told, and no connection is lost.
func ExampleListener() {
	l, err := netio.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	s := bide.Open(context.Background())
	go s.Cancel(errors.New("closed for today"))
	_, err = l.AcceptContext(s)
	fmt.Println(err)
	s.Close(nil)

	go func() {
		if c, err := netio.Dial(context.Background(), "tcp", l.Addr().String()); err == nil {
			c.Close()
		}
	}()
	c, err := l.AcceptContext(context.Background())
	fmt.Println(c != nil, err)
	c.Close()

	// Output:
	// bide: canceled by cancel: closed for today
	// true <nil>
}

func ExamplePacketConn() {
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := netio.NewPacket(u)
	defer c.Close()

	v := clock.NewVirtual()
	ask := func(ctx context.Context) error {
		_, _, err := c.ReadFromContext(ctx, make([]byte, 1500))
		return err
	}
	moved, err := bide.MoveOnAfter(context.Background(), time.Second, func(ctx context.Context) error {
		go v.Advance(time.Second) // the bound has begun
		return ask(ctx)
	}, bide.Clock(v))
	fmt.Println("no answer:", moved, err)

	if _, err := c.WriteToContext(context.Background(), []byte("hello"), c.LocalAddr()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("an answer:", ask(context.Background()))

	// Output:
	// no answer: true <nil>
	// an answer: <nil>
}

// The first address is dead, in the worst way: it does not answer. The second is tried before that is known.
func ExampleDialer() {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	d := netio.Dialer{
		Delay: 10 * time.Millisecond,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if strings.HasPrefix(addr, "[2001:db8:") {
				return nil, bide.Sleep(ctx, time.Hour)
			}
			return new(net.Dialer).DialContext(ctx, network, server.Addr().String())
		},
		Lookup: lookup(2), // 2001:db8::0, 192.0.2.0
	}
	c, err := d.DialContext(context.Background(), "tcp", "db.example:5432")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println("connected to the second")

	// Output:
	// connected to the second
}

// A proxy: everything within an hour, and never a minute without a byte.
func ExamplePipe() {
	proxy := func(ctx context.Context, client net.Conn, upstream string) error {
		defer client.Close()
		return bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error {
			server, err := netio.Dial(ctx, "tcp", upstream) // within the hour, too
			if err != nil {
				return err
			}
			defer server.Close()
			return netio.Pipe(ctx, client, server, time.Minute)
		})
	}

	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer upstream.Close()
	go func() {
		c, err := upstream.Accept()
		if err != nil {
			return
		}
		all, _ := io.ReadAll(c)
		fmt.Fprintf(c, "%s, world", all)
		c.Close()
	}()

	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer front.Close()
	done := make(chan error)
	go func() {
		c, err := front.Accept()
		if err == nil {
			err = proxy(context.Background(), c, upstream.Addr().String())
		}
		done <- err
	}()

	client, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Fprint(client, "hello")
	client.(*net.TCPConn).CloseWrite()
	all, err := io.ReadAll(client)
	fmt.Printf("%s %v %v\n", all, err, <-done)

	// Output:
	// hello, world <nil> <nil>
}
