package httpio

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// What Serve sets where the server says nothing.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// Serve serves on l until ctx drains ([bide.Draining]): then it takes no new connection, lets the requests that were
// begun come to their end, and closes the connections that are idle; one that has not said anything yet, or not all of
// its first header, counts as idle when it is 5 s old. What is left when ctx is canceled, at the hard end of a stop, is
// cut off. It returns when every handler has; l is closed by then. Connections that handlers have hijacked are theirs.
//
// The result is nil after a drain, or if the server was shut down by others; what ended ctx, if that came before everybody
// was done; and the listener's error if that has failed. In that case, too, what was begun comes to its end first.
//
// Serve changes the server, which serves once: the requests' contexts lie below ctx, unless BaseContext says otherwise;
// ConnContext and ConnState are wrapped, for a [Middleware];
// and limits that are not set are set, so that no client holds a connection for ever by saying nothing: 10 s for a request's
// header (ReadHeaderTimeout), 2 minutes between requests (IdleTimeout), both unless there is a ReadTimeout, and 64 KB
// for a header (MaxHeaderBytes). How long a request takes is for a [Middleware].
//
// For TLS l is what tls.NewListener returns, with "h2" among the NextProtos of its configuration for HTTP/2.
func Serve(ctx context.Context, srv *http.Server, l net.Listener) error {
	if srv == nil || l == nil {
		panic("bide/httpio: Serve: nil http.Server or net.Listener")
	}
	if err := park.Err(ctx); err != nil {
		l.Close()
		return err
	}
	limit(srv)
	if srv.BaseContext == nil {
		srv.BaseContext = func(net.Listener) context.Context { return ctx }
	}
	g := &gate{next: srv.Handler}
	if g.next == nil {
		g.next = http.DefaultServeMux
	}
	srv.Handler = g
	new(tails).watch(srv)

	stopped := make(chan error, 1)
	go func() { stopped <- srv.Serve(l) }()
	var err error
	select {
	case err = <-stopped:
		stopped <- nil
	case <-bide.Draining(ctx):
	case <-ctx.Done():
	}
	cut := srv.Shutdown(ctx)
	if cut != nil {
		srv.Close()
	}
	<-stopped
	g.close()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if end := park.Err(ctx); end != nil {
		return end
	}
	return cut
}

// limit sets what is not set.
func limit(srv *http.Server) {
	if srv.ReadTimeout == 0 { // which counts for both
		if srv.ReadHeaderTimeout == 0 {
			srv.ReadHeaderTimeout = readHeaderTimeout
		}
		if srv.IdleTimeout == 0 {
			srv.IdleTimeout = idleTimeout
		}
	}
	if srv.MaxHeaderBytes == 0 {
		srv.MaxHeaderBytes = maxHeaderBytes
	}
}

// A gate counts the handlers that run: the server itself does not wait for them.
type gate struct {
	next    http.Handler
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // Add under mu, while it is open
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		panic(http.ErrAbortHandler) // a request that was read while its connection was being closed
	}
	defer g.running.Done()
	t := tailOf(r)
	if t == nil || !t.enter() {
		g.next.ServeHTTP(w, r)
		return
	}
	if m, ok := g.next.(*middleware); ok {
		m.serve(w, r, t)
	} else {
		g.next.ServeHTTP(w, r)
	}
	t.leave()
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.running.Add(1)
	return true
}

// close returns when no handler runs, nor ever will.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.running.Wait()
}
