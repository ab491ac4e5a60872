package netio

import (
	"context"
	"net"
	"time"

	"bide.invalid/bide/park"
)

// A PacketConn is a net.PacketConn whose reads and writes can be bounded by a context each, as those of a [Conn] are.
type PacketConn struct {
	net.PacketConn
	r, w side
}

// NewPacket makes a PacketConn of c, which is used through it from now on. Deadlines that c has are removed.
func NewPacket(c net.PacketConn) *PacketConn {
	if c == nil {
		panic("bide/netio: NewPacket of a nil net.PacketConn")
	}
	k := &PacketConn{PacketConn: c}
	k.r.init(park.KindRead, c.SetReadDeadline)
	k.w.init(park.KindWrite, c.SetWriteDeadline)
	return k
}

// ReadFromContext is ReadFrom, until ctx ends: then it returns the context's error, and no packet is lost.
func (c *PacketConn) ReadFromContext(ctx context.Context, p []byte) (n int, from net.Addr, err error) {
	t, err := c.r.begin(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer c.r.end(ctx, t, &err)
	return c.PacketConn.ReadFrom(p)
}

// WriteToContext is WriteTo, until ctx ends: then it returns the context's error, and nothing was sent.
func (c *PacketConn) WriteToContext(ctx context.Context, p []byte, to net.Addr) (n int, err error) {
	t, err := c.w.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer c.w.end(ctx, t, &err)
	return c.PacketConn.WriteTo(p, to)
}

// Close closes the connection, and takes it out of the scopes where it is filed. Operations under way end with
// net.ErrClosed.
func (c *PacketConn) Close() error {
	err := c.PacketConn.Close()
	c.r.close()
	c.w.close()
	return err
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *PacketConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline bounds reads, beside their contexts.
func (c *PacketConn) SetReadDeadline(t time.Time) error { return c.r.setDeadline(t) }

// SetWriteDeadline bounds writes, beside their contexts.
func (c *PacketConn) SetWriteDeadline(t time.Time) error { return c.w.setDeadline(t) }
