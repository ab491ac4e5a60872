package syncs_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// gopcua/opcua#313. The context that bounded the dial was kept as the connection's own. Everything worked, until the
// dial's five seconds were over; then the connection stood still.
//
// Here the context of New ends when New returns, so whoever keeps it sees that at once, and not in five seconds; and a
// connection that has a scope of its own outlives the Get that asked for it.
func TestReportOpcua313(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type conn struct{ ctx context.Context }
		life := open(t, bg) // of what belongs to the pool
		var keep bool
		p := &syncs.Pool[conn]{Max: 1, Bound: 5 * time.Second, New: func(ctx context.Context) (conn, error) {
			if keep {
				return conn{ctx}, nil
			}
			return conn{life}, nil
		}}
		keep = true
		c := mustBorrow(t, p)
		synctest.Wait()
		if c.ctx.Err() != context.Canceled {
			t.Error("the dial's context is kept, and nobody notices")
		}
		p.Drop(c)
		keep = false
		c, err := bide.Within(bg, time.Second, p.Get)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if c.ctx.Err() != nil {
			t.Error("it has ended with the request")
		}
		p.Put(c)
		shut(t, p)
	})
}
