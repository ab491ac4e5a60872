package httpio_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/httpio"
)

// A server is told to stop while it answers a request: the answer is whole, and then Serve returns. In a program bide.Main
// tells it, at SIGTERM.
func ExampleServe() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	begun := make(chan bool)
	srv := &http.Server{Handler: httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- true
		<-bide.Draining(r.Context())
		fmt.Fprint(w, "the whole answer")
	}))}
	err = bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(ctx context.Context) error {
			err := httpio.Serve(ctx, srv, l)
			fmt.Println("drained:", err)
			return err
		})
		go func() {
			<-begun
			n.Scope().Stop(time.Minute, nil)
		}()
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		fmt.Println(string(body))
		http.DefaultClient.CloseIdleConnections()
		return err
	})
	fmt.Println(err)
	// Unordered output:
	// the whole answer
	// drained: <nil>
	// <nil>
}
