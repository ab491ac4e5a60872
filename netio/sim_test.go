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
	"bide.invalid/bide/netio"
)

// All orders of a few steps: see package sim. What the connection itself does is one step: net.Pipe's, which works in
// bubbles.

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
