package httpio_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
	"bide.invalid/bide/wire"
)

// What the server is told, and what bounds the try.
func TestTransportHeader(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		budget wire.Budget
		limit  time.Duration // of the scope around; 0: none
		there  string        // in the request's header
		want   string
		bound  time.Duration // of the try
	}{
		{wire.Budget{}, 0, "", "", forever},
		{wire.Budget{}, 0, "7S", "7S", forever},
		{wire.Budget{}, 2 * time.Second, "", "2000000u", 2 * time.Second},
		{wire.Budget{}, 2 * time.Second, "1S", "1S", 2 * time.Second},
		{wire.Budget{}, 2 * time.Second, "7S", "2000000u", 2 * time.Second},
		{wire.Budget{Slack: 100 * ms}, 2 * time.Second, "", "1900000u", 1950 * ms},
		{wire.Budget{Slack: 100 * ms, MaxPerTry: 500 * ms}, 2 * time.Second, "", "500000u", 550 * ms},
		{wire.Budget{MaxPerTry: 500 * ms}, 0, "", "500000u", 500 * ms},
		{wire.Budget{Slack: 100 * ms}, 0, "", "", forever},
		{wire.Budget{Slack: 100 * ms, MaxPerTry: forever - 1}, 0, "", "2562047H", forever},
	} {
		ctx, _ := bidetest.Virtual(t)
		s := bide.Open(ctx)
		if c.limit > 0 {
			s.SetTimeout(c.limit)
		}
		req := httptest.NewRequest("GET", "http://stock.example/x", nil).WithContext(s)
		if c.there != "" {
			req.Header.Set("Grpc-Timeout", c.there)
		}
		rt := httpio.Tripper{Budget: c.budget, Base: tripper(func(r *http.Request) (*http.Response, error) {
			if got := r.Header.Get("Grpc-Timeout"); got != c.want {
				t.Errorf("%+v: the server is told %q, want %q", c, got, c.want)
			}
			if got := bide.Remaining(r.Context()); got != c.bound {
				t.Errorf("%+v: the try has %v, want %v", c, got, c.bound)
			}
			if got := bide.From(r.Context()); got == s || got.Name() != "stock.example" {
				t.Errorf("%+v: the try's scope is %v", c, got)
			}
			return &http.Response{StatusCode: 204}, nil
		})}
		resp, err := rt.RoundTrip(req)
		if err != nil || resp.Body != http.NoBody {
			t.Error(resp, err)
		}
		if got := req.Header.Get("Grpc-Timeout"); got != c.there || req.Context() != context.Context(s) {
			t.Errorf("%+v: the caller's request was changed", c)
		}
		s.Close(nil)
	}
}

const forever = time.Duration(1<<63 - 1)

// A request without headers gets one.
func TestTransportNilHeader(t *testing.T) {
	ctx, _ := bidetest.Virtual(t)
	_ = bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
		req := httptest.NewRequest("GET", "http://stock.example/x", nil).WithContext(ctx)
		req.Header = nil
		_, err := httpio.Transport(tripper(func(r *http.Request) (*http.Response, error) {
			if got := r.Header.Get("Grpc-Timeout"); got != "1000000u" {
				t.Errorf("%q", got)
			}
			return &http.Response{}, nil
		})).RoundTrip(req)
		return err
	})
}

// closer is a request's body that is to be closed.
type closer struct {
	io.Reader
	closed int
}

func (c *closer) Close() error { c.closed++; return nil }

// A server that would have too little time is not asked; nor is anybody under a canceled context. The request's body is
// closed, as it always is.
func TestTransportDoesNotAsk(t *testing.T) {
	ctx, _ := bidetest.Virtual(t)
	rt := &httpio.Tripper{
		Budget: wire.Budget{Slack: 20 * time.Millisecond, MinWork: 100 * time.Millisecond},
		Base:   tripper(func(*http.Request) (*http.Response, error) { t.Error("asked"); return nil, io.EOF }),
	}
	b := &closer{Reader: strings.NewReader("x")}
	err := bide.FailAfter(ctx, 110*time.Millisecond, func(ctx context.Context) error {
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://stock.example/x", b)
		_, err := (&http.Client{Transport: rt}).Do(req)
		return err
	})
	var e *wire.BudgetError
	if !errors.As(err, &e) || e.Hop != "stock.example" || e.Left != 110*time.Millisecond || e.Need != 120*time.Millisecond {
		t.Errorf("%v (%T)", err, err)
	}
	if b.closed != 1 {
		t.Errorf("the body was closed %d times", b.closed)
	}
	err = bide.FailAfter(ctx, 0, func(ctx context.Context) error {
		_, err := rt.RoundTrip(httptest.NewRequest("GET", "http://stock.example/x", nil).WithContext(ctx))
		return err
	}, bide.Name("checkout"))
	var late *bide.TimeoutError
	if !errors.As(err, &late) || late.Scope != "checkout" {
		t.Errorf("%v (%T)", err, err)
	}
}

