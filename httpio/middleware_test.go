package httpio_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/httpio"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/wire"
)

// What the handler has: the maximum, or less if a header says so; garbage counts for nothing.
func TestMiddlewareBound(t *testing.T) {
	for _, c := range []struct {
		header []string
		want   time.Duration
	}{
		{nil, time.Minute},
		{[]string{"Grpc-Timeout", "2S"}, 2 * time.Second},
		{[]string{"Connect-Timeout-Ms", "250"}, 250 * time.Millisecond},
		{[]string{"X-Envoy-Expected-Rq-Timeout-Ms", "250"}, 250 * time.Millisecond},
		{[]string{"Request-Timeout", "2"}, 2 * time.Second},
		{[]string{"Grpc-Timeout", "100H"}, time.Minute}, // it may ask
		{[]string{"Grpc-Timeout", "99999999H"}, time.Minute},
		{[]string{"Grpc-Timeout", "soon"}, time.Minute},
		{[]string{"Grpc-Timeout", "soon", "Request-Timeout", "2"}, 2 * time.Second},
		{[]string{"Grpc-Timeout", "9S", "Request-Timeout", "2"}, 2 * time.Second},
	} {
		ctx, vc := bidetest.Virtual(t)
		ignored := wire.Ignored()
		h := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := bide.Remaining(r.Context()); got != c.want {
				t.Errorf("%q: %v, want %v", c.header, got, c.want)
			}
			s := bide.From(r.Context())
			if s != r.Context() || s.Name() != "GET /x" {
				t.Errorf("the request's scope is %v", s)
			}
			vc.Advance(500 * time.Millisecond)
		}))
		r := httptest.NewRequest("GET", "/x", nil).WithContext(ctx)
		for i := 0; i < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		want := 200
		if c.want < time.Second {
			want = 504
		}
		if w.Code != want {
			t.Errorf("%q: answered %d, want %d", c.header, w.Code, want)
		}
		if got, want := wire.Ignored()-ignored, int64(strings.Count(fmt.Sprint(c.header), "soon")); got != want {
			t.Errorf("%q: %d ignored, want %d", c.header, got, want)
		}
	}
}

// What the client is told when the time is over.
func TestMiddlewareLate(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		for name, c := range map[string]struct {
			handler func(w http.ResponseWriter, r *http.Request, over func())
			status  int
			body    string
		}{
			"nothing written": {func(w http.ResponseWriter, r *http.Request, over func()) {
				over()
				<-r.Context().Done()
			}, 504, "bide: GET /x: timeout after 1m0s\n"},
			"nothing written, and the handler has not noticed": {func(w http.ResponseWriter, r *http.Request, over func()) {
				over()
			}, 504, "bide: GET /x: timeout after 1m0s\n"},
			"a header is set": {func(w http.ResponseWriter, r *http.Request, over func()) {
				w.Header().Set("X-Id", "7")
				over()
			}, 504, "bide: GET /x: timeout after 1m0s\n"},
			"early hints": {func(w http.ResponseWriter, r *http.Request, over func()) {
				w.WriteHeader(http.StatusEarlyHints)
				over()
			}, 504, "bide: GET /x: timeout after 1m0s\n"},
			"nothing to copy": {func(w http.ResponseWriter, r *http.Request, over func()) {
				over()
				if n, err := io.Copy(w, iotest.ErrReader(bide.Check(r.Context()))); n != 0 || err == nil {
					t.Errorf("copied %d bytes, %v", n, err)
				}
			}, 504, "bide: GET /x: timeout after 1m0s\n"},
			"an answer of its own": {func(w http.ResponseWriter, r *http.Request, over func()) {
				over()
				http.Error(w, "sorry", 503)
			}, 503, "sorry\n"},
			"a status": {func(w http.ResponseWriter, r *http.Request, over func()) {
				w.WriteHeader(202)
				over()
			}, 202, ""},
			"a byte": {func(w http.ResponseWriter, r *http.Request, over func()) {
				fmt.Fprint(w, "a")
				over()
			}, 200, "a"},
			"flushed": {func(w http.ResponseWriter, r *http.Request, over func()) {
				w.(http.Flusher).Flush()
				over()
				fmt.Fprint(w, "late")
			}, 200, "late"},
			"a copy": {func(w http.ResponseWriter, r *http.Request, over func()) {
				io.Copy(w, strings.NewReader("copied"))
				over()
			}, 200, "copied"},
			"a string": {func(w http.ResponseWriter, r *http.Request, over func()) {
				io.WriteString(w, "a string")
				over()
			}, 200, "a string"},
			"in time": {func(w http.ResponseWriter, r *http.Request, over func()) {}, 200, ""},
			"the handler has canceled": {func(w http.ResponseWriter, r *http.Request, over func()) {
				bide.From(r.Context()).Cancel(errors.New("enough"))
			}, 503, `bide: canceled by cancel of scope "GET /x": enough` + "\n"},
		} {
			ctx, vc := bidetest.Virtual(t)
			server := start(ctx, httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.handler(w, r, func() { vc.Advance(time.Minute) })
			})))
			for range 2 { // the connection is as good as before
				status, body, h, err := get(context.Background(), server.Client(), server.URL+"/x")
				if status != c.status || body != c.body || err != nil {
					t.Errorf("%s: %d %q, %v; want %d %q", name, status, body, err, c.status, c.body)
				}
				if hop := h.Get("Timed-Out-Hop"); (hop == "GET /x") != (c.status == 504) {
					t.Errorf("%s: the hop is %q", name, hop)
				}
			}
			server.Close()
		}
	})
}

