package httpio

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/wire"
)

// linger is how long, after the end of a request's scope, what is being written may still take; and after the end of its
// handler, what is left of the request's body.
const linger = time.Second

// Middleware returns a handler that calls next in a scope, which is the request's context: bounded by max, or by what the
// client has left, if that is less and the request's headers say so ([wire.Extract]); if nothing is left, next is not
// called. The scope has the option [bide.Account], and the request's method and path for a name; opts, which are those
// of [bide.Open] without a bound, can change the name.
//
// It waits for next, as http.TimeoutHandler does not: a handler that looks at no context keeps its client waiting.
//
// When the scope ends, by its bound, since the client has left, or with the server's context, a read of the request's
// body returns why, and what is being written has a second left; both through http.ResponseController, and while the
// handler runs no deadline is set before that. A handler that writes in that time is heard. If it has returned and
// nothing was written, the answer is 504, with the name of the scope, where its own bound was the end, and 503 otherwise:
// also for a handler that meant to answer 200 by writing nothing, when it was too late. An answer that was cut in its
// middle may look whole to the client, unless the handler panics with http.ErrAbortHandler.
//
// What the server itself writes when the handler has returned, the end of the answer, has until the bound and a second
// more, a second if it is late; then the connection is closed. Below [Serve] that costs next to nothing in HTTP/1,
// elsewhere a write deadline. A WriteTimeout of the server that ends before that stays; so it does when the scope ends while
// the handler runs.
//
// In HTTP/1, a request whose body was not read to its end when the scope ended is the last one of its connection; so
// is one in full duplex whose body the handler leaves unread. (http.ResponseController.EnableFullDuplex is to be called
// by the handler, not around the Middleware.)
//
// A panic is let through, without an answer. A connection that was hijacked is the handler's: it has no deadline, and only
// the context still ends.
//
// The ResponseWriter has Flush and Unwrap, for HTTP/1 Hijack and ReadFrom as well; nothing is buffered. Middleware panics
// if max is not positive.
func Middleware(max time.Duration, next http.Handler, opts ...bide.Option) http.Handler {
	if max <= 0 {
		panic("bide/httpio: Middleware: max must be positive, not " + max.String())
	}
	if next == nil {
		panic("bide/httpio: Middleware: nil http.Handler")
	}
	return &middleware{max, next, opts}
}

type middleware struct {
	max  time.Duration
	next http.Handler
	opts []bide.Option
}

func (m *middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.serve(w, r, nil) }

// serve is ServeHTTP. sole, if not nil, is the tail of r's connection: m is the server's own handler, and nobody but the
// server has w and r.
func (m *middleware) serve(w http.ResponseWriter, r *http.Request, sole *tail) {
	d := m.max
	if asked, ok := wire.Extract(received{r.Header}); ok {
		d = min(d, asked)
	}
	var few [4]bide.Option
	opts := append(few[:0], bide.Account(), bide.Timeout(d), bide.Name(r.Method+" "+r.URL.Path))
	e := &exchange{ResponseWriter: w, bound: d, scope: bide.Open(r.Context(), append(opts, m.opts...)...)}
	from := r
	if sole != nil && r.Body == http.NoBody { // of a body the server looks at what type it has left in r
		*r = *r.WithContext(e.scope) // no copy: it is the largest thing that a request allocates
	} else {
		r = r.WithContext(e.scope)
	}
	t := sole
	if t == nil {
		t = tailOf(r)
	}
	e.begin(from, r)
	defer e.end(r, t, sole != nil)
	if d > 0 { // or nobody waits for an answer any more
		m.next.ServeHTTP(e.writer(r), r)
	}
	e.returned = true
}

// received is a header as the server has read it. A header's own Values looks first whether the name is written as it
// should be; those of package wire are.
type received struct{ http.Header }

func (h received) Values(name string) []string { return h.Header[name] }

