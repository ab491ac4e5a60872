package netio

import (
	"context"
	"io"
	"io/fs"
	"net"
	"sync/atomic"
	"syscall"

	"bide.invalid/bide"
)

// Bind returns c with all its reads and writes under ctx, for code that takes a net.Conn, an io.Reader or an io.Writer.
// If c is a [Conn], or bound itself, it is bound once more, and the connection is the same: one may be bound to the
// scope of each request in turn. Close what Bind returns, or the Conn, and not the net.Conn below.
//
// io.Copy from and to it does what it would do with the connection itself, such as splice or sendfile. One from it, and
// one to it from a regular file or another connection, is one operation: others in that direction wait until it is over.
func Bind(ctx context.Context, c net.Conn) net.Conn {
	if ctx == nil {
		panic("bide/netio: Bind to a nil context")
	}
	return &bound{wrap(c), ctx}
}

// BindProgress is Bind below an idle scope ([bide.Idle]): each time that so many bytes have gone, in either direction,
// it says so to the scope of ctx ([bide.Scope.Progress]). A peer that sends or takes fewer in each of the scope's
// limits, a byte now and then for instance, is cut off as one that does nothing; 1 lets any byte count. A Write is made
// in pieces of 16 KB, and each counts when it is through.
func BindProgress(ctx context.Context, c net.Conn, bytes int) net.Conn {
	if bytes <= 0 {
		panic("bide/netio: BindProgress: bytes is not positive")
	}
	s := bide.From(ctx)
	if s == nil {
		panic("bide/netio: BindProgress: the context has no scope")
	}
	return &measured{Conn: wrap(c), ctx: ctx, scope: s, per: int64(bytes)}
}

// wrap is New, unless there is a Conn already.
func wrap(c net.Conn) *Conn {
	switch c := c.(type) {
	case *Conn:
		return c
	case *bound:
		return c.Conn
	case *measured:
		return c.Conn
	}
	return New(c)
}

// bound is a Conn under one context.
type bound struct {
	*Conn
	ctx context.Context
}

func (b *bound) Read(p []byte) (int, error)  { return b.ReadContext(b.ctx, p) }
func (b *bound) Write(p []byte) (int, error) { return b.WriteContext(b.ctx, p) }

// WriteTo has io.Copy find the connection's own ways.
func (b *bound) WriteTo(w io.Writer) (n int64, err error) {
	t, err := b.r.begin(b.ctx)
	if err != nil {
		return 0, err
	}
	defer b.r.end(b.ctx, t, &err)
	return io.Copy(w, b.Conn.Conn)
}

// ReadFrom likewise, where there are such ways. Else each piece is written in a turn of its own: the source may have
// nothing to copy for long, and others write meanwhile.
func (b *bound) ReadFrom(r io.Reader) (n int64, err error) {
	if _, ok := b.Conn.Conn.(io.ReaderFrom); !ok || !ofKernel(r) {
		return io.Copy(struct{ io.Writer }{b}, r)
	}
	t, err := b.w.begin(b.ctx)
	if err != nil {
		return 0, err
	}
	defer b.w.end(b.ctx, t, &err)
	return io.Copy(b.Conn.Conn, r)
}

// ofKernel reports whether r is of a kind that the kernel can copy from: a regular file, or a connection.
func ofKernel(r io.Reader) bool {
	if l, ok := r.(*io.LimitedReader); ok {
		r = l.R
	}
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }: // what os.File hands to io.Copy is not always an *os.File
		info, err := r.Stat()
		return err == nil && info.Mode().IsRegular()
	case net.Conn:
		_, ok := r.(syscall.Conn)
		return ok
	}
	return false
}

// measured is a Conn under the context of a scope that it tells of progress. It has no WriteTo and no ReadFrom, since
// those tell when they are through.
type measured struct {
	*Conn
	ctx   context.Context
	scope *bide.Scope
	per   int64
	moved atomic.Int64
}

// piece is how much is written at a time: a Write does not tell before it is through.
const piece = 16 << 10

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.ReadContext(m.ctx, p)
	m.tell(n)
	return n, err
}

func (m *measured) Write(p []byte) (n int, err error) {
	t, err := m.w.begin(m.ctx) // for all pieces: nobody writes in between
	if err != nil {
		return 0, err
	}
	defer m.w.end(m.ctx, t, &err)
	for {
		most := min(piece, len(p)-n)
		var k int
		k, err = m.Conn.Conn.Write(p[n : n+most])
		m.tell(k)
		n += k
		if err == nil && k < most {
			err = io.ErrShortWrite
		}
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

func (m *measured) tell(n int) {
	if n <= 0 {
		return
	}
	if now := m.moved.Add(int64(n)); now/m.per != (now-int64(n))/m.per {
		m.scope.Progress()
	}
}
