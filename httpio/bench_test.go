package httpio_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/httpio"
)

// quiet is a server's ResponseWriter that does nothing.
type quiet struct{ h http.Header }

func (q *quiet) Header() http.Header              { return q.h }
func (q *quiet) Write(p []byte) (int, error)      { return len(p), nil }
func (q *quiet) WriteHeader(int)                  {}
func (q *quiet) SetWriteDeadline(time.Time) error { return nil }
func (q *quiet) SetReadDeadline(time.Time) error  { return nil }

// What the middleware adds to a request, below contexts such as the server's: a scope, values, and for each connection and
// request one that can be canceled.
func BenchmarkMiddleware(b *testing.B) {
	type key struct{}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello, world")) })
	for name, h := range map[string]http.Handler{"without": answer, "with": httpio.Middleware(time.Minute, answer)} {
		b.Run(name, func(b *testing.B) {
			w := &quiet{http.Header{}}
			r := httptest.NewRequest("GET", "/x", nil)
			r.Header.Set("Grpc-Timeout", "10S")
			s := bide.Open(b.Context())
			defer s.Close(nil)
			values := context.WithValue(context.WithValue(s, http.ServerContextKey, 0), http.LocalAddrContextKey, 0)
			conn, stop := context.WithCancel(context.WithValue(values, key{}, net.Addr(nil)))
			defer stop()
			b.ReportAllocs()
			for b.Loop() {
				ctx, cancel := context.WithCancel(conn)
				h.ServeHTTP(w, r.WithContext(ctx))
				cancel()
			}
		})
	}
}
