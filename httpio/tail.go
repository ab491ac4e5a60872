package httpio

import (
	"context"
	"math"
	"net"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A tail is a connection of HTTP/1 under Serve, with the bound of what comes after a handler: the server itself writes the
// last of the answer then, up to some kilobytes. A write deadline would do, and does without Serve and in HTTP/2; but it
// is a timer of the runtime, which the server takes back a moment later, once a request, and with a few idle processors
// that costs more than the whole rest of the middleware.
//
//	T1 idle → asked   a Middleware, whose handler has returned, says how long (within)
//	T2 asked → due    all handlers around it have returned as well: the gate of Serve
//	T3 due → idle     the server has written everything, or has closed the connection (ConnState)
//	T4 due → over     the time is over; the connection is closed, by the timer or by a T3 that comes just then: before
//	                  the next request is read, which clients know of servers
//
// The entry stays linked from one request to the next: T2 and T3 are a store each, and once a minute or so the timer looks.
type tail struct {
	conn   net.Conn
	entry  timer.Entry
	within atomic.Int64 // a Duration; 0: nobody has asked
	due    atomic.Int64 // a clock.Instant; clock.Forever: idle or asked; or over

	retired atomic.Bool // the connection is not for another request
}

// over is earlier than every instant.
const over = math.MinInt64

// arm: T2.
func (t *tail) arm(within time.Duration) {
	due := clock.After(within)
	t.due.Store(int64(due))
	timer.Default().Cover(&t.entry, due)
}

// done: T3.
func (t *tail) done() {
	if t.due.Swap(int64(clock.Forever)) == over || t.retired.Load() {
		t.conn.Close()
	}
}

// Due: T4. Locked.
func (t *tail) Due(now clock.Instant) (again clock.Instant, fired bool) {
	due := t.due.Load()
	if clock.Instant(due) > now {
		return clock.Instant(due), false
	}
	return clock.Forever, t.due.CompareAndSwap(due, over)
}

// Fire: not locked.
func (t *tail) Fire(clock.Instant) { t.conn.Close() }

type tailKey struct{}

// tailOf is the tail of the connection that a request came by, or nil.
func tailOf(r *http.Request) *tail {
	if r.ProtoMajor != 1 {
		return nil
	}
	t, _ := r.Context().Value(tailKey{}).(*tail)
	return t
}

// tails are those of a server.
type tails struct{ of sync.Map } // net.Conn → *tail

// watch has the server tell of its connections.
func (ts *tails) watch(srv *http.Server) {
	connContext, connState := srv.ConnContext, srv.ConnState
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, c)
		}
		if ctx == nil || !reflect.ValueOf(c).Comparable() {
			return ctx // nil: the server complains; else it has no tail
		}
		t := &tail{conn: c}
		t.due.Store(int64(clock.Forever))
		t.entry.Init(t)
		ts.of.Store(c, t)
		return context.WithValue(ctx, tailKey{}, t)
	}
	srv.ConnState = func(c net.Conn, s http.ConnState) {
		if s != http.StateNew && s != http.StateActive && reflect.ValueOf(c).Comparable() {
			if t, ok := ts.of.Load(c); ok {
				t.(*tail).done()
				if s != http.StateIdle {
					timer.Default().Cancel(&t.(*tail).entry)
					ts.of.Delete(c)
				}
			}
		}
		if connState != nil {
			connState(c, s)
		}
	}
}
