package bide_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// Package net/http over real connections, with time that is virtual: no test here waits for the clock.

// serverOn starts a server whose handlers' contexts lie below base.
func serverOn(t *testing.T, base context.Context, h http.HandlerFunc) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.Config.BaseContext = func(net.Listener) context.Context { return base }
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// fetch makes a request on a connection of its own.
func fetch(ctx context.Context, url string) (string, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return "", err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// endings are the ways to end a scope with a timeout of a minute: its source and its standard error.
var endings = []struct {
	name     string
	end      func(s *bide.Scope, vc *clock.Virtual)
	source   bide.Source
	sentinel error
}{
	{"Cancel", func(s *bide.Scope, _ *clock.Virtual) { s.Cancel(failure) }, bide.ByCancel, context.Canceled},
	{"deadline", func(_ *bide.Scope, vc *clock.Virtual) { vc.Advance(time.Minute) }, bide.ByDeadline, context.DeadlineExceeded},
}

// A server whose base context is a scope: what ends the scope ends the requests in flight, and their handlers see why.
func TestInteropHTTPServer(t *testing.T) {
	bidetest.NoLeaks(t)
	waits := map[string]func(ctx context.Context) error{
		"select": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		"a wait of ours": func(ctx context.Context) error {
			return new(syncs.Event).Wait(ctx)
		},
		"a wait in a scope": func(ctx context.Context) error {
			return bide.FailAfter(ctx, time.Hour, new(syncs.Event).Wait)
		},
		"a nursery": func(ctx context.Context) error {
			return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
				n.Go(new(syncs.Event).Wait)
				return nil
			})
		},
	}
	for _, ending := range endings {
		for how, wait := range waits {
			what := ending.name + ", " + how
			_, vc := bidetest.Virtual(t)
			s := bide.Open(context.Background(), bide.Clock(vc), bide.Timeout(time.Minute), bide.Name("server"))
			begun := make(chan context.Context, 1)
			var why error
			server := serverOn(t, s, func(w http.ResponseWriter, r *http.Request) {
				begun <- r.Context()
				why = wait(r.Context())
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, why)
			})
			var body string
			err := bide.WithNursery(context.Background(), func(_ context.Context, n *bide.Nursery) error {
				n.Go(func(ctx context.Context) (err error) {
					body, err = fetch(ctx, server.URL)
					return err
				})
				r := <-begun
				ending.end(s, vc)
				if got := context.Cause(r); got != s.Cause() || r.Err() != ending.sentinel {
					t.Errorf("%s: the request's context: %v, because %v; want %v, because %v", what, r.Err(), got, ending.sentinel, s.Cause())
				}
				return nil
			})
			server.Close() // the handler has returned
			var c *bide.Canceled
			if !errors.As(s.Cause(), &c) || c.Source != ending.source || c.Scope != "server" {
				t.Errorf("%s: the server's cause: %v", what, s.Cause())
			}
			if why != s.Cause() {
				t.Errorf("%s: the handler got %v (%T), want %v", what, why, why, s.Cause())
			}
			if err != nil || body != s.Cause().Error() {
				t.Errorf("%s: the client got %q, %v", what, body, err)
			}
			s.Close(nil)
		}
	}
}

// A request made under a scope ends with it, before the answer or in the middle of it, and its error has the cause.
func TestInteropHTTPClient(t *testing.T) {
	bidetest.NoLeaks(t)
	var reached chan bool
	server := serverOn(t, context.Background(), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			fmt.Fprint(w, "the first half, ")
			w.(http.Flusher).Flush()
		}
		reached <- true
		<-r.Context().Done() // the client has hung up
	})
	for _, ending := range endings {
		for _, path := range []string{"/", "/body"} {
			what := ending.name + " at " + path
			ctx, vc := bidetest.Virtual(t)
			reached = make(chan bool, 1)
			var got error
			s, err := run(ctx, func(s *bide.Scope) error {
				go func() {
					<-reached
					ending.end(s, vc)
				}()
				_, got = fetch(s, server.URL+path)
				return got
			}, bide.Timeout(time.Minute), bide.Name("client"))
			var c *bide.Canceled
			if !errors.As(got, &c) || c != s.Cause() || c.Source != ending.source {
				t.Errorf("%s: the request's error is %v (%T), want one with %v in it", what, got, got, s.Cause())
			}
			if !errors.Is(got, ending.sentinel) {
				t.Errorf("%s: %v is not %v", what, got, ending.sentinel)
			}
			var ne net.Error
			if !errors.As(got, &ne) || ne.Timeout() != (ending.source == bide.ByDeadline) {
				t.Errorf("%s: as a net.Error: %v", what, got)
			}
			var late *bide.TimeoutError
			switch ending.source {
			case bide.ByDeadline:
				if !errors.As(err, &late) || late.Scope != "client" || late.Limit != time.Minute {
					t.Errorf("%s: Run returned %v", what, err)
				}
			default:
				if err != nil {
					t.Errorf("%s: Run returned %v, and should have absorbed its own Cancel", what, err)
				}
			}
		}
	}
}

