package httpio_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
	"bide.invalid/bide/wire"
)

func TestCheck(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct {
		status int
		hop    string
		want   string
	}{
		{200, "", ""}, {504, "", ""}, {200, "stock", ""}, {503, "stock", ""},
		{504, "stock", "stock"}, {504, long, long[:256]},
	} {
		resp := &http.Response{StatusCode: c.status, Header: http.Header{}}
		if c.hop != "" {
			resp.Header.Set("Timed-Out-Hop", c.hop)
		}
		err := httpio.Check(resp)
		var e *httpio.HopError
		if (err != nil) != (c.want != "") || err != nil && (!errors.As(err, &e) || e.Hop != c.want) {
			t.Errorf("%d %.9q: %v", c.status, c.hop, err)
		}
	}
}

// A HopError is a timeout to whoever asks, and no scope's own.
func TestHopError(t *testing.T) {
	ctx, vc := bidetest.Virtual(t)
	err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
		vc.Advance(time.Minute)
		return &httpio.HopError{Hop: "stock\n"}
	})
	var ne net.Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() || !ne.Temporary() {
		t.Errorf("%v (%T)", err, err)
	}
	if got, want := err.Error(), `bide/httpio: "stock\n" ran out of time`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestError(t *testing.T) {
	expired := bide.FailAfter(t.Context(), 0, func(ctx context.Context) error { return bide.Check(ctx) }, bide.Name("checkout"))
	var inside, canceled error
	_ = bide.FailAfter(t.Context(), 0, func(ctx context.Context) error { inside = bide.Check(ctx); return nil }, bide.Name("order"))
	_ = bide.Run(t.Context(), func(s *bide.Scope) error { s.Cancel(nil); canceled = s.Check(); return nil })
	for _, c := range []struct {
		err    error
		status int
		hop    string
		body   string // "": err's text
	}{
		{&httpio.HopError{Hop: "stock"}, 504, "stock", ""},
		{fmt.Errorf("asking: %w", &httpio.HopError{Hop: "stock"}), 504, "stock", ""},
		{&wire.BudgetError{Hop: "price"}, 504, "price", ""},
		{expired, 504, "checkout", ""},
		{inside, 504, "order", ""},
		{errors.Join(expired, &httpio.HopError{Hop: "stock"}), 504, "stock", ""}, // who is farthest away
		{context.DeadlineExceeded, 504, "", ""},
		{os.ErrDeadlineExceeded, 504, "", ""},
		{canceled, 503, "", ""},
		{context.Canceled, 503, "", ""},
		{errors.New("password wrong for db7"), 500, "", "Internal Server Error"},
	} {
		w := httptest.NewRecorder()
		httpio.Error(w, c.err)
		if c.body == "" {
			c.body = c.err.Error()
		}
		if w.Code != c.status || w.Header().Get("Timed-Out-Hop") != c.hop || w.Body.String() != c.body+"\n" {
			t.Errorf("%v: %d by %q: %q", c.err, w.Code, w.Header().Get("Timed-Out-Hop"), w.Body)
		}
	}
}

// The name is often a path, which others write: whatever is in it, the answer comes through.
func TestHopOfAnyPath(t *testing.T) {
	versions(t, func(t *testing.T, start func(context.Context, http.Handler) *httptest.Server) {
		ctx, vc := bidetest.Virtual(t)
		server := start(ctx, httpio.Middleware(time.Minute, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			vc.Advance(time.Minute)
		})))
		long := strings.Repeat("x", 1<<10)
		for path, want := range map[string]string{
			"/a%00b": "GET /a?b", "/a%0d%0aX-Id:7": "GET /a??X-Id:7", "/%7f%01": "GET /??", "/%c3%a9": "GET /é", "/" + long: "GET /" + long[:251],
		} {
			resp, err := server.Client().Get(server.URL + path)
			if err != nil {
				t.Errorf("%.20s: %v", path, err)
				continue
			}
			resp.Body.Close()
			var hop *httpio.HopError
			if err := httpio.Check(resp); !errors.As(err, &hop) || hop.Hop != want {
				t.Errorf("%.20s: %v, want %q", path, err, want)
			}
			if n := len(resp.Header.Get("Timed-Out-Hop")); n != len(want) {
				t.Errorf("%.20s: %d bytes in the header", path, n)
			}
		}
	})
}

// A server behind that does not answer at all is blamed by the one that has asked it, in time for its own client: half
// of the slack is left.
func TestCulpritIsDead(t *testing.T) {
	bidetest.NoLeaks(t)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close() // it does not accept
	ctx, vc := bidetest.Virtual(t)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		go vc.Advance(950 * time.Millisecond) // when it is asked
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: &httpio.Tripper{Base: transport, Budget: wire.Budget{Slack: 100 * time.Millisecond}}}
	server := start(t, ctx, false, httpio.Middleware(time.Second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _, _, err := get(r.Context(), client, "http://"+dead.Addr().String())
		if err := bide.Check(r.Context()); err != nil {
			t.Errorf("nothing is left: %v", err)
		}
		httpio.Error(w, err)
	}), bide.Name("middle")))
	status, body, h, err := get(context.Background(), server.Client(), server.URL)
	if status != 504 || h.Get("Timed-Out-Hop") != dead.Addr().String() || err != nil {
		t.Errorf("%d by %q: %q, %v", status, h.Get("Timed-Out-Hop"), body, err)
	}
}
