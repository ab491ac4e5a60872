package httpio_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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
	wrap   func(net.Conn) net.Conn // may be nil
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
		if p.wrap != nil {
			c = p.wrap(c)
		}
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
	late := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(15 * time.Second)
		io.WriteString(w, "late")
	})
	tailed(t, &http.Server{Handler: httpio.Middleware(10*time.Second, late)}, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		ask(t, c)
		time.Sleep(15*time.Second + 900*time.Millisecond)
		answer(t, in, "late")
		ask(t, c)
		time.Sleep(16*time.Second + 100*time.Millisecond)
		if b, err := io.ReadAll(in); len(b) > 0 || err != nil {
			t.Errorf("%q, %v; want a closed connection", b, err)
		}
	})
}

// The request's own context is the scope; a handler around the Middleware keeps the context that it has.
func TestServeContext(t *testing.T) {
	var r0 *http.Request
	mine := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Context().(*bide.Scope); !ok || r == r0 {
			t.Errorf("the context is %v, the request the outer handler's: %v", r.Context(), r == r0)
		}
		io.Copy(w, r.Body)
		io.WriteString(w, "hello")
	}))
	around := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r0 = r
		mine.ServeHTTP(w, r)
		if _, ok := r.Context().(*bide.Scope); ok || r.Context().Err() != nil {
			t.Errorf("the outer handler's context is %v", r.Context())
		}
	})
	for _, h := range []http.Handler{mine, around} {
		tailed(t, &http.Server{Handler: h}, func(t *testing.T, c net.Conn, in *bufio.Reader) {
			ask(t, c)
			answer(t, in, "hello")
			if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"); err != nil {
				t.Fatal(err)
			}
			answer(t, in, "abchello")
			ask(t, c) // what was read to its end is not looked for
			answer(t, in, "hello")
		})
	}
}

// The bound is where the handler has moved it to.
func TestServeTailMoved(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, _ := time.ParseDuration(r.URL.Query().Get("bound"))
		if !bide.From(r.Context()).SetTimeout(d) {
			t.Error("the bound was not moved")
		}
		time.Sleep(15 * time.Second)
		io.WriteString(w, "hello")
	})
	for _, c := range []struct {
		bound, read time.Duration
		want        string
	}{{time.Minute, 60 * time.Second, "hello"}, {time.Minute, 62 * time.Second, ""}, {17 * time.Second, 19 * time.Second, ""}} {
		tailed(t, &http.Server{Handler: httpio.Middleware(20*time.Second, h)}, func(t *testing.T, conn net.Conn, in *bufio.Reader) {
			fmt.Fprintf(conn, "GET /?bound=%v HTTP/1.1\r\nHost: x\r\n\r\n", c.bound)
			time.Sleep(c.read)
			if c.want != "" {
				answer(t, in, c.want)
			} else if b, err := io.ReadAll(in); len(b) > 0 || err != nil {
				t.Errorf("%v: %q, %v; want a closed connection", c.bound, b, err)
			}
		})
	}
}

// A connection that is hijacked after a Middleware has answered for it is the hijacker's.
func TestServeTailHijackedLater(t *testing.T) {
	first := httpio.Middleware(5*time.Second, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first.ServeHTTP(w, r)
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			time.Sleep(time.Minute)
			io.WriteString(c, "late")
			c.Close()
		}()
	})
	tailed(t, &http.Server{Handler: h}, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		ask(t, c)
		if b, err := io.ReadAll(in); string(b) != "late" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	})
}

