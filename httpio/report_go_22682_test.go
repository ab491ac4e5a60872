package httpio_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
)

// golang/go#22682, #53729, #81153. Shutdown waited for connections that never became idle: those that had said nothing yet,
// and those whose request never came to its end.
//
// Serve gives them the grace, and closes them at the hard end.
func TestReportGo22682(t *testing.T) {
	bidetest.NoLeaks(t)
	for name, said := range map[string]string{"nothing": "", "half a header": "GET / HTTP/1.1\r\nHo", "a request": "GET / HTTP/1.1\r\nHost: here\r\n\r\n"} {
		ctx, vc := bidetest.Virtual(t)
		s := bide.Open(ctx)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		accepted, begun := make(chan bool, 1), make(chan bool, 1)
		srv := &http.Server{
			ConnState: func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					accepted <- true
				}
			},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				begun <- true
				<-r.Context().Done()
			}),
		}
		result := make(chan error, 1)
		go func() { result <- httpio.Serve(s, srv, l) }()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
		<-accepted
		if name == "a request" {
			<-begun
		}
		s.Stop(time.Minute, nil)
		vc.Advance(time.Minute)
		var end *bide.Canceled
		if err := <-result; !errors.As(err, &end) || end.Source != bide.ByShutdown || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		_, _ = io.Copy(io.Discard, c) // it is closed, so this ends
		c.Close()
		s.Close(nil)
	}
}
