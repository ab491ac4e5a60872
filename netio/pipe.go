package netio

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"bide.invalid/bide"
)

// Pipe carries bytes between a and b, in both directions, until both have ended: for a proxy. The bound of ctx is the
// total. If nothing has moved in either direction for idle, it returns a *[bide.TimeoutError]; 0 is no such bound, but
// then a peer that is gone, and whose end nobody was told of, may hold it for ever. It closes neither a nor b.
//
// The end of one direction is passed on by CloseWrite, and the other goes on. If the connection has no CloseWrite, both
// end. An error of one direction ends the other, and is returned.
func Pipe(ctx context.Context, a, b net.Conn, idle time.Duration) error {
	var opts []bide.Option
	if idle > 0 {
		opts = append(opts, bide.Idle(idle))
	}
	x, y := wrap(a), wrap(b)
	return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		carry := func(to, from *Conn) {
			n.Go(func(ctx context.Context) error {
				if err := copyTelling(ctx, to, from); err != nil {
					return err
				}
				told, err := closeWrite(ctx, to)
				if !told {
					n.Cancel(errEnded)
				}
				return err
			})
		}
		carry(x, y)
		carry(y, x)
		return nil
	}, opts...)
}

var errEnded = errors.New("one direction has ended, and the other connection cannot be told")

// copyTelling copies until the end of from, and tells the scope of ctx of each piece.
func copyTelling(ctx context.Context, to, from *Conn) error {
	// Not io.Copy's own ways: they tell when they are through.
	r := struct{ io.Reader }{BindProgress(ctx, from, 1)}
	w := struct{ io.Writer }{BindProgress(ctx, to, 1)}
	_, err := io.Copy(w, r)
	return err
}

// closeWrite ends the writing of c, and of nothing else. It reports false if c cannot do that.
func closeWrite(ctx context.Context, c *Conn) (told bool, err error) {
	k, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return false, nil
	}
	t, err := c.w.begin(ctx) // TLS has to have shaken hands before it can say goodbye, which may block
	if err != nil {
		return true, err
	}
	defer c.w.end(ctx, t, &err)
	k.CloseWrite() // an error: gone already
	return true, nil
}
