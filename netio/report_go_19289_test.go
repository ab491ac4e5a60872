package netio_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// golang/go#19289. A dial was canceled when it was over: the deadline in the past that was to end it came late, and ended
// the next operation on the descriptor.
//
// Here an operation does not return before the poke that is meant for it has come, and is undone; and there is none once
// it is over.
func TestReportGo19289(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, peer := net.Pipe()
		defer peer.Close()
		slow := &slowDeadlines{Conn: a}
		c := netio.New(slow)
		defer c.Close()
		s := bide.Open(t.Context())
		defer s.Close(nil)
		start := time.Now()
		time.AfterFunc(time.Second, func() { // the poke is under way when the byte comes
			time.AfterFunc(time.Second, func() { peer.Write([]byte("x")) })
			s.Cancel(errTest)
		})
		slow.by = time.Minute
		var buf [1]byte
		if n, err := c.ReadContext(s, buf[:]); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
		if took := time.Since(start); took < time.Second+2*time.Minute {
			t.Errorf("returned after %v: it has left the poke, or its undoing, to the next", took)
		}
		slow.by = 0
		time.AfterFunc(time.Hour, func() { peer.Write([]byte("y")) })
		if n, err := c.ReadContext(t.Context(), buf[:]); n != 1 || err != nil || buf[0] != 'y' {
			t.Errorf("the next: read %d, %v", n, err)
		}
	})
}

// slowDeadlines is a connection that takes its time to take a deadline, against the duties of the caller.
type slowDeadlines struct {
	net.Conn
	by time.Duration
}

func (s *slowDeadlines) SetReadDeadline(t time.Time) error {
	time.Sleep(s.by)
	return s.Conn.SetReadDeadline(t)
}
