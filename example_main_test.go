package bide_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"

	"bide.invalid/bide"
)

// A server that stops as it should: at SIGTERM it takes no new connection, and lets the handlers that run come to their
// end; after the grace their contexts are canceled. With a failure it exits with 1, with code 143 if SIGTERM had to cut.
//
// It runs, with a handler that hangs, in examples/shutdown.
func ExampleMain() {
	main := func() {
		bide.Main(serveHTTP, bide.Grace(20*time.Second), bide.Signals(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP))
	}
	_ = main // it would end the tests
}

func serveHTTP(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:8080")
	if err != nil {
		return err
	}
	server := &http.Server{BaseContext: func(net.Listener) context.Context { return ctx }}
	return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(context.Context) error {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		<-bide.Draining(ctx) // closed as well if Serve fails, since that cancels ctx
		return server.Shutdown(ctx)
	})
}