// The answer says where the time went.
func TestMiddlewareAccounts(t *testing.T) {
	virtually(func(ctx context.Context) {
		w := httptest.NewRecorder()
		httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = bide.Sleep(r.Context(), 20*time.Second)
			_ = new(syncs.Event).Wait(r.Context())
		})).ServeHTTP(w, httptest.NewRequest("GET", "/x", nil).WithContext(ctx))
		if got, want := w.Body.String(), "bide: GET /x: timeout after 1m0s: event 40s, sleep 20s\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// The connection survives a late request: the next one comes by it.
func TestMiddlewareKeepsConnection(t *testing.T) {
	bidetest.NoLeaks(t)
	ctx, vc := bidetest.Virtual(t)
	peers := map[string]bool{}
	server := start(t, ctx, false, httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		io.Copy(io.Discard, r.Body)
		vc.Advance(time.Minute)
	})))
	for range 3 {
		resp, err := server.Client().Post(server.URL, "text/plain", strings.NewReader("all of it"))
		if err != nil || resp.StatusCode != 504 {
			t.Fatal(resp, err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if len(peers) != 1 {
		t.Errorf("three requests came by %d connections", len(peers))
	}
}

// An outer end is not the handler's lateness: 503 for one without a deadline, and 504 with the outer name for one.
func TestMiddlewareEndedAbove(t *testing.T) {
	bidetest.NoLeaks(t)
	for _, c := range []struct {
		end    func(s *bide.Scope, vc *clock.Virtual)
		status int
		hop    string
	}{
		{func(s *bide.Scope, _ *clock.Virtual) { s.Cancel(errors.New("maintenance")) }, 503, ""},
		{func(s *bide.Scope, _ *clock.Virtual) { s.Stop(0, nil) }, 503, ""},
		{func(_ *bide.Scope, vc *clock.Virtual) { vc.Advance(time.Second) }, 504, "server"},
	} {
		ctx, vc := bidetest.Virtual(t)
		s := bide.Open(ctx, bide.Timeout(time.Second), bide.Name("server"))
		server := start(t, s, false, httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.end(s, vc)
			<-r.Context().Done()
		})))
		status, body, h, err := get(context.Background(), server.Client(), server.URL)
		if status != c.status || h.Get("Timed-Out-Hop") != c.hop || err != nil {
			t.Errorf("%d %q by %q, %v; want %d", status, body, h.Get("Timed-Out-Hop"), err, c.status)
		}
		server.Close()
		s.Close(nil)
	}
}

