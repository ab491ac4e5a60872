package netio_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/netio"
)

// Accept ends with its context, and goes on under the next; what came is not lost.
func TestAccept(t *testing.T) {
	l, err := netio.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 3 {
		v := clock.NewVirtual()
		s := bide.Open(t.Context(), bide.Clock(v), bide.Timeout(time.Second))
		go v.Advance(time.Second)
		_, err := l.AcceptContext(s)
		canceled(t, s, err)
		s.Close(nil)
	}
	dialed, err := netio.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	c, err := l.AcceptContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	done := make(chan error)
	go func() {
		_, err := l.AcceptContext(t.Context())
		done <- err
	}()
	l.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept of what is closed: %v", err)
	}
}

func TestListenErrors(t *testing.T) {
	s := bide.Open(t.Context())
	defer s.Close(nil)
	s.Cancel(errTest)
	_, err := netio.Listen(s, "tcp", "127.0.0.1:0")
	canceled(t, s, err)
	if _, err := netio.Listen(t.Context(), "tcp", "nowhere"); err == nil {
		t.Error("listens nowhere")
	}
}

// Packets under a context: none is lost to a cancellation.
func TestPackets(t *testing.T) {
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := netio.NewPacket(u)
	defer c.Close()
	var buf [16]byte
	for i := range byte(3) {
		v := clock.NewVirtual()
		s := bide.Open(t.Context(), bide.Clock(v), bide.Timeout(time.Second))
		go v.Advance(time.Second)
		_, _, err := c.ReadFromContext(s, buf[:])
		canceled(t, s, err)
		_, err = c.WriteToContext(s, []byte{i}, u.LocalAddr())
		canceled(t, s, err)
		s.Close(nil)

		if _, err := c.WriteToContext(t.Context(), []byte{i}, u.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		n, from, err := c.ReadFromContext(t.Context(), buf[:])
		if n != 1 || buf[0] != i || err != nil || from.String() != u.LocalAddr().String() {
			t.Errorf("read %d %v from %v: %v", n, buf[0], from, err)
		}
	}
	if err := c.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Error(err)
	}
	if _, _, err := c.ReadFromContext(context.Background(), buf[:]); err == nil {
		t.Error("read after the deadline")
	}
}