// An exchange is a request under its scope.
//
//	E1 open → armed            there is a body to read, or more is written than a buffer takes
//	E2 armed → over            the scope ends: over sets the deadlines, on a goroutine of its own
//	E3 any → left              the handler has returned, panicked or hijacked; over does not run, or is through
//
// So over touches no ResponseWriter whose handler has returned, and leaves no deadline on somebody else's connection. A read
// deadline that passed before the scope's end would look to the server like a client that has left.
type exchange struct {
	http.ResponseWriter
	scope    *bide.Scope
	bound    time.Duration // which it began with
	watch    *watch        // nil: open
	h1       writer1
	written  int32       // bytes, as far as buffered
	wrote    bool        // the handler has begun to answer
	moved    atomic.Bool // the write deadline, by the handler
	duplex   bool        // the handler may answer before it has read the body
	hijacked bool
	returned bool // the handler, and not by a panic
}

// watch is what an armed exchange has.
type watch struct {
	stop    func() bool    // over; nil: left
	start   clock.Instant  // of the scope; Forever: not known
	leaving sync.WaitGroup // until over is through
	body    requestBody    // the zero one: there is none to read
	poked   bool           // a read of the body was ended; to be looked at after leave
}

// begin: open. It puts the body of r, which was made of from, under the scope.
func (e *exchange) begin(from, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		e.watch = &watch{body: requestBody{ReadCloser: r.Body, scope: e.scope, from: from, r: r}}
		r.Body = &e.watch.body
		e.arm()
	}
}

// arm: E1. It costs more than all the rest, and most requests have no use for it.
func (e *exchange) arm() {
	if e.hijacked {
		return
	}
	if e.watch == nil {
		e.watch = &watch{}
	}
	if w := e.watch; w.stop == nil {
		w.start = clock.Forever
		if due, ok := e.scope.Value(park.Key{}).(bounded).Due(); ok && due != clock.Forever {
			w.start = due.Add(-e.bound)
		}
		w.leaving.Add(1)
		w.stop = e.scope.AfterFunc(e.over)
	}
}

// through reports whether of the request's body nothing is left to read.
func (e *exchange) through() bool {
	return e.watch == nil || e.watch.body.ReadCloser == nil || e.watch.body.through.Load()
}

// over: E2.
func (e *exchange) over() {
	defer e.watch.leaving.Done()
	c, now := http.NewResponseController(e.ResponseWriter), time.Now()
	if !e.through() {
		e.watch.poked = true
		_ = c.SetReadDeadline(now.Add(-time.Second)) // a writer of another kind may have no deadlines
	}
	if w := e.watch; w.start == clock.Forever || !e.sooner(e.scope, clock.Now().Sub(w.start)) {
		_ = c.SetWriteDeadline(now.Add(linger))
	}
}

// leave: E3. It reports whether over has run.
func (e *exchange) leave() (over bool) {
	w := e.watch
	if w == nil || w.stop == nil {
		return false
	}
	if !w.stop() {
		w.leaving.Wait()
		over = true
	}
	w.stop = nil
	return over
}

// end is after the handler. t is r's tail, or nil.
func (e *exchange) end(r *http.Request, t *tail, sole bool) {
	if t != nil && e.wrote && e.watch == nil && e.returned && !e.hijacked { // most answers: however late, they stand
		if due, ok := e.scope.Value(park.Key{}).(bounded).Due(); ok {
			e.scope.Close(nil)
			if sole || answers(e.ResponseWriter) {
				t.asked.Store(int64(due)) // T1
			}
			return
		}
	}
	if e.watch != nil && e.watch.body.from != nil {
		e.watch.body.giveBack()
	}
	left := e.scope.Remaining() // before leave: if the scope is over, over has run
	over := e.leave()
	var cause error
	if left == 0 {
		cause = e.scope.Check()
	}
	err := cause
	e.scope.Close(&err)
	if r.ProtoMajor == 1 && !e.hijacked && (e.watch != nil && e.watch.poked || e.duplex && !e.through()) {
		e.retire()
	}
	if !e.returned || e.hijacked {
		return
	}
	// What the handler has written may still be in a buffer, and of a body that it has not read the server looks for the
	// end. Afterwards the server takes the deadlines away.
	c := http.NewResponseController(e.ResponseWriter)
	if !over && left < time.Duration(clock.Forever)-linger && answers(e.ResponseWriter) {
		if t != nil {
			t.asked.Store(int64(clock.After(left))) // T1
		} else if !e.sooner(r.Context(), max(e.bound, left)) {
			_ = c.SetWriteDeadline(time.Now().Add(left + linger))
		}
	}
	if r.ProtoMajor == 1 && !e.through() {
		_ = c.SetReadDeadline(time.Now().Add(linger))
		if r.Header.Get("Expect") == "" && e.watch.body.looked() { // a read may ask for what is expected
			_ = c.SetReadDeadline(time.Time{})
		}
	}
	if cause != nil && !e.wrote {
		if err == nil { // the handler itself has canceled it
			err = cause
		}
		Error(e.ResponseWriter, err)
	}
}