// A handler that gives its request to the server's handler once more goes on with its own context.
func TestServeTwice(t *testing.T) {
	srv := &http.Server{}
	srv.Handler = httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/new" {
			io.WriteString(w, "new")
			return
		}
		r.URL.Path = "/new"
		srv.Handler.ServeHTTP(w, r)
		if err := r.Context().Err(); err != nil {
			t.Error(err)
		}
	}))
	tailed(t, srv, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		for range 2 {
			ask(t, c)
			answer(t, in, "new")
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

// Only what a Middleware answers to the client itself, and last, has a tail.
func TestServeTailOfOthers(t *testing.T) {
	say := func(what string, after time.Duration) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(after)
			if err := r.Context().Err(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			io.WriteString(w, what)
		})
	}
	brief := httpio.Middleware(100*time.Millisecond, say("a", 0))
	orphan := httpio.Middleware(time.Minute, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Second) }))
	timeout := http.TimeoutHandler(orphan, time.Second, "late")
	for name, c := range map[string]struct {
		handlers []http.Handler // for one request after the other
		answers  []string
	}{
		"what an http.TimeoutHandler has given up": {[]http.Handler{timeout, say("next", 20*time.Second)}, []string{"late", "next, late"}},
		"a request within the process": {[]http.Handler{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			brief.ServeHTTP(httptest.NewRecorder(), r.Clone(r.Context()))
			say("outer", 5*time.Second).ServeHTTP(w, r)
		})}, []string{"outer, late"}},
		"a longer one after it": {[]http.Handler{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			brief.ServeHTTP(w, r)
			httpio.Middleware(time.Minute, say("b", 5*time.Second)).ServeHTTP(w, r)
		})}, []string{"ab"}},
		"a handler around it that goes on": {[]http.Handler{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			brief.ServeHTTP(w, r)
			say("b", 5*time.Second).ServeHTTP(w, r)
		})}, []string{"ab"}},
		"the next request, without a Middleware": {[]http.Handler{brief, say("b", 0)}, []string{"a", "b, late"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := -1
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n++
				c.handlers[n].ServeHTTP(w, r)
			})}
			tailed(t, srv, func(t *testing.T, conn net.Conn, in *bufio.Reader) {
				for _, want := range c.answers {
					ask(t, conn)
					want, late := strings.CutSuffix(want, ", late")
					if late {
						time.Sleep(time.Hour)
					}
					answer(t, in, want)
				}
			})
		})
	}
}

// A listener may have connections that are no keys of a map.
func TestServeTailOfAnyConn(t *testing.T) {
	type conn struct {
		net.Conn
		f func()
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	synctest.Test(t, func(t *testing.T) {
		ctx, l := bide.Open(t.Context()), newPipes()
		l.wrap = func(c net.Conn) net.Conn { return conn{c, func() {}} }
		result := make(chan error, 1)
		go func() { result <- httpio.Serve(ctx, &http.Server{Handler: httpio.Middleware(time.Second, hello)}, l) }()
		c := l.dial()
		in := bufio.NewReader(c)
		ask(t, c)
		answer(t, in, "hello")
		ask(t, c) // and it has the write deadline
		time.Sleep(3 * time.Second)
		if b, err := io.ReadAll(in); len(b) > 0 || err != nil {
			t.Errorf("%q, %v; want a closed connection", b, err)
		}
		ctx.Stop(time.Second, nil)
		if err := <-result; err != nil {
			t.Error(err)
		}
		ctx.Close(nil)
	})
}

// An answer was begun, and its connection is not to be used again: it is closed at once, but for what a client needs to
// see the answer.
func TestServeTailRetires(t *testing.T) {
	var scope *bide.Scope
	read := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scope = bide.From(r.Context())
		io.WriteString(w, "hello")
		io.ReadAll(r.Body)
	}))
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		poked := make(chan bool, 1)
		r.Body = io.NopCloser(readFunc(func([]byte) (int, error) { // the end comes with the poke
			scope.Cancel(nil)
			<-poked
			return 0, io.EOF
		}))
		read.ServeHTTP(pokedWriter{w, poked}, r)
	})}
	tailed(t, srv, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		ask(t, c)
		answer(t, in, "hello")
		start := time.Now()
		b, err := io.ReadAll(in)
		if d := time.Since(start); len(b) > 0 || err != nil || d > time.Second { // the server's own limit is two minutes
			t.Errorf("%q, %v after %v; want a closed connection", b, err, d)
		}
	})
}

type pokedWriter struct {
	http.ResponseWriter
	poked chan bool
}

func (w pokedWriter) Unwrap() http.ResponseWriter     { return w.ResponseWriter }
func (w pokedWriter) SetReadDeadline(time.Time) error { w.poked <- true; return nil }
