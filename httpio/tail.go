package httpio

import (
	"context"
	"net"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

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
//	T4 due → closed   the time is over
//
// T4 may come just when the server has written everything. T3 waits for it then: the connection is closed before the next
// request is read, which clients know of servers.
type tail struct {
	timer  *timer.Timer
	within atomic.Int64 // a Duration; 0: nobody has asked

	retired atomic.Bool // the connection is not for another request
}

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
		t := &tail{timer: timer.AfterFunc(time.Hour, func() { c.Close() })}
		t.timer.Stop()
		ts.of.Store(c, t)
		return context.WithValue(ctx, tailKey{}, t)
	}
	srv.ConnState = func(c net.Conn, s http.ConnState) {
		if s != http.StateNew && s != http.StateActive && reflect.ValueOf(c).Comparable() {
			if t, ok := ts.of.Load(c); ok {
				t.(*tail).timer.StopWait() // T3
				if t.(*tail).retired.Load() {
					c.Close()
				}
			}
			if s != http.StateIdle {
				ts.of.Delete(c)
			}
		}
		if connState != nil {
			connState(c, s)
		}
	}
}
