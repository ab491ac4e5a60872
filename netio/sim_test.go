//go:build bidestep

package netio_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/sim"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/netio"
)

// All orders of a few steps: see package sim. What the connection itself does is one step: net.Pipe's, which works in
// bubbles. Who reads under w.Context() has to get a byte, or the model fails because somebody waits for ever.

// A cancel against the end of a read: what came is not lost, and the next read is not poked.
func TestSimPoke(t *testing.T) {
	for _, kind := range []string{"scope", "context"} {
		sim.Explore(t, "netio: a poke against the end of a read, "+kind, func(w *sim.World) {
			a, peer := net.Pipe()
			c := netio.New(a)
			ctx, cancel := context.WithCancel(w.Context())
			if kind == "scope" {
				s := bide.Open(w.Context())
				ctx, cancel = s, func() { s.Cancel(nil) }
			}
			var got []byte
			var first, second error
			w.Go("reads", func() {
				p := make([]byte, 4)
				var n int
				n, first = c.ReadContext(ctx, p)
				got = append(got, p[:n]...)
				for len(got) < 2 && second == nil {
					n, second = c.ReadContext(w.Context(), p)
					got = append(got, p[:n]...)
				}
			})
			w.Go("writes", func() { peer.Write([]byte("ab")) })
			w.Go("cancels", func() { cancel() })
			w.Check(func() error {
				peer.Close()
				c.Close()
				if string(got) != "ab" || second != nil || first != nil && !errors.Is(first, context.Canceled) {
					return fmt.Errorf("%q, %v, %v", got, first, second)
				}
				return nil
			})
		})
	}
}

// A user's deadline beside a poke: it holds when that is over.
func TestSimPokeDeadline(t *testing.T) {
	sim.Explore(t, "netio: a poke against a deadline of the user's", func(w *sim.World) {
		a, peer := net.Pipe()
		c := netio.New(a)
		s := bide.Open(w.Context())
		var first error
		w.Go("reads", func() { _, first = c.ReadContext(s, make([]byte, 1)) })
		w.Go("cancels", func() { s.Cancel(nil) })
		w.Go("sets", func() { c.SetReadDeadline(time.Time{}.Add(1)) })
		w.Check(func() error {
			defer peer.Close()
			defer c.Close()
			if first == nil {
				return errors.New("read nothing, and no error")
			}
			if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, context.Canceled) {
				return fmt.Errorf("the deadline is gone: %v", err)
			}
			return nil
		})
	})
}

// Close against a read, and against the end of its scope: nothing stays filed.
func TestSimClose(t *testing.T) {
	sim.Explore(t, "netio: close", func(w *sim.World) {
		a, peer := net.Pipe()
		c := netio.New(a)
		s := bide.Open(w.Context())
		w.Go("reads", func() { c.ReadContext(s, make([]byte, 1)) })
		w.Go("closes", func() { c.Close() })
		w.Go("writes", func() { peer.Write([]byte("a")) })
		w.Check(func() error {
			peer.Close()
			if netio.Filed(c) {
				return errors.New("it is still filed")
			}
			s.Close(nil)
			return nil
		})
	})
}

// wire is a connection in memory, and a peer that writes n bytes, one after the other.
func wire(w *sim.World, n int) *netio.Conn {
	a, peer := net.Pipe()
	c := netio.New(alone{Conn: a, busy: new(bool)})
	w.Go("peer", func() {
		for range n {
			peer.Write([]byte("x"))
		}
	})
	w.Check(func() error { c.Close(); return peer.Close() })
	return c
}

// alone is a connection that is read by one at a time.
type alone struct {
	net.Conn
	busy *bool
}

func (a alone) Read(p []byte) (int, error) {
	if *a.busy {
		panic("two have the turn")
	}
	*a.busy = true
	defer func() { *a.busy = false }()
	step.At("read")
	return a.Conn.Read(p)
}

// gets reads a byte under w.Context().
func gets(w *sim.World, c *netio.Conn) {
	if n, err := c.ReadContext(w.Context(), make([]byte, 1)); n != 1 || err != nil {
		panic(fmt.Sprintf("read %d, %v", n, err))
	}
}

// impatient reads a byte under ctx, and if that is canceled meanwhile, under w.Context().
func impatient(w *sim.World, c *netio.Conn, ctx context.Context) {
	n, err := c.ReadContext(ctx, make([]byte, 1))
	switch {
	case n == 0 && errors.Is(err, context.Canceled):
		gets(w, c)
	case n != 1 || err != nil:
		panic(fmt.Sprintf("the impatient one has read %d, %v", n, err))
	}
}

// canceledScope is one that a goroutine of the model cancels.
func canceledScope(w *sim.World, opts ...bide.Option) *bide.Scope {
	s := bide.Open(context.Background(), opts...)
	w.Go("cancel", func() { s.Cancel(nil) })
	w.Check(func() error { s.Close(nil); return nil })
	return s
}

func TestSimTurn(t *testing.T) {
	sim.Explore(t, "three want the turn, one not for long", func(w *sim.World) {
		c, s := wire(w, 3), canceledScope(w)
		w.Go("impatient", func() { impatient(w, c, s) })
		w.Go("a", func() { gets(w, c) })
		w.Go("b", func() { gets(w, c) })
	})
}

func TestSimScopes(t *testing.T) {
	sim.Explore(t, "filed in a scope that is canceled, read under another", func(w *sim.World) {
		c, s := wire(w, 2), canceledScope(w)
		w.Go("a", func() {
			impatient(w, c, s)
			gets(w, c)
		})
	})
}

func TestSimClosedScope(t *testing.T) {
	sim.Explore(t, "a scope that is closed while a connection is filed there", func(w *sim.World) {
		c, s := wire(w, 2), bide.Open(context.Background())
		w.Go("a", func() {
			impatient(w, c, s)
			gets(w, c)
		})
		w.Go("close", func() { s.Close(nil) })
	})
}

func TestSimAccount(t *testing.T) {
	sim.Explore(t, "a scope that keeps accounts", func(w *sim.World) {
		c, s := wire(w, 2), canceledScope(w, bide.Account())
		w.Go("impatient", func() { impatient(w, c, s) })
		w.Go("a", func() { gets(w, c) })
	})
}

func TestSimCloseTurn(t *testing.T) {
	sim.Explore(t, "Close beside reads", func(w *sim.World) {
		a, _ := net.Pipe()
		c, s := netio.New(a), bide.Open(context.Background())
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				if _, err := c.ReadContext(s, make([]byte, 1)); err == nil {
					panic("read from nobody")
				}
			})
		}
		w.Go("close", func() { c.Close() })
		w.Check(func() error {
			defer s.Close(nil)
			if netio.Filed(c) {
				return errors.New("a closed connection is filed")
			}
			return nil
		})
	})
}