// The answer's body is under the bound, and the error says which: that of the scope around, or of the try.
func TestTransportBody(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		sent := make(chan bool, 1)
		server := start(context.Background(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				fmt.Fprint(w, "a drop")
				w.(http.Flusher).Flush()
			}
			sent <- true
			<-r.Context().Done() // the client has hung up
		}))
		host := server.Listener.Addr().String()
		for _, path := range []string{"/never", "/slow"} {
			for _, budget := range []wire.Budget{{}, {MaxPerTry: 10 * time.Second}} {
				ctx, vc := bidetest.Virtual(t)
				client := through(server, &httpio.Tripper{Budget: budget})
				var inner error
				err := bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
					go func() {
						<-sent
						if budget.MaxPerTry > 0 {
							vc.Advance(11 * time.Second)
						} else {
							vc.Advance(time.Minute)
						}
					}()
					_, _, _, inner = get(ctx, client, server.URL+path)
					return inner
				}, bide.Name("checkout"))
				want := bide.TimeoutError{Scope: "checkout", Limit: time.Minute}
				if budget.MaxPerTry > 0 {
					want = bide.TimeoutError{Scope: host, Limit: budget.MaxPerTry}
				}
				var late *bide.TimeoutError
				if !errors.As(err, &late) || late.Scope != want.Scope || late.Limit != want.Limit {
					t.Errorf("%s, %+v: %v (%T)", path, budget, err, err)
				}
				var c *bide.Canceled
				if budget.MaxPerTry == 0 && (!errors.As(inner, &c) || c.Scope != "checkout") {
					t.Errorf("%s: the request's error is %v (%T)", path, inner, inner)
				}
				var ne net.Error
				if !errors.As(inner, &ne) || !ne.Timeout() || !errors.Is(inner, context.DeadlineExceeded) {
					t.Errorf("%s, %+v: %v is no timeout", path, budget, inner)
				}
			}
		}
	})
}

// A try's scope ends with the body: at its end, at an error, at Close, once; and a body that was not closed ends with the
// scope around.
func TestTransportEnds(t *testing.T) {
	reset := errors.New("connection reset")
	for name, c := range map[string]struct {
		body io.Reader
		use  func(b io.ReadCloser) error
		want error
	}{
		"to its end":            {strings.NewReader("all"), func(b io.ReadCloser) error { _, err := io.ReadAll(b); return err }, nil},
		"to its end and closed": {strings.NewReader("all"), func(b io.ReadCloser) error { io.ReadAll(b); return b.Close() }, nil},
		"past its end": {strings.NewReader("all"), func(b io.ReadCloser) error {
			io.ReadAll(b)
			b.Close()
			_, err := b.Read(make([]byte, 1))
			return err
		}, io.EOF},
		"closed early": {strings.NewReader("all"), func(b io.ReadCloser) error { return b.Close() }, nil},
		"closed twice": {strings.NewReader("all"), func(b io.ReadCloser) error { b.Close(); return b.Close() }, nil},
		"an error":     {errReader{reset}, func(b io.ReadCloser) error { _, err := io.ReadAll(b); return err }, reset},
		"an error, twice": {errReader{reset}, func(b io.ReadCloser) error {
			io.ReadAll(b)
			_, err := io.ReadAll(b)
			b.Close()
			return err
		}, reset},
	} {
		ctx, _ := bidetest.Virtual(t)
		var s *bide.Scope
		rt := httpio.Transport(tripper(func(r *http.Request) (*http.Response, error) {
			s = bide.From(r.Context())
			return &http.Response{Body: io.NopCloser(c.body)}, nil
		}))
		resp, err := rt.RoundTrip(httptest.NewRequest("GET", "http://stock.example/", nil).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: before: %v", name, err)
		}
		if err := c.use(resp.Body); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		var end *bide.Canceled
		if !errors.As(s.Cause(), &end) || end.Source != bide.ByAbandoned {
			t.Errorf("%s: the scope: %v", name, s)
		}
	}

	// Not closed.
	var b io.ReadCloser
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		rt := httpio.Transport(tripper(func(r *http.Request) (*http.Response, error) {
			bide.Check(r.Context())
			bide.Check(r.Context())
			ctx := r.Context()
			return &http.Response{Body: io.NopCloser(readerFunc(func([]byte) (int, error) { return 0, context.Cause(ctx) }))}, nil
		}))
		resp, err := rt.RoundTrip(httptest.NewRequest("GET", "http://stock.example/", nil).WithContext(s))
		b = resp.Body
		return err
	})
	if err != nil {
		t.Error(err)
	}
	var end *bide.Canceled
	if _, err := b.Read(nil); !errors.As(err, &end) || end.Source != bide.ByAbandoned {
		t.Errorf("read when the function around has returned: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A server ends its answer when its client hangs up, and the client may still read that, as if it had been the answer's
// end. If the answer has a length that is known to be wrong; without one no end counts that comes after the scope's.
func TestTransportLateEnd(t *testing.T) {
	for length, want := range map[int64]error{5: nil, -1: context.DeadlineExceeded} {
		ctx, vc := bidetest.Virtual(t)
		rt := httpio.Transport(tripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{ContentLength: length, Body: io.NopCloser(strings.NewReader("whole"))}, nil
		}))
		err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			resp, err := rt.RoundTrip(httptest.NewRequest("GET", "http://stock.example/", nil).WithContext(ctx))
			if err != nil {
				return err
			}
			vc.Advance(time.Second)
			b, err := io.ReadAll(resp.Body)
			if string(b) != "whole" {
				t.Errorf("%q", b)
			}
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("a length of %d: %v", length, err)
		}
	}
}

