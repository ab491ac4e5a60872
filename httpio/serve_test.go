package httpio_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
)

// served is a server under Serve.
type served struct {
	t      *testing.T
	url    string
	client *http.Client
	result chan error // Serve's
}

// serve serves h under ctx, over TLS.
func serve(t *testing.T, ctx context.Context, h2 bool, h http.Handler) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// A server of httptest lends its certificate, and a client that trusts it.
	lender := httptest.NewUnstartedServer(nil)
	lender.EnableHTTP2 = h2
	lender.StartTLS()
	conf := &tls.Config{Certificates: lender.TLS.Certificates, NextProtos: []string{"http/1.1"}}
	if h2 {
		conf.NextProtos = []string{"h2"}
	}
	client := lender.Client()
	lender.Close()
	t.Cleanup(client.CloseIdleConnections)
	s := &served{t, "https://" + l.Addr().String(), client, make(chan error, 1)}
	srv := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { s.result <- httpio.Serve(ctx, srv, tls.NewListener(l, conf)) }()
	return s
}

// closed fails unless the server takes no connection any more.
func (s *served) closed() {
	s.t.Helper()
	if c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "https://")); err == nil {
		s.t.Error("it still listens")
		c.Close()
	}
}

func serveVersions(t *testing.T, f func(t *testing.T, serve func(ctx context.Context, h http.Handler) *served)) {
	for name, h2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
		t.Run(name, func(t *testing.T) {
			bidetest.NoLeaks(t)
			f(t, func(ctx context.Context, h http.Handler) *served { return serve(t, ctx, h2, h) })
		})
	}
}

// The soft phase: what was begun comes to its end, and the handler may know.
func TestServeDrains(t *testing.T) {
	serveVersions(t, func(t *testing.T, serve func(context.Context, http.Handler) *served) {
		ctx, _ := bidetest.Virtual(t)
		s := bide.Open(ctx)
		begun := make(chan bool)
		srv := serve(s, httpio.Middleware(time.Hour, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				return
			}
			begun <- true
			<-bide.Draining(r.Context())
			if err := bide.Check(r.Context()); err != nil {
				t.Error(err)
			}
			fmt.Fprint(w, "to its end")
		})))
		if status, _, _, err := get(t.Context(), srv.client, srv.url); status != 200 || err != nil {
			t.Error(status, err)
		}
		go func() {
			<-begun
			s.Stop(time.Minute, nil)
		}()
		status, body, _, err := get(t.Context(), srv.client, srv.url+"/long")
		if status != 200 || body != "to its end" || err != nil {
			t.Errorf("%d %q, %v", status, body, err)
		}
		if err := <-srv.result; err != nil {
			t.Error(err)
		}
		srv.closed()
		s.Close(nil)
	})
}

// The hard end: what is left is canceled and cut off, and Serve waits for its handlers.
func TestServeHardEnd(t *testing.T) {
	serveVersions(t, func(t *testing.T, serve func(context.Context, http.Handler) *served) {
		for _, c := range []struct {
			name   string
			end    func(s *bide.Scope, advance func(time.Duration))
			source bide.Source
		}{
			{"Stop", func(s *bide.Scope, advance func(time.Duration)) { s.Stop(time.Minute, nil); advance(time.Minute) }, bide.ByShutdown},
			{"Cancel", func(s *bide.Scope, _ func(time.Duration)) { s.Cancel(nil) }, bide.ByCancel},
		} {
			ctx, vc := bidetest.Virtual(t)
			s := bide.Open(ctx)
			begun, go1 := make(chan bool), make(chan bool)
			ended := false
			srv := serve(s, httpio.Middleware(time.Hour, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begun <- true
				<-r.Context().Done()
				<-go1
				ended = true
			})))
			asked := make(chan bool)
			go func() {
				defer close(asked)
				if status, _, _, err := get(context.Background(), srv.client, srv.url); err == nil && status != 503 {
					t.Errorf("%s: answered %d", c.name, status)
				}
			}()
			<-begun
			c.end(s, func(d time.Duration) { vc.Advance(d) })
			<-asked // cut off: had the handler returned before that, there would have been nothing to cut
			srv.client.CloseIdleConnections()
			select {
			case err := <-srv.result:
				t.Errorf("%s: Serve has returned before the handler: %v", c.name, err)
			default:
			}
			close(go1)
			err := <-srv.result
			var end *bide.Canceled
			if !ended || !errors.As(err, &end) || end.Source != c.source {
				t.Errorf("%s: %v, and the handler has returned: %v", c.name, err, ended)
			}
			srv.closed()
			s.Close(nil)
		}
	})
}

