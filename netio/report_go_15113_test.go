package netio_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// golang/go#15113 (also #21941 and #51926). The timeout of ssh.Dial was one for the connect. A server that accepted and
// then said nothing held the client in the handshake, for hours.
//
// Here the bound is the scope's: it holds for the dial and for what code that knows no context says and hears next.
func TestReportGo15113(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine, peer := net.Pipe()
		defer mine.Close()
		defer peer.Close()
		d := netio.Dialer{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return mine, bide.Sleep(ctx, time.Second)
		}}
		start := time.Now()
		err := bide.FailAfter(t.Context(), 10*time.Second, func(ctx context.Context) error {
			c, err := d.DialContext(ctx, "tcp", "192.0.2.1:22")
			if err != nil {
				return err
			}
			_, err = bufio.NewReader(netio.Bind(ctx, c)).ReadString('\n') // "SSH-2.0-…"
			return err
		})
		if took := time.Since(start); !errors.As(err, new(*bide.TimeoutError)) || took != 10*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}
