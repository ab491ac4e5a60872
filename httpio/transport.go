package httpio

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/wire"
)

// Transport returns a [Tripper] without a budget: it tells the server all the time that is left, and bounds nothing
// itself. base makes the requests; nil is http.DefaultTransport.
func Transport(base http.RoundTripper) http.RoundTripper { return &Tripper{Base: base} }

// A Tripper is an http.RoundTripper that sends what is left of the request's context along, in the header
// [wire.GRPCTimeout], and opens a scope for each request, with the server's host for its name. The answer's body is read
// under that scope, which ends when the body is closed, or has been read to its end or to an error. So a body has to be
// closed, as always; and one that is read after the function that has bounded the request has returned is canceled.
// After an upgrade (101) it is the connection, which is the caller's, as with package net/http: the scope ends neither
// its reads nor its writes.
//
// A Tripper is safe for concurrent use. It is not changed once it is used.
type Tripper struct {
	// Base makes the requests; nil is http.DefaultTransport.
	Base http.RoundTripper

	// Budget says what the server gets of the time that is left. The request itself is bounded by that and half of the
	// Slack: long enough for the answer of a server that gives up in time, and short enough to tell who did not answer
	// at all. Without Slack and MaxPerTry it has no bound of its own.
	Budget wire.Budget
}

// RoundTrip makes one request. The errors are told in the package's documentation; http.Client wraps them in a
// *url.Error.
func (t *Tripper) RoundTrip(req *http.Request) (*http.Response, error) {
	d, err := t.Budget.Next(req.Context(), req.URL.Host)
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	s := t.open(req.Context(), req.URL.Host, d)
	out := req.WithContext(s)
	if d != time.Duration(clock.Forever) {
		out.Header = req.Header.Clone()
		if out.Header == nil {
			out.Header = http.Header{}
		}
		wire.Put(out.Header, d)
	}
	ended := false
	defer func() {
		if !ended { // base has panicked
			s.Close(nil)
		}
	}()
	resp, err := t.base().RoundTrip(out)
	ended = true
	b := &body{scope: s}
	if err == nil && resp == nil {
		err = fmt.Errorf("bide/httpio: %T, a Tripper's Base, returned neither a response nor an error", t.base())
	}
	if err == nil {
		if err = s.Check(); err != nil && resp.Body != nil {
			resp.Body.Close() // an answer that comes after the scope's end: see body.end
		}
	}
	if err != nil {
		return nil, b.end(err)
	}
	if resp.Body == nil {
		b.end(nil)
		resp.Body = http.NoBody
		return resp, nil
	}
	b.ReadCloser, b.sized = resp.Body, resp.ContentLength >= 0
	resp.Body = b
	if w, ok := b.ReadCloser.(io.Writer); ok {
		resp.Body = upgraded{b, w}
	}
	return resp, nil
}

// open opens the scope of a try for which the server gets d.
func (t *Tripper) open(ctx context.Context, host string, d time.Duration) *bide.Scope {
	if t.Budget.Slack == 0 && t.Budget.MaxPerTry == 0 || d == time.Duration(clock.Forever) {
		return bide.Open(ctx, bide.Name(host))
	}
	return bide.Open(ctx, bide.Name(host), bide.Timeout(time.Duration(clock.Instant(d).Add(t.Budget.Slack/2))))
}

func (t *Tripper) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// CloseIdleConnections is called by that of http.Client.
func (t *Tripper) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// body is an answer's body under the scope of its try.
type body struct {
	io.ReadCloser
	scope *bide.Scope
	sized bool // io.EOF says that nothing is missing
	ended atomic.Bool
}

// upgraded is a body after an upgrade: the connection.
type upgraded struct {
	*body
	io.Writer
}

// CloseWrite is called by httputil.ReverseProxy, for one: the other direction goes on.
func (u upgraded) CloseWrite() error {
	if c, ok := u.ReadCloser.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return fmt.Errorf("bide/httpio: CloseWrite of a %T: %w", u.ReadCloser, http.ErrNotSupported)
}

// Read reads. Its error is what ended the scope, if anything has.
func (b *body) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if err != nil {
		err = b.end(err)
	}
	return n, err
}

// Close closes the body, and ends the try.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

// end ends the try, once. err is how it went; the result says whose bound it was if one has ended it: package net/http
// tells no more than that a context did. The end of a body without a length counts only while the scope is live:
// afterwards it may be what the server makes of a client that hangs up, while that is still reading.
func (b *body) end(err error) error {
	switch {
	case !b.ended.CompareAndSwap(false, true):
		return err
	case err == nil || err == io.EOF && b.sized:
		b.scope.Close(nil)
		return err
	}
	if c := b.scope.Check(); c != nil {
		err = c
	}
	b.scope.Close(&err)
	return err
}