// A client that leaves ends the scope.
func TestMiddlewareClientLeaves(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		begun, ended := make(chan bool), make(chan error, 1)
		server := start(context.Background(), httpio.Middleware(time.Hour, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- true
			ended <- bide.Sleep(r.Context(), time.Hour)
		})))
		err := bide.Run(context.Background(), func(s *bide.Scope) error {
			go func() {
				<-begun
				s.Cancel(nil)
			}()
			_, _, _, err := get(s, server.Client(), server.URL)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		var c *bide.Canceled
		if err := <-ended; !errors.As(err, &c) || c.Source != bide.ByContext {
			t.Errorf("the handler's end: %v", err)
		}
	})
}

// A slow-drip upload is cut off by the scope's end, in the middle of a read, and the client is told.
func TestMiddlewareSlowUpload(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		for _, late := range []bool{false, true} { // the bound comes during the read, or before it
			ctx, vc := bidetest.Virtual(t)
			var got []error
			server := start(ctx, httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadFull(r.Body, make([]byte, 1)); err != nil {
					t.Error(err)
				}
				if late {
					vc.Advance(time.Minute)
				} else {
					go vc.Advance(time.Minute)
				}
				for range 2 {
					_, err := r.Body.Read(make([]byte, 1))
					got = append(got, err)
				}
				r.Body.Close()
			}), bide.Name("upload")))
			pr, pw := io.Pipe()
			go pw.Write([]byte("a")) // and no more
			resp, err := server.Client().Post(server.URL, "text/plain", pr)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			pr.Close()
			if resp.StatusCode != 504 || resp.Header.Get("Timed-Out-Hop") != "upload" {
				t.Errorf("%d %q", resp.StatusCode, body)
			}
			server.Close()
			for _, err := range got {
				var c *bide.Canceled
				if !errors.As(err, &c) || c.Source != bide.ByDeadline || c.Scope != "upload" {
					t.Errorf("the read's error: %v (%T)", err, err)
				}
			}
		}
	})
}

// An upload that nobody reads does not hold the server's goroutine for as long as the client likes.
func TestMiddlewareUnreadUploadRealTime(t *testing.T) {
	bidetest.NoLeaks(t)
	served := make(chan bool, 1)
	server := httptest.NewServer(httpio.Middleware(time.Hour, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "no, thanks")
		served <- true
	})))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\na")
	<-served
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); string(body) != "no, thanks" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil { // the server has closed it
		t.Error("more than an answer")
	}
}

// A client that does not read the answer does not hold the handler.
func TestMiddlewareUnreadAnswerRealTime(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		ctx, vc := bidetest.Virtual(t)
		ended := make(chan error, 1)
		server := start(ctx, httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			go vc.Advance(time.Minute)
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					ended <- err
					return
				}
			}
		})))
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := <-ended; err == nil {
			t.Error("it could be written")
		}
	})
}

// A panic is let through, and nothing is left open.
func TestMiddlewarePanics(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		for _, what := range []any{"bug", http.ErrAbortHandler} {
			ctx, vc := bidetest.Virtual(t)
			for _, late := range []bool{false, true} {
				var s *bide.Scope
				seen := make(chan any, 1)
				h := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					s = bide.From(r.Context())
					if late {
						vc.Advance(time.Minute)
					}
					panic(what)
				}))
				server := start(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer func() {
						p := recover()
						seen <- p
						panic(p)
					}()
					h.ServeHTTP(w, r)
				}))
				if status, body, _, err := get(context.Background(), server.Client(), server.URL); err == nil {
					t.Errorf("answered %d %q", status, body)
				}
				if p := <-seen; p != what {
					t.Errorf("panic %v, want %v", p, what)
				}
				if s.Err() == nil {
					t.Error("the scope is left open")
				}
				server.Close()
			}
		}
	})
}