// Likewise an answer whose header comes after the scope's end. Its body is closed.
func TestTransportLateAnswer(t *testing.T) {
	ctx, vc := bidetest.Virtual(t)
	b := &closer{Reader: strings.NewReader("")}
	rt := httpio.Transport(tripper(func(r *http.Request) (*http.Response, error) {
		vc.Advance(time.Second)
		return &http.Response{StatusCode: 200, Body: b}, nil
	}))
	err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
		resp, err := rt.RoundTrip(httptest.NewRequest("GET", "http://stock.example/", nil).WithContext(ctx))
		if resp != nil {
			t.Error(resp)
		}
		return err
	}, bide.Name("client"))
	var late *bide.TimeoutError
	if !errors.As(err, &late) || late.Scope != "client" || b.closed != 1 {
		t.Errorf("%v, and the body was closed %d times", err, b.closed)
	}
}

// An error, or a panic, of the base ends the try.
func TestTransportFails(t *testing.T) {
	ctx, _ := bidetest.Virtual(t)
	refused := errors.New("connection refused")
	req := httptest.NewRequest("GET", "http://stock.example/", nil).WithContext(ctx)
	if _, err := httpio.Transport(tripper(func(*http.Request) (*http.Response, error) { return nil, refused })).RoundTrip(req); err != refused {
		t.Error(err)
	}
	nothing := tripper(func(*http.Request) (*http.Response, error) { return nil, nil })
	const neither = "bide/httpio: httpio_test.tripper, a Tripper's Base, returned neither a response nor an error"
	if resp, err := httpio.Transport(nothing).RoundTrip(req); resp != nil || err == nil || err.Error() != neither {
		t.Error(resp, err)
	}
	var s *bide.Scope
	func() {
		defer func() {
			if p := recover(); p != "bug" {
				t.Error(p)
			}
		}()
		_, _ = httpio.Transport(tripper(func(r *http.Request) (*http.Response, error) {
			s = bide.From(r.Context())
			panic("bug")
		})).RoundTrip(req)
	}()
	if s.Err() == nil {
		t.Error("the scope is left open")
	}
}

// upgrades is a handler that leaves the connection to answer.
func upgrades(t *testing.T, answer func(conn net.Conn, r *bufio.Reader)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		answer(conn, buf.Reader)
	})
}

