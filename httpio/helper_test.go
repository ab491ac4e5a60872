package httpio_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
)

// versions runs f with servers of HTTP/1 and of HTTP/2, both over TLS.
func versions(t *testing.T, f func(t *testing.T, start func(ctx context.Context, h http.Handler) *httptest.Server)) {
	for _, v := range []struct {
		name string
		h2   bool
	}{{"HTTP1", false}, {"HTTP2", true}} {
		t.Run(v.name, func(t *testing.T) {
			bidetest.NoLeaks(t)
			f(t, func(ctx context.Context, h http.Handler) *httptest.Server {
				major := 1
				if v.h2 {
					major = 2
				}
				return start(t, ctx, v.h2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.ProtoMajor != major {
						t.Errorf("the request came by %s", r.Proto)
					}
					h.ServeHTTP(w, r)
				}))
			})
		})
	}
}

// start starts a server whose requests lie below ctx.
func start(t testing.TB, ctx context.Context, h2 bool, h http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of panics, and handshakes that were given up
	server.EnableHTTP2 = h2
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// get makes a request with a header, if given, and reads the answer to its end.
func get(ctx context.Context, c *http.Client, url string, header ...string) (status int, body string, h http.Header, err error) {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return 0, "", nil, err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), resp.Header, err
}

// through is a client whose requests go through a Tripper, on the connections of the server's client.
func through(server *httptest.Server, t *httpio.Tripper) *http.Client {
	t.Base = server.Client().Transport
	return &http.Client{Transport: t}
}

// virtually calls f under a clock that moves on to the next deadline whenever everybody waits.
func virtually(f func(ctx context.Context)) {
	bidetest.Bubble(new(testing.T), func(t *testing.T, _ context.Context) {
		ctx, vc := bidetest.Virtual(t)
		done := false
		go func() {
			f(ctx)
			done = true
		}()
		bidetest.JumpUntil(t, vc, func() bool { return done })
	})
}

// tripper is a RoundTripper of a function.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