// A hijacked connection has no deadline, whether it was hijacked before the end or after, and nothing is written to it.
func TestMiddlewareHijack(t *testing.T) {
	bidetest.NoLeaks(t)
	for _, when := range []string{"in time", "before the end", "after the end"} {
		ctx, vc := bidetest.Virtual(t)
		server := start(t, ctx, false, httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if when == "after the end" {
				vc.Advance(time.Minute)
			}
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			if when == "before the end" {
				vc.Advance(time.Minute)
			}
			if when != "in time" {
				<-r.Context().Done()
			}
			go func() { // it outlives the handler
				defer conn.Close()
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
				line, err := buf.ReadString('\n')
				if line != "go on\n" || err != nil {
					t.Errorf("%s: read %q, %v", when, line, err)
				}
				fmt.Fprint(conn, "lo")
			}()
		})))
		conn, err := tls.Dial("tcp", server.Listener.Addr().String(), server.Client().Transport.(*http.Transport).TLSClientConfig)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: here\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		fmt.Fprint(conn, "go on\n")
		if body, err := io.ReadAll(resp.Body); string(body) != "hello" || err != nil {
			t.Errorf("%s: %q, %v", when, body, err)
		}
		conn.Close()
		server.Close()
	}
}

// hijackable is a fakeWriter of HTTP/1.
type hijackable struct {
	fakeWriter
	conn net.Conn
}

func (w *hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.calls = append(w.calls, "Hijack")
	return w.conn, nil, nil
}

// From the hijacking on nothing is set and nothing is written, whatever the scope does.
func TestMiddlewareLeavesHijackedAlone(t *testing.T) {
	conn, peer := net.Pipe()
	defer conn.Close()
	defer peer.Close()
	for name, want := range map[string]string{"in time": "Hijack", "late": "Hijack"} {
		ctx, vc := bidetest.Virtual(t)
		w := &hijackable{fakeWriter{ResponseWriter: httptest.NewRecorder()}, conn}
		httpio.Middleware(time.Minute, http.HandlerFunc(func(inner http.ResponseWriter, r *http.Request) {
			if _, _, err := http.NewResponseController(inner).Hijack(); err != nil {
				t.Error(err)
			}
			inner.Write(make([]byte, 1<<16)) // which a server refuses
			if name == "late" {
				vc.Advance(time.Minute)
			}
		})).ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader("x")).WithContext(ctx))
		if got := strings.Join(w.calls, " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// fakeWriter is a server's, which tells what is called; it has no more than it says.
type fakeWriter struct {
	http.ResponseWriter
	calls []string
	until time.Duration // what the write deadline allowed
}

func (w *fakeWriter) ReadFrom(r io.Reader) (int64, error) {
	w.calls = append(w.calls, "ReadFrom")
	return io.Copy(io.Discard, r)
}
func (w *fakeWriter) Flush() { w.calls = append(w.calls, "Flush") }
func (w *fakeWriter) EnableFullDuplex() error {
	w.calls = append(w.calls, "EnableFullDuplex")
	return nil
}
func (w *fakeWriter) SetReadDeadline(time.Time) error {
	w.calls = append(w.calls, "SetReadDeadline")
	return nil
}
func (w *fakeWriter) SetWriteDeadline(at time.Time) error {
	w.calls, w.until = append(w.calls, "SetWriteDeadline"), time.Until(at)
	return nil
}

// The writer hides nothing, and promises nothing that HTTP/2 has not.
func TestMiddlewareWriter(t *testing.T) {
	for _, major := range []int{1, 2} {
		w := &fakeWriter{ResponseWriter: httptest.NewRecorder()}
		r := httptest.NewRequest("GET", "/", nil)
		r.ProtoMajor = major
		httpio.Middleware(time.Minute, http.HandlerFunc(func(inner http.ResponseWriter, r *http.Request) {
			_, hijacks := inner.(http.Hijacker)
			_, copies := inner.(io.ReaderFrom)
			_, flushes := inner.(http.Flusher)
			if hijacks != (major == 1) || copies != (major == 1) || !flushes {
				t.Errorf("HTTP/%d: %T: Hijack %v, ReadFrom %v, Flush %v", major, inner, hijacks, copies, flushes)
			}
			c := http.NewResponseController(inner)
			if err := c.EnableFullDuplex(); err != nil {
				t.Error(err)
			}
			if _, _, err := c.Hijack(); !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("Hijack of what has none: %v", err)
			}
			if err := c.Flush(); err != nil {
				t.Error(err)
			}
			io.Copy(inner, struct{ io.Reader }{bytes.NewReader([]byte("x"))})
		})).ServeHTTP(w, r)
		want := "EnableFullDuplex Flush ReadFrom SetWriteDeadline"
		if major == 2 {
			want = "EnableFullDuplex Flush SetWriteDeadline"
		}
		if got := strings.Join(w.calls, " "); got != want {
			t.Errorf("HTTP/%d: calls %q, want %q", major, got, want)
		}
	}
}

