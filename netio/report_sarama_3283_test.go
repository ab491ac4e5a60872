package netio_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// IBM/sarama#3283 (golang/go#13828). The first Write on a TLS connection does the handshake, and that reads. Only the
// write deadline was set; a broker that did not answer held the writer for ever.
//
// Here the context of the write is that of the handshake, in both directions.
func TestReportSarama3283(t *testing.T) {
	_, config := secrets(t)
	synctest.Test(t, func(t *testing.T) {
		a, broker := net.Pipe()
		go io.Copy(io.Discard, broker)
		defer broker.Close()
		c := netio.New(tls.Client(a, config))
		defer c.Close()
		start := time.Now()
		err := bide.FailAfter(t.Context(), time.Minute, func(ctx context.Context) error {
			_, err := c.WriteContext(ctx, []byte("hello"))
			return err
		})
		if took := time.Since(start); !errors.As(err, new(*bide.TimeoutError)) || took != time.Minute {
			t.Errorf("%v after %v", err, took)
		}
	})
}
