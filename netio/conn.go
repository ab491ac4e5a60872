package netio

import (
	"context"
	"net"
	"time"

	"bide.invalid/bide/park"
)

// A Conn is a net.Conn whose reads and writes can be bounded by a context each. It is safe for concurrent use.
//
// Read and Write are those of the connection, and not bounded; they are not to be mixed with ReadContext and
// WriteContext of the same direction at the same time, since they return a timeout when that is canceled.
type Conn struct {
	net.Conn
	r, w side
}

// New makes a Conn of c, which is used through it from now on. Deadlines that c has are removed.
func New(c net.Conn) *Conn {
	if c == nil {
		panic("bide/netio: New of a nil net.Conn")
	}
	k := &Conn{Conn: c}
	k.r.init(park.KindRead, c.SetReadDeadline)
	k.w.init(park.KindWrite, c.SetWriteDeadline)
	if h, ok := c.(handshaker); ok {
		k.r.hello, k.w.hello = h, h
	}
	return k
}

// NetConn is the connection that c was made of.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// ReadContext is Read, until ctx ends: then it returns 0 and the context's error, that of [park.Reason], and no byte is
// lost. What was read is returned, with a nil error, whatever ctx does meanwhile. Under a canceled context it does not
// read.
//
// A deadline that was set on c is kept: when it passes first, the error is the connection's.
func (c *Conn) ReadContext(ctx context.Context, p []byte) (n int, err error) {
	t, err := c.r.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer c.r.end(ctx, t, &err)
	return c.Conn.Read(p)
}

// WriteContext is Write, until ctx ends: then it returns how many bytes of p are on their way, and the context's error.
// Under a canceled context it does not write.
//
// A TLS connection, a *[tls.Conn], cannot write any more after a write that was cut off. Its handshake, which the first
// ReadContext or WriteContext does, is under the context in both directions, and if that ends the connection is closed.
//
// [tls.Conn]: https://pkg.go.dev/crypto/tls#Conn
func (c *Conn) WriteContext(ctx context.Context, p []byte) (n int, err error) {
	t, err := c.w.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer c.w.end(ctx, t, &err)
	return c.Conn.Write(p)
}

// Close closes the connection, whatever a context says, and takes it out of the scopes where it is filed. Operations
// under way end with net.ErrClosed. It takes as long as the connection's own Close: a TLS connection writes a goodbye,
// for 5 s at most; on top of one that is bound to a canceled context ([Bind]) it does not.
func (c *Conn) Close() error {
	c.w.closes()
	err := c.Conn.Close()
	c.r.close()
	c.w.close()
	return err
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline bounds reads, beside their contexts.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.r.setDeadline(t) }

// SetWriteDeadline bounds writes, beside their contexts.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.w.setDeadline(t) }