// After an upgrade the body can be written to, and outlives the scope.
func TestTransportUpgrade(t *testing.T) {
	bidetest.NoLeaks(t)
	server := start(t, context.Background(), false, httpio.Middleware(time.Minute, upgrades(t, func(conn net.Conn, r *bufio.Reader) {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Error(err)
		}
		fmt.Fprint(conn, line)
	})))
	s := bide.Open(t.Context())
	defer s.Close(nil)
	req, _ := http.NewRequestWithContext(s, "GET", server.URL, nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := httpio.Transport(server.Client().Transport).RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	defer resp.Body.Close()
	w, ok := resp.Body.(io.Writer)
	if !ok {
		t.Fatalf("%T cannot be written to", resp.Body)
	}
	s.Cancel(nil)
	fmt.Fprintln(w, "hello")
	if b, err := io.ReadAll(resp.Body); string(b) != "hello\n" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	resp, err = httpio.Transport(tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: io.NopCloser(strings.NewReader(""))}, nil
	})).RoundTrip(req.WithContext(t.Context()))
	if _, ok := resp.Body.(io.Writer); ok || err != nil {
		t.Errorf("a plain body can be written to, %v", err)
	}
	resp.Body.Close()
}

// Through a proxy the end of one direction is passed on, as without a Tripper: the answer to all that was said comes back.
func TestTransportUpgradeHalfClose(t *testing.T) {
	backend := start(t, context.Background(), false, upgrades(t, func(conn net.Conn, r *bufio.Reader) {
		b, err := io.ReadAll(r)
		fmt.Fprintf(conn, "%q, %v", b, err)
	}))
	u, err := url.Parse(backend.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.Transport = httpio.Transport(backend.Client().Transport)
	front := httptest.NewServer(proxy)
	defer front.Close()
	c, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	fmt.Fprint(c, "hello")
	c.(*net.TCPConn).CloseWrite()
	if b, err := io.ReadAll(r); string(b) != `"hello", <nil>` || err != nil {
		t.Errorf("%q, %v", b, err)
	}

	req := httptest.NewRequest("GET", "/", nil)
	resp, err = httpio.Transport(tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: struct {
			io.ReadCloser
			io.Writer
		}{http.NoBody, io.Discard}}, nil
	})).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := resp.Body.(interface{ CloseWrite() error }).CloseWrite(); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("of what has none: %v", err)
	}
}

func TestTransportIdle(t *testing.T) {
	server := start(t, context.Background(), false, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	client := through(server, &httpio.Tripper{})
	if _, _, _, err := get(t.Context(), client, server.URL); err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()                                                    // or the server's Close waits
	(&http.Client{Transport: httpio.Transport(nil)}).CloseIdleConnections()          // of the default
	(&http.Client{Transport: httpio.Transport(tripper(nil))}).CloseIdleConnections() // of one that has none
}

// Servers of the worst kind: what each does with a connection.
func TestTransportBadServers(t *testing.T) {
	for name, serve := range map[string]func(c *net.TCPConn){
		"never answers": func(*net.TCPConn) {},
		"half a header": func(c *net.TCPConn) { fmt.Fprint(c, "HTTP/1.1 200 O") },
		"half a body":   func(c *net.TCPConn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na drop") },
		"drips":         func(c *net.TCPConn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n") },
		"half-open":     func(c *net.TCPConn) { c.CloseRead() },
		"RST":           func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
		"RST in the body": func(c *net.TCPConn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na drop")
			c.SetLinger(0)
			c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bidetest.NoLeaks(t)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			ctx, vc := bidetest.Virtual(t)
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: httpio.Transport(transport)}
			reset := strings.HasPrefix(name, "RST")
			var inner error
			err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(func(ctx context.Context) error {
					return bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
						_, _, _, inner = get(ctx, client, "http://"+l.Addr().String())
						return inner
					}, bide.Name("client"))
				})
				c, err := l.Accept()
				if err != nil {
					return err
				}
				defer c.Close()
				if _, err := c.Read(make([]byte, 1<<10)); err != nil { // the request
					t.Error(err)
				}
				serve(c.(*net.TCPConn))
				if !reset {
					vc.Advance(time.Minute)
					_, err = io.Copy(io.Discard, c) // the client hangs up
					if name != "half-open" && err != nil && !errors.Is(err, net.ErrClosed) {
						t.Log(err) // or it is reset, with data that nobody has read
					}
				}
				return nil
			})
			var late *bide.TimeoutError
			switch {
			case reset && (inner == nil || errors.Is(inner, context.DeadlineExceeded)):
				t.Errorf("%v", inner)
			case !reset && (!errors.As(err, &late) || late.Scope != "client"):
				t.Errorf("%v (%T)", err, err)
			}
		})
	}
}