// What a writer cannot do has not begun the answer, as with that of an http.TimeoutHandler, which cannot flush.
func TestMiddlewareCannotFlush(t *testing.T) {
	ctx, vc := bidetest.Virtual(t)
	w := httptest.NewRecorder()
	httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).Flush(); !errors.Is(err, http.ErrNotSupported) {
			t.Error(err)
		}
		w.(http.Flusher).Flush()
		vc.Advance(time.Minute)
	})).ServeHTTP(struct{ http.ResponseWriter }{w}, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	if w.Code != http.StatusGatewayTimeout {
		t.Errorf("answered %d", w.Code)
	}
}

// Flush goes through while the handler runs: nothing is buffered.
func TestMiddlewareStreams(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		next := make(chan bool)
		server := start(context.Background(), httpio.Middleware(time.Hour, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for i := range 3 {
				fmt.Fprint(w, i)
				w.(http.Flusher).Flush()
				<-next
			}
		})))
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for i := range 3 {
			b := make([]byte, 1)
			if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != fmt.Sprint(i) {
				t.Errorf("%q, %v", b, err)
			}
			next <- true
		}
	})
}

// A request in time sets no deadline before its end: then one for what is buffered, and one for a body that is left.
func TestMiddlewareDeadlines(t *testing.T) {
	for name, c := range map[string]struct {
		body    io.Reader
		handler func(r *http.Request, over func())
		want    string
	}{
		"in time":              {nil, func(*http.Request, func()) {}, "SetWriteDeadline"},
		"without a bound":      {nil, func(r *http.Request, _ func()) { bide.From(r.Context()).SetDeadline(time.Time{}) }, ""},
		"late":                 {nil, func(_ *http.Request, over func()) { over() }, "SetWriteDeadline"},
		"late, a body is left": {strings.NewReader("x"), func(_ *http.Request, over func()) { over() }, "SetReadDeadline SetWriteDeadline SetReadDeadline"},
		"late, it is read":     {strings.NewReader("x"), func(r *http.Request, over func()) { io.ReadAll(r.Body); over() }, "SetWriteDeadline"},
		"a body is left":       {strings.NewReader("x"), func(*http.Request, func()) {}, "SetWriteDeadline SetReadDeadline"},
		"a body is read":       {strings.NewReader("x"), func(r *http.Request, _ func()) { io.ReadAll(r.Body) }, "SetWriteDeadline"},
	} {
		ctx, vc := t.Context(), (*clock.Virtual)(nil)
		if strings.HasPrefix(name, "late") {
			ctx, vc = bidetest.Virtual(t)
		}
		w := &fakeWriter{ResponseWriter: httptest.NewRecorder()}
		httpio.Middleware(time.Minute, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			c.handler(r, func() { vc.Advance(time.Minute) })
		})).ServeHTTP(w, httptest.NewRequest("POST", "/", c.body).WithContext(ctx))
		if got := strings.Join(w.calls, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		switch late := strings.HasPrefix(name, "late"); {
		case late && (w.until <= 0 || w.until > time.Second), !late && c.want != "" && (w.until <= time.Minute-time.Second || w.until > time.Minute+time.Second):
			t.Errorf("%s: the write deadline is in %v", name, w.until)
		}
	}
}

