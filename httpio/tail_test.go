package httpio_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/httpio"
)

// pipes is a listener whose connections are net.Pipe's: what one end writes waits for the other to read it.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes {
	return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

// tailed runs client with a connection to a server of h in a bubble, where sleeping is exact.
func tailed(t *testing.T, srv *http.Server, client func(t *testing.T, c net.Conn, in *bufio.Reader)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, l := bide.Open(t.Context()), newPipes()
		result := make(chan error, 1)
		go func() { result <- httpio.Serve(ctx, srv, l) }()
		c := l.dial()
		client(t, c, bufio.NewReader(c))
		c.Close()
		ctx.Stop(time.Second, nil)
		if err := <-result; err != nil {
			t.Error(err)
		}
		ctx.Close(nil)
	})
}

func ask(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

func answer(t *testing.T, in *bufio.Reader, want string) {
	t.Helper()
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if string(body) != want || err != nil {
		t.Fatalf("%q, %v; want %q", body, err, want)
	}
}

// A client that reads nothing, of an answer that the server writes when the handler has returned, has the connection as
// long as the request has, and a second; one that reads has it for as many requests as it likes.
func TestServeTail(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	for _, wait := range []time.Duration{0, 10 * time.Second, 10*time.Second + 900*time.Millisecond} {
		tailed(t, &http.Server{Handler: httpio.Middleware(10*time.Second, hello)}, func(t *testing.T, c net.Conn, in *bufio.Reader) {
			for range 3 {
				ask(t, c)
				time.Sleep(wait)
				answer(t, in, "hello")
				time.Sleep(time.Minute) // idle: no bound is left
			}
		})
	}
	tailed(t, &http.Server{Handler: httpio.Middleware(10*time.Second, hello)}, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		ask(t, c)
		time.Sleep(11*time.Second + 100*time.Millisecond)
		if b, err := io.ReadAll(in); len(b) > 0 || err != nil {
			t.Errorf("%q, %v; want a closed connection", b, err)
		}
	})
}

// The bound of a Middleware inside of another ends with its handler.
func TestServeTailNested(t *testing.T) {
	inner := httpio.Middleware(time.Second, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a") }))
	for _, wrapped := range []bool{false, true} {
		outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			through := w
			if wrapped {
				through = unwrapper{w}
			}
			inner.ServeHTTP(through, r)
			time.Sleep(5 * time.Second)
			io.WriteString(w, "b")
		})
		tailed(t, &http.Server{Handler: httpio.Middleware(time.Minute, outer)}, func(t *testing.T, c net.Conn, in *bufio.Reader) {
			ask(t, c)
			time.Sleep(30 * time.Second)
			answer(t, in, "ab")
		})
	}
}

// unwrapper is somebody's own ResponseWriter, as logs have.
type unwrapper struct{ http.ResponseWriter }

func (u unwrapper) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// What the server has for its connections already is called as well, and a hijacked connection has no bound.
func TestServeTailHooks(t *testing.T) {
	type key struct{}
	var states []http.ConnState
	srv := &http.Server{
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, key{}, "mine") },
		ConnState:   func(_ net.Conn, s http.ConnState) { states = append(states, s) },
		Handler: httpio.Middleware(time.Second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Context().Value(key{}) != "mine" {
				t.Error("the context of the connection is lost")
			}
			if len(states) < 4 {
				io.WriteString(w, "hello")
				return
			}
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				time.Sleep(time.Hour)
				io.WriteString(c, "late")
				c.Close()
			}()
		})),
	}
	tailed(t, srv, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		ask(t, c)
		answer(t, in, "hello")
		ask(t, c)
		if b, err := io.ReadAll(in); string(b) != "late" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	})
	want := []http.ConnState{http.StateNew, http.StateActive, http.StateIdle, http.StateActive, http.StateHijacked}
	if fmt.Sprint(states) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", states, want)
	}
}
