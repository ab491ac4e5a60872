package httpio

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"bide.invalid/bide/timer"
)

// A tail is a connection of HTTP/1 under Serve, with the bound of what comes after a handler: the server itself writes the
// last of the answer then, up to some kilobytes. A write deadline would do, and does without Serve and in HTTP/2; but it
// is a timer of the runtime, which the server takes back a moment later, once a request, and with a few idle processors
// that costs more than the whole rest of the middleware.
//
//	T1 idle → due     a handler has returned (Middleware)
//	T2 due → idle     the server has written everything, or has closed the connection, or it was hijacked (ConnState)
//	T3 due → closed   the time is over
//
// T3 may come just when the server has written everything. Then a connection is closed that is idle, which clients know
// of servers.
type tail struct{ timer *timer.Timer }

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
		if ctx == nil {
			return nil // the server says so
		}
		t := &tail{timer.AfterFunc(time.Hour, func() { c.Close() })}
		t.timer.Stop()
		ts.of.Store(c, t)
		return context.WithValue(ctx, tailKey{}, t)
	}
	srv.ConnState = func(c net.Conn, s http.ConnState) {
		switch s {
		case http.StateIdle, http.StateClosed, http.StateHijacked:
			if t, ok := ts.of.Load(c); ok {
				t.(*tail).timer.Stop() // T2
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