// A WriteTimeout of the server holds, if it is the shorter one and the handler has not moved it.
func TestMiddlewareWriteTimeout(t *testing.T) {
	move := func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		timeout time.Duration
		handler http.HandlerFunc
		want    string
	}{
		"none":             {0, func(http.ResponseWriter, *http.Request) {}, "SetWriteDeadline"},
		"shorter":          {time.Second, func(http.ResponseWriter, *http.Request) {}, ""},
		"shorter, moved":   {time.Second, move, "SetWriteDeadline SetWriteDeadline"},
		"longer":           {time.Hour, func(http.ResponseWriter, *http.Request) {}, "SetWriteDeadline"},
		"the longest":      {math.MaxInt64, func(http.ResponseWriter, *http.Request) {}, "SetWriteDeadline"},
		"shorter than now": {2 * time.Minute, func(_ http.ResponseWriter, r *http.Request) { bide.From(r.Context()).SetTimeout(time.Hour) }, ""},
	} {
		w := &fakeWriter{ResponseWriter: httptest.NewRecorder()}
		ctx := context.WithValue(t.Context(), http.ServerContextKey, &http.Server{WriteTimeout: c.timeout})
		httpio.Middleware(time.Minute, c.handler).ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
		if got := strings.Join(w.calls, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// It holds also if the scope ends while the handler runs; before the last second it is the sooner one only if it is.
func TestMiddlewareWriteTimeoutOver(t *testing.T) {
	for name, c := range map[string]struct {
		timeout time.Duration
		cancel  bool // at once, and not by the bound
		move    bool
		want    string
	}{
		"shorter":           {10 * time.Millisecond, false, false, ""},
		"shorter, moved":    {10 * time.Millisecond, false, true, "SetWriteDeadline SetWriteDeadline"},
		"longer":            {time.Minute, false, false, "SetWriteDeadline"},
		"canceled":          {30 * time.Second, true, false, "SetWriteDeadline"},
		"canceled, shorter": {time.Second / 2, true, false, ""},
	} {
		bound := 20 * time.Millisecond
		if c.cancel {
			bound = time.Hour
		}
		w := &fakeWriter{ResponseWriter: httptest.NewRecorder()}
		ctx := context.WithValue(t.Context(), http.ServerContextKey, &http.Server{WriteTimeout: c.timeout})
		httpio.Middleware(bound, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.move {
				http.NewResponseController(w).SetWriteDeadline(time.Time{})
			}
			w.Write(make([]byte, 4<<10))
			if c.cancel {
				bide.From(r.Context()).Cancel(nil)
			}
			<-r.Context().Done()
		})).ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
		if got := strings.Join(w.calls, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A client that waits no more has nobody work for it.
func TestMiddlewareNothingLeft(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Grpc-Timeout", "0n")
	w := httptest.NewRecorder()
	httpio.Middleware(time.Minute, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("called")
	}), bide.Name("stock")).ServeHTTP(w, r)
	if w.Code != 504 || w.Header().Get("Timed-Out-Hop") != "stock" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// An error of the body that is not the scope's is the body's.
func TestMiddlewareBodyError(t *testing.T) {
	broken := errors.New("broken")
	for _, want := range []error{broken, os.ErrDeadlineExceeded} {
		httpio.Middleware(time.Minute, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := r.Body.Read(make([]byte, 1)); err != want {
				t.Errorf("%v, want %v", err, want)
			}
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", errReader{want}))
	}
}

// A handler that parses a form leaves no file behind: the server removes them from its own request.
func TestMiddlewareForm(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		var parsed http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := r.ParseMultipartForm(1); err != nil {
				t.Error(err)
			}
			if files, err := os.ReadDir(dir); len(files) != 1 || err != nil {
				t.Errorf("files %v, %v: the form is not in one", files, err)
			}
		})
		for range 2 { // one Middleware, and one in another
			parsed = httpio.Middleware(time.Minute, parsed)
			server := start(context.Background(), parsed)
			var form bytes.Buffer
			w := multipart.NewWriter(&form)
			f, err := w.CreateFormFile("f", "f")
			if err != nil {
				t.Fatal(err)
			}
			f.Write(make([]byte, 11<<20)) // 10 MB more than what is said stay in memory
			w.Close()
			resp, err := server.Client().Post(server.URL, w.FormDataContentType(), &form)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			server.Close() // which waits for the end of the handler
			if files, err := os.ReadDir(dir); len(files) > 0 || err != nil {
				t.Errorf("files %v, %v: left", files, err)
			}
		}
	})
}

// The handler sees what trailers have come, announced or not.
func TestMiddlewareTrailer(t *testing.T) {
	for _, announced := range []string{"", "Trailer: X-Sum\r\n"} {
		h := httpio.Middleware(time.Minute, httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				t.Error(err)
			}
			fmt.Fprint(w, r.Trailer.Get("X-Sum"))
		})))
		server := httptest.NewServer(h)
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: x\r\n", announced, "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 7\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(resp.Body); string(b) != "7" || err != nil {
			t.Errorf("%q: %q, %v", announced, b, err)
		}
		c.Close()
		server.Close()
	}
}

