package httpio

import (
	"context"
	"math"
	"net"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A tail is a connection of HTTP/1 under Serve, with the bound of what comes after a handler: the server itself writes the
// last of the answer then, up to some kilobytes. A write deadline would do, and does without Serve and in HTTP/2; but it
// is a timer of the runtime, which the server takes back a moment later, once a request, and with a few idle processors
// that costs more than the whole rest of the middleware.
//
//	T1 idle → asked   a Middleware, whose handler has returned, says until when
//	T2 asked → due    all handlers around it have returned as well: the gate of Serve
//	T3 due → idle     the server has written everything, or has closed the connection (ConnState)
//	T4 due → last     it is so late, or was already: the server has a second more
//	T5 last → over    that is over, too; the connection is closed, by the timer or by a T3 that comes just then: before
//	                  the next request is read, which clients know of servers
//
// The entry stays linked from one request to the next: T2 and T3 are a store each, and once a minute or so the timer looks.
// So nobody reads the clock for it when a handler has returned.
type tail struct {
	conn  net.Conn
	entry timer.Entry
	asked atomic.Int64 // a clock.Instant; clock.Forever: nobody has asked
	due   atomic.Int64 // likewise; clock.Forever: idle or asked; even: due; odd: last; or over

	inside atomic.Bool // a gate runs a handler: a second one inside of it is the handler's business
	gone   atomic.Bool // the connection is closed, or was hijacked
}

const (
	over = math.MinInt64 // earlier than every instant
	last = 1             // the bit
)

// enter is before a request's handlers. It reports false in a gate inside of another.
func (t *tail) enter() bool {
	if !t.inside.CompareAndSwap(false, true) {
		return false
	}
	t.asked.Store(int64(clock.Forever))
	return true
}

// leave: T2, if a Middleware has asked. Preconditions: enter has reported true.
func (t *tail) leave() {
	t.inside.Store(false)
	if due := clock.Instant(t.asked.Load()); due != clock.Forever && !t.gone.Load() {
		t.due.Store(int64(due) &^ last)
		timer.Default().Cover(&t.entry, due)
	}
}

// done: T3.
func (t *tail) done() {
	if t.due.Swap(int64(clock.Forever)) == over {
		t.conn.Close()
	}
}

// Due: locked. Where a compare-and-swap fails, T3 was faster, and a T2 after it finds the entry unlinked.
func (t *tail) Due(now clock.Instant) (again clock.Instant, fired bool) {
	due := t.due.Load()
	switch {
	case clock.Instant(due) > now:
		return clock.Instant(due), false
	case due == over:
		return clock.Forever, false
	case due&last != 0:
		return clock.Forever, t.due.CompareAndSwap(due, over) // T5
	}
	more := int64(max(now, clock.Now()).Add(linger)) | last // the look may be late
	if !t.due.CompareAndSwap(due, more) {                   // T4
		return clock.Forever, false
	}
	return clock.Instant(more), false
}

// Fire: not locked. A Close may block, a TLS connection's for seconds.
func (t *tail) Fire(clock.Instant) { go t.conn.Close() }

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
				t.(*tail).gone.Store(s != http.StateIdle)
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