// Under a context that is not a scope there is only the hard end.
func TestServeStandardContext(t *testing.T) {
	bidetest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	srv := serve(t, ctx, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	if status, _, _, err := get(t.Context(), srv.client, srv.url); status != 200 || err != nil {
		t.Error(status, err)
	}
	cancel()
	if err := <-srv.result; err != context.Canceled {
		t.Error(err)
	}
	srv.closed()
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	if err := httpio.Serve(ctx, &http.Server{}, l); err != context.Canceled {
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener of a canceled Serve: %v", err)
	}
}

// A listener that fails ends Serve with its error, when what was begun has come to its end.
func TestServeListenerFails(t *testing.T) {
	bidetest.NoLeaks(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fail := make(chan bool)
	broken := &brokenListener{Listener: l, err: errors.New("no more files"), fail: fail}
	stopped := make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(fail)
		<-stopped
		fmt.Fprint(w, "to its end")
	})}
	srv.RegisterOnShutdown(func() { close(stopped) })
	result := make(chan error, 1)
	go func() { result <- httpio.Serve(t.Context(), srv, broken) }()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if _, body, _, err := get(t.Context(), c, "http://"+l.Addr().String()); body != "to its end" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
	if err := <-result; err != broken.err {
		t.Error(err)
	}
}

type brokenListener struct {
	net.Listener
	err   error
	fail  chan bool
	taken bool
}

func (l *brokenListener) Accept() (net.Conn, error) {
	if !l.taken {
		l.taken = true
		return l.Listener.Accept()
	}
	<-l.fail
	return nil, l.err
}

// A Shutdown that others ask for is a drain.
func TestServeShutdownByOthers(t *testing.T) {
	bidetest.NoLeaks(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.NotFoundHandler()}
	result := make(chan error, 1)
	go func() { result <- httpio.Serve(t.Context(), srv, l) }()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if status, _, _, err := get(t.Context(), c, "http://"+l.Addr().String()); status != 404 || err != nil {
		t.Error(status, err)
	}
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// Limits that are not set are set, and what is set stays.
func TestServeLimits(t *testing.T) {
	base := func(net.Listener) context.Context { return context.Background() }
	for _, c := range []struct{ before, after *http.Server }{
		{&http.Server{}, &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}},
		{
			&http.Server{ReadTimeout: time.Second},
			&http.Server{ReadTimeout: time.Second, MaxHeaderBytes: 64 << 10},
		},
		{
			&http.Server{ReadHeaderTimeout: 1, IdleTimeout: 2, MaxHeaderBytes: 3, WriteTimeout: 4, BaseContext: base},
			&http.Server{ReadHeaderTimeout: 1, IdleTimeout: 2, MaxHeaderBytes: 3, WriteTimeout: 4},
		},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv, want := c.before, c.after
		ctx, cancel := context.WithCancel(t.Context())
		l.Close() // it ends at once
		if err := httpio.Serve(ctx, srv, l); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		cancel()
		if srv.ReadTimeout != want.ReadTimeout || srv.ReadHeaderTimeout != want.ReadHeaderTimeout || srv.IdleTimeout != want.IdleTimeout ||
			srv.WriteTimeout != want.WriteTimeout || srv.MaxHeaderBytes != want.MaxHeaderBytes {
			t.Errorf("limits: %v %v %v %v %v", srv.ReadTimeout, srv.ReadHeaderTimeout, srv.IdleTimeout, srv.WriteTimeout, srv.MaxHeaderBytes)
		}
		if got := srv.BaseContext(nil); (got == context.Background()) != (want.WriteTimeout == 4) {
			t.Errorf("BaseContext: %v", got)
		}
	}
}