// A body may be read on another goroutine than the request is used on, as a proxy's transport does.
func TestMiddlewareBodyElsewhere(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		server := start(context.Background(), httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			done := make(chan bool)
			go func() {
				io.Copy(io.Discard, r.Body)
				close(done)
			}()
			if s := bide.From(r.WithContext(r.Context()).Context()); s == nil { // no race
				t.Error("the copy has no scope")
			}
			<-done
		})))
		resp, err := server.Client().Post(server.URL, "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	})
}

func TestMiddlewareMisuse(t *testing.T) {
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for want, f := range map[string]func(){
		"bide/httpio: Middleware: max must be positive, not 0s":  func() { httpio.Middleware(0, ok) },
		"bide/httpio: Middleware: max must be positive, not -1s": func() { httpio.Middleware(-time.Second, ok) },
		"bide/httpio: Middleware: nil http.Handler":              func() { httpio.Middleware(1, nil) },
		"bide/httpio: Serve: nil http.Server or net.Listener":    func() { _ = httpio.Serve(t.Context(), nil, nil) },
		"bide: Open: Timeout and Timeout are both given: one bound a scope": func() {
			httpio.Middleware(1, ok, bide.Timeout(1)).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		},
	} {
		func() {
			defer func() {
				if p := recover(); p != want {
					t.Errorf("%v, want %q", p, want)
				}
			}()
			f()
		}()
	}
}

// Handlers that end at about the time of their bound, over and over: one answer each, and it is whole.
func TestMiddlewareStormRealTime(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		const text = "an answer"
		server := start(context.Background(), httpio.Middleware(2*time.Millisecond, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			_ = bide.Sleep(r.Context(), time.Duration(len(r.URL.Path))*time.Millisecond/4)
			if r.URL.Path != "/" {
				return
			}
			io.WriteString(w, text)
		})))
		err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
			for range 4 {
				n.Go(func(ctx context.Context) error {
					for i := range 60 {
						resp, err := server.Client().Post(server.URL+"/"+strings.Repeat("x", i%16), "text/plain", strings.NewReader("body"))
						if err != nil {
							return err
						}
						b, err := io.ReadAll(resp.Body)
						resp.Body.Close()
						switch {
						case err != nil:
							return err
						case resp.StatusCode == 504 && resp.Header.Get("Timed-Out-Hop") != "":
						case resp.StatusCode == 200 && (string(b) == text || i%16 > 0 && len(b) == 0):
						default:
							return fmt.Errorf("%d %q", resp.StatusCode, b)
						}
					}
					return nil
				})
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A body that comes to its end just when its read is ended leaves the server in doubt whether the client is there: the
// connection is not used again.
func TestMiddlewareRetires(t *testing.T) {
	for i := range 4 {
		proto, panics := 1+i%2, i >= 2 // which somebody around it answers
		w := &readDeadline{ResponseRecorder: httptest.NewRecorder(), set: make(chan bool, 1)}
		r := httptest.NewRequest("POST", "/", nil)
		r.ProtoMajor = proto
		var scope *bide.Scope
		r.Body = io.NopCloser(readFunc(func([]byte) (int, error) {
			scope.Cancel(nil)
			<-w.set
			return 0, io.EOF
		}))
		h := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			scope = bide.From(r.Context())
			io.ReadAll(r.Body)
			if panics {
				panic("hey")
			}
		}))
		func() {
			defer func() { recover() }()
			h.ServeHTTP(w, r)
		}()
		if got, want := w.Header().Get("Connection"), map[int]string{1: "close"}[proto]; got != want {
			t.Errorf("HTTP/%d, panics: %v: Connection: %q, want %q", proto, panics, got, want)
		}
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// readDeadline says that a read deadline was set.
type readDeadline struct {
	*httptest.ResponseRecorder
	set chan bool
}

func (w *readDeadline) SetReadDeadline(time.Time) error { w.set <- true; return nil }
