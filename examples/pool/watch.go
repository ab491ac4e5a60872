package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
)

// A server says back what it hears, and knows how many connections it has.
type server struct {
	net.Listener
	open, most atomic.Int64
	group      sync.WaitGroup
}

func serve() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{Listener: l}
	s.group.Go(func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			s.most.Store(max(s.most.Load(), s.open.Add(1)))
			s.group.Go(func() {
				defer s.open.Add(-1)
				defer c.Close()
				_, _ = io.Copy(c, c)
			})
		}
	})
	return s, nil
}

// watched runs the demo and looks at what is left of it.
func watched(out io.Writer) error {
	ctx, before := context.Background(), runtime.NumGoroutine()
	s, err := serve()
	if err != nil {
		return err
	}
	err = demo(ctx, s.Addr().String(), out)
	open := left(ctx, 0, func() int { return int(s.open.Load()) })
	s.Close()
	if open == 0 {
		s.group.Wait()
	}
	if open != 0 {
		err = errors.Join(err, fmt.Errorf("%d connections are left", open))
	}
	if most := s.most.Load(); most > conns {
		err = errors.Join(err, fmt.Errorf("there were %d connections at once", most))
	}
	if n := left(ctx, before, runtime.NumGoroutine) - before; n > 0 {
		err = errors.Join(err, fmt.Errorf("%d goroutines are left", n))
	}
	if err == nil {
		fmt.Fprintln(out, "no connection is left, and no goroutine")
	}
	return err
}

// left is the count once it is down to want, or after a second: what was told to end may take a moment for it.
func left(ctx context.Context, want int, count func() int) (n int) {
	_, _ = bide.MoveOnAfter(ctx, time.Second, func(ctx context.Context) error {
		for n = count(); n > want; n = count() {
			if err := bide.Sleep(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	})
	return n
}
