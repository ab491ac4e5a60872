package netio_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// miekg/dns#1399, golang/go#35594. The context's deadline was copied to the connection when a query began, and that was
// all: its Done was not looked at, so a cancellation did nothing; and where a context had no deadline, the zero time
// that it answers with was set as if it were one.
//
// Here no deadline is copied: what ends the context ends the read, at the instant at which it does.
func TestReportDNS1399(t *testing.T) {
	for _, x := range []struct {
		name string
		opts []bide.Option
		end  func(s *bide.Scope)
		at   time.Duration
	}{
		{"no deadline, canceled", nil, func(s *bide.Scope) { s.Cancel(errTest) }, time.Second},
		{"canceled before the deadline", []bide.Option{bide.Timeout(time.Hour)}, func(s *bide.Scope) { s.Cancel(errTest) }, time.Second},
		{"the deadline is moved nearer", []bide.Option{bide.Timeout(time.Hour)}, func(s *bide.Scope) { s.SetTimeout(time.Minute) },
			time.Second + time.Minute},
		{"the deadline is moved away", []bide.Option{bide.Timeout(time.Minute)}, func(s *bide.Scope) { s.SetTimeout(time.Hour) },
			time.Second + time.Hour},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := pipe(t)
				s := bide.Open(t.Context(), x.opts...)
				defer s.Close(nil)
				start := time.Now()
				time.AfterFunc(time.Second, func() { x.end(s) })
				_, err := netio.Bind(s, c).Read(make([]byte, 1))
				canceled(t, s, err)
				if took := time.Since(start); took != x.at {
					t.Errorf("ended after %v, want %v", took, x.at)
				}
			})
		})
	}
}
