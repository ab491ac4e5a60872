package netio_test

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// golang/go#16523. A connect told a goroutine when its context was canceled, and that one set a deadline in the past,
// perhaps when the connect had just succeeded: the connection was returned with the deadline still on it.
//
// Here a connect that is canceled as it succeeds is one or the other, and a connection that is returned has no deadline
// left from that.
func TestReportGo16523(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("x"))
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	here := netip.MustParseAddr("127.0.0.1")
	d := netio.Dialer{Delay: time.Nanosecond, Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{here, here, here}, nil
	}}
	stood := 0
	for i := range 100 {
		s := bide.Open(t.Context())
		go func() {
			for range i * 20 {
				s.Err()
			}
			s.Cancel(errTest)
		}()
		c, err := d.DialContext(s, "tcp", net.JoinHostPort("name.example", port))
		if err != nil {
			canceled(t, s, err)
		} else {
			stood++
			s.Cancel(errTest)
			if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Errorf("read %d, %v", n, err)
			}
			c.Close()
		}
		s.Close(nil)
	}
	t.Logf("%d of 100 stood", stood)
}