// A client that hangs up ends the scopes in the handler; that is no timeout of theirs.
func TestInteropHTTPHangUp(t *testing.T) {
	bidetest.NoLeaks(t)
	begun := make(chan bool)
	got := make(chan error, 1)
	server := serverOn(t, context.Background(), func(_ http.ResponseWriter, r *http.Request) {
		got <- bide.FailAfter(r.Context(), time.Hour, func(ctx context.Context) error {
			begun <- true
			return new(syncs.Event).Wait(ctx)
		})
	})
	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		go func() {
			<-begun
			s.Cancel(nil)
		}()
		_, err := fetch(s, server.URL)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	err = <-got
	var c *bide.Canceled
	if !errors.As(err, &c) || c.Source != bide.ByContext || !errors.Is(err, context.Canceled) {
		t.Errorf("the handler got %v (%T)", err, err)
	}
}

// idle opens n connections, makes a request on each and leaves them open; it returns how many goroutines the process has
// more than before, once it is down to want or does not come down to it.
func idle(t *testing.T, base context.Context, n, want int) (goroutines, watchers int) {
	server := serverOn(t, base, func(w http.ResponseWriter, r *http.Request) {
		if err := bide.Check(r.Context()); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	before := goroutinesWith("")
	var conns []net.Conn
	for range n {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: here\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatal(resp, err)
		}
	}
	// What a request had beside the connection's goroutine is about to end: the least of many counts.
	least := goroutinesWith("")
	for i := 0; i < 100 && least > before+want; i++ {
		runtime.Gosched()
		least = min(least, goroutinesWith(""))
	}
	watchers = goroutinesWith(watching)
	for _, c := range conns {
		c.Close()
	}
	server.Close()
	return least - before, watchers
}

// 100 idle connections have a goroutine each, which is the server's own: a scope as the base context adds none.
func TestInteropHTTPIdleConnections(t *testing.T) {
	bidetest.NoLeaks(t)
	const n = 100
	s := bide.Open(context.Background(), bide.Timeout(time.Hour), bide.Name("server"))
	defer s.Close(nil)
	var report strings.Builder
	for _, base := range []struct {
		name     string
		ctx      context.Context
		watchers int
	}{
		{"context.Background", context.Background(), 0},
		{"a scope", s, 0},
		{"below a value of a scope", context.WithValue(s, valueKey{}, 0), 0},
		{"a context of another kind", stranger{context.Background()}, n}, // so the count can fail
	} {
		want := n + base.watchers
		goroutines, watchers := idle(t, base.ctx, n, want)
		fmt.Fprintf(&report, "\n\t%s: %d goroutines for %d idle connections", base.name, goroutines, n)
		if watchers != base.watchers {
			t.Errorf("%s: %d goroutines watch the base context, want %d", base.name, watchers, base.watchers)
		}
		if goroutines < want-n/10 || goroutines > want+n/10 { // others of the process come and go: a few
			t.Errorf("%s: %d goroutines for %d connections, want %d", base.name, goroutines, n, want)
		}
	}
	t.Log(report.String())
}

// The same on the real clock, whose deadline package net also knows by itself, and may be the first to see.
func TestInteropHTTPClientRealTime(t *testing.T) {
	bidetest.NoLeaks(t)
	server := serverOn(t, context.Background(), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, d := range []time.Duration{0, time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
		_, err := bide.Within(context.Background(), d, func(ctx context.Context) (string, error) { return fetch(ctx, server.URL) },
			bide.Name("client"))
		var late *bide.TimeoutError
		if !errors.As(err, &late) || late.Scope != "client" || late.Elapsed < d {
			t.Errorf("a bound of %v: %v (%T)", d, err, err)
		}
	}
}
