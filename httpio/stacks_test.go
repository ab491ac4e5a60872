package httpio_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
)

// A handler that looks at no context is what hangs at a stop, and the report says where it is: below Serve, and below a
// Middleware of another server.
func TestStopReportOfHandlers(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(s *bide.Scope, h http.Handler) (client *http.Client, url string, end func())
	}{
		{"Serve", func(s *bide.Scope, h http.Handler) (*http.Client, string, func()) {
			srv := serve(t, s, false, h)
			return srv.client, srv.url, func() { <-srv.result }
		}},
		{"Middleware", func(s *bide.Scope, h http.Handler) (*http.Client, string, func()) {
			srv := start(t, s, false, httpio.Middleware(time.Hour, h))
			return srv.Client(), srv.URL, srv.Close
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, vc := bidetest.Virtual(t)
			s := bide.Open(ctx, bide.Stacks())
			begun, end := make(chan bool), make(chan bool)
			client, url, ended := c.serve(s, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hang(begun, end) }))
			asked := make(chan bool)
			go func() {
				defer close(asked)
				_, _, _, _ = get(context.Background(), client, url) // it may be cut off
			}()
			<-begun
			s.Done() // else nobody is known to be left
			s.Stop(time.Minute, nil)
			vc.Advance(time.Minute)
			close(end)
			<-asked
			ended()
			r := s.StopReport()
			if r == nil || !slices.ContainsFunc(r.Stacks, func(g bide.Stack) bool {
				return strings.HasPrefix(g.Frames[0], "httpio_test.hang stacks_test.go:")
			}) {
				t.Errorf("it does not tell of the handler: %+v", r)
			}
			s.Close(nil)
		})
	}
}

func hang(begun, end chan bool) {
	begun <- true
	<-end
}