// sooner reports whether the write deadline that the server has set when the request came (WriteTimeout) still holds, and
// is sooner than a second after d has passed since then.
func (e *exchange) sooner(ctx context.Context, d time.Duration) bool {
	srv, ok := ctx.Value(http.ServerContextKey).(*http.Server)
	return ok && srv.WriteTimeout > 0 && srv.WriteTimeout-linger < d && !e.moved.Load()
}

// bounded is a scope's host. Due is the scope's own deadline; it reports false on another clock than the monotonic one.
type bounded interface {
	Due() (at clock.Instant, ok bool)
}

// retire has the server close the connection behind this answer. A read that was ended, of the body, or by the server
// of what may follow it, is to the server a client that has left: it would cancel the context of every further request.
// And in full duplex it looks for the end of the body last of all, and takes what a deadline has kept from it for a
// request.
func (e *exchange) retire() {
	if !e.wrote {
		e.Header().Set("Connection", "close")
	}
	w := e.ResponseWriter
	for {
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = u.Unwrap()
	}
	// A body that is too large is what the server closes a connection for, also if the answer was begun.
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

// answers reports whether what is written to w goes to a client when the handler has returned: w may be a recorder's, or
// the buffer of an http.TimeoutHandler that has answered already. Or that of a Middleware around this one: its handler
// goes on, and it bounds the rest.
func answers(w http.ResponseWriter) bool {
	for {
		switch v := w.(type) {
		case *exchange, *writer1:
			return false
		case interface{ SetWriteDeadline(time.Time) error }:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = v.Unwrap()
		default:
			return false
		}
	}
}

// requestBody is a request's body under its scope.
type requestBody struct {
	io.ReadCloser
	scope   *bide.Scope
	from, r *http.Request // the server's, and the handler's, which is a copy
	through atomic.Bool   // read to its end
}

func (b *requestBody) Read(p []byte) (n int, err error) {
	if err := b.scope.Check(); err != nil {
		return 0, err
	}
	n, err = b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		if b.r.Trailer == nil && b.from.Trailer != nil { // else r is not written: another goroutine may copy it
			b.r.Trailer = b.from.Trailer // those that were not announced; the others come into the same map
		}
		b.through.Store(true)
	case errors.Is(err, os.ErrDeadlineExceeded):
		if c := b.scope.Check(); c != nil {
			err = c
		}
	}
	return n, err
}

// looked reports whether the server has looked for the end of the body already, since the handler has closed it, or has
// sent more than a buffer takes. Then it may wait for what the client does next: a deadline that ends that wait looks like
// a client that has left.
func (b *requestBody) looked() bool {
	_, err := b.ReadCloser.Read(nil)
	return err == io.EOF || errors.Is(err, http.ErrBodyReadAfterClose)
}

// giveBack has the server remove the files of a form that the handler has parsed.
func (b *requestBody) giveBack() {
	if b.from.MultipartForm == nil {
		b.from.MultipartForm = b.r.MultipartForm
	}
}
