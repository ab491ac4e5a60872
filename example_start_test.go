package bide_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"bide.invalid/bide"
)

// serve is ready when it listens; then it goes on until its context is canceled.
func serve(addr string) func(ctx context.Context, ready func(net.Addr) bool) error {
	return func(ctx context.Context, ready func(net.Addr) bool) error {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		defer l.Close()
		ready(l.Addr())
		return bide.Sleep(ctx, time.Hour) // as if it served
	}
}

// Start returns when the server listens, with its address; or with the error that kept it from listening.
func ExampleStart() {
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		addr, err := bide.Start(ctx, n, serve("127.0.0.1:0"))
		if err != nil {
			return err
		}
		fmt.Println("listening:", addr.(*net.TCPAddr).Port > 0)

		_, err = bide.Start(ctx, n, serve("127.0.0.1:no-port"))
		fmt.Println("the second one failed:", err != nil, errors.Is(err, bide.ErrNotStarted))
		n.Cancel(nil)
		return nil
	})
	fmt.Println(err)
	// Output:
	// listening: true
	// the second one failed: true false
	// <nil>
}
