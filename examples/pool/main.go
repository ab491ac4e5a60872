// Command pool is fifty goroutines that want one of two connections, each for as long as a tenth of a second. It shows
// who got one and who was bounded, and exits with 1 if a goroutine or a connection is left.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

const (
	conns = 2
	users = 50
	bound = 100 * time.Millisecond
	work  = 10 * time.Millisecond // what each one does with its connection
)

func main() {
	if err := watched(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pool:", err)
		os.Exit(1)
	}
}

// demo is the code of somebody who uses the pool.
func demo(ctx context.Context, addr string, out io.Writer) error {
	pool := syncs.Pool[net.Conn]{
		New: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		},
		Destroy: func(c net.Conn) { c.Close() },
		Max:     conns,
		Bound:   time.Second, // of a dial, which nobody's 100 ms cut short
	}
	var got, bounded atomic.Int64
	err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		for i := range users {
			n.Go(func(ctx context.Context) error {
				start := time.Now()
				c, err := bide.Within(ctx, bound, pool.Get)
				waited := time.Since(start).Round(time.Millisecond)
				if errors.Is(err, context.DeadlineExceeded) {
					fmt.Fprintf(out, "%2d bounded after %v\n", i, waited)
					bounded.Add(1)
					return nil
				} else if err != nil {
					return err
				}
				if err := echo(ctx, c, i); err != nil {
					pool.Drop(c) // broken
					return err
				}
				pool.Put(c)
				fmt.Fprintf(out, "%2d got %v after %v\n", i, c.LocalAddr(), waited)
				got.Add(1)
				return nil
			})
		}
		return nil
	})
	pool.Close()
	fmt.Fprintf(out, "%d got one, %d were bounded; %d connections were made\n", got.Load(), bounded.Load(), pool.Stats().Made)
	return errors.Join(err, bide.FailAfter(ctx, time.Second, pool.Wait))
}

// echo works with a connection for a while.
func echo(ctx context.Context, c net.Conn, i int) error {
	if _, err := fmt.Fprintf(c, "%2d", i); err != nil {
		return err
	}
	if err := bide.Sleep(ctx, work); err != nil {
		return err
	}
	answer := make([]byte, 2)
	if _, err := io.ReadFull(c, answer); err != nil {
		return err
	}
	if want := fmt.Sprintf("%2d", i); string(answer) != want {
		return fmt.Errorf("sent %q, received %q", want, answer)
	}
	return nil
}
