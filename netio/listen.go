package netio

import (
	"context"
	"net"
	"time"

	"bide.invalid/bide/park"
)

// A Listener is a net.Listener whose Accept can be bounded by a context.
type Listener struct {
	net.Listener
	a side
}

// Listen is net.Listen. Looking up a name in addr ends with ctx; the listener does not.
func Listen(ctx context.Context, network, addr string) (*Listener, error) {
	if err := park.Err(ctx); err != nil {
		return nil, err
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, network, addr)
	if err != nil {
		return nil, because(ctx, err)
	}
	k := &Listener{Listener: l}
	k.a.init(park.KindAccept, l.(interface{ SetDeadline(time.Time) error }).SetDeadline) // every listener of package net
	return k, nil
}

// AcceptContext is Accept, until ctx ends: then it returns the context's error. A connection that came is returned,
// whatever ctx does meanwhile; none is lost. It is not bounded by ctx.
func (l *Listener) AcceptContext(ctx context.Context) (c net.Conn, err error) {
	t, err := l.a.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer l.a.end(ctx, t, &err)
	return l.Listener.Accept()
}

// Close closes the listener. Accepts under way end with net.ErrClosed.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	l.a.close()
	return err
}
