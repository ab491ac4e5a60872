package netio_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/netio"
)

// golang/go#15035. Of two addresses that were tried at once the first that stood won, and the others were canceled by the
// context that all attempts had in common: the winner with them, whose connection was dead when the caller got it.
//
// Here the attempts are children of one scope, too, which is over before the connection is returned. The connection has
// been in none.
func TestReportGo15035(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stage := &stage{attempts: []attempt{{time.Hour, nil}, {time.Second, nil}}, start: time.Now()}
		var peer net.Conn
		var of []context.Context
		d := netio.Dialer{Lookup: lookup(2), Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			of = append(of, ctx)
			if _, err := stage.dial(ctx, network, addr); err != nil {
				return nil, err
			}
			var mine net.Conn
			mine, peer = net.Pipe()
			return netio.New(mine), nil
		}}
		c, err := d.DialContext(t.Context(), "tcp", "db.example:5432")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		defer peer.Close()
		if len(of) != 2 || of[0].Err() == nil || of[1].Err() == nil {
			t.Fatalf("attempts are under way")
		}
		go peer.Write([]byte("x"))
		if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	})
}
