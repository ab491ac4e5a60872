package netio_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// secrets are those of a server, and what its clients know of it.
func secrets(t *testing.T) (server, client *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<32, 0)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return server, &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a test's
}

// The handshake is under the context, whichever operation does it: a peer that does not answer holds neither.
func TestHandshakeEnds(t *testing.T) {
	_, config := secrets(t)
	for name, op := range map[string]func(context.Context, *netio.Conn) error{
		"read": func(ctx context.Context, c *netio.Conn) error {
			_, err := c.ReadContext(ctx, make([]byte, 1))
			return err
		},
		"write": func(ctx context.Context, c *netio.Conn) error { _, err := c.WriteContext(ctx, []byte("x")); return err },
		"bound": func(ctx context.Context, c *netio.Conn) error {
			_, err := netio.Bind(ctx, c).Write([]byte("x"))
			return err
		},
	} {
		for peerTakes, takes := range map[string]func(net.Conn){
			"it takes everything": func(c net.Conn) { io.Copy(io.Discard, c) },
			"it takes nothing":    func(net.Conn) {},
		} {
			for _, k := range kinds {
				t.Run(name+"/"+peerTakes+"/"+k.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						a, peer := net.Pipe()
						defer peer.Close()
						c := netio.New(tls.Client(a, config))
						go takes(peer)
						ctx, cancel := k.below(t.Context(), time.Minute)
						defer cancel(nil)
						start := time.Now()
						if err := op(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("error %v, want the context's", err)
						}
						if took := time.Since(start); took != time.Minute {
							t.Errorf("ended after %v", took)
						}
						synctest.Wait()
						if _, err := peer.Write([]byte("x")); err == nil {
							t.Error("the connection is open")
						}
					})
				})
			}
		}
	}
}

// A context that is canceled already does not cost the connection its handshake.
func TestHandshakeLater(t *testing.T) {
	server, client := secrets(t)
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		c, peer := netio.New(tls.Client(a, client)), netio.New(tls.Server(b, server))
		defer a.Close()
		defer b.Close()
		s := bide.Open(t.Context())
		s.Cancel(errTest)
		_, err := c.WriteContext(s, []byte("x"))
		canceled(t, s, err)
		s.Close(nil)
		go c.WriteContext(t.Context(), []byte("hello"))
		var buf [8]byte
		if n, err := peer.ReadContext(t.Context(), buf[:]); string(buf[:n]) != "hello" || err != nil {
			t.Errorf("read %q, %v", buf[:n], err)
		}
		// What was read is not lost, and a canceled read can be repeated.
		s = bide.Open(t.Context(), bide.Timeout(time.Second))
		defer s.Close(nil)
		_, err = peer.ReadContext(s, buf[:])
		canceled(t, s, err)
		go c.WriteContext(t.Context(), []byte("again"))
		if n, err := peer.ReadContext(t.Context(), buf[:]); string(buf[:n]) != "again" || err != nil {
			t.Errorf("read %q, %v", buf[:n], err)
		}
	})
}

// A handshake that fails is the connection's error.
func TestHandshakeFails(t *testing.T) {
	_, client := secrets(t)
	synctest.Test(t, func(t *testing.T) {
		a, peer := net.Pipe()
		c := netio.New(tls.Client(a, client))
		defer c.Close()
		go func() {
			io.CopyN(io.Discard, peer, 5)
			peer.Close()
		}()
		s := bide.Open(t.Context(), bide.Timeout(time.Minute))
		defer s.Close(nil)
		if _, err := c.WriteContext(s, []byte("x")); err == nil || errors.As(err, new(*bide.Canceled)) {
			t.Errorf("error %v", err)
		}
	})
}

// TLS on top of a connection that is bound: its goodbye is, too.
func TestGoodbyeIsBound(t *testing.T) {
	server, client := secrets(t)
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		s := bide.Open(t.Context())
		defer s.Close(nil)
		c, peer := tls.Client(netio.Bind(s, a), client), tls.Server(b, server)
		go peer.Handshake()
		if err := c.HandshakeContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Cancel(errTest)
		start := time.Now()
		c.Close()
		if took := time.Since(start); took > 0 {
			t.Errorf("Close took %v", took)
		}
		b.Close()
	})
}

// A write that ends while the connection is being closed leaves the deadline of the goodbye alone.
func TestGoodbyeBesideWrite(t *testing.T) {
	server, client := secrets(t)
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		go tls.Server(b, server).Handshake()
		mine := tls.Client(a, client)
		if err := mine.Handshake(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		closed := make(chan time.Duration)
		var c *netio.Conn
		c = netio.New(returning{mine, func() {
			go func() {
				start := time.Now()
				c.Close()
				closed <- time.Since(start)
			}()
			synctest.Wait() // it says goodbye
		}})
		err := bide.FailAfter(t.Context(), time.Second, func(ctx context.Context) error {
			_, err := c.WriteContext(ctx, []byte("x"))
			return err
		})
		if late := (*bide.TimeoutError)(nil); !errors.As(err, &late) {
			t.Error(err)
		}
		select {
		case d := <-closed:
			if d != 5*time.Second { // that of crypto/tls
				t.Errorf("closed after %v", d)
			}
		case <-time.After(time.Minute):
			t.Error("Close hangs")
			a.Close()
			<-closed
		}
		b.Close()
	})
}

// returning is a TLS connection that calls f when a Write has ended, before it returns.
type returning struct {
	*tls.Conn
	f func()
}

func (c returning) Write(p []byte) (int, error) {
	defer c.f()
	return c.Conn.Write(p)
}
