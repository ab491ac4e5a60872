package bidetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/netio"
)

// What a client sees of a peer that stalls and comes back, of a write that is cut off, and of a peer that has gone
// without a word.
func ExampleConn_Stall() {
	bidetest.Bubble(new(testing.T), func(t *testing.T, ctx context.Context) {
		a, peer := net.Pipe()
		defer peer.Close()
		c := bidetest.NewConn(ctx, a)
		client := netio.New(c)
		defer client.Close()
		read := func(ctx context.Context) error {
			var buf [8]byte
			n, err := client.ReadContext(ctx, buf[:])
			fmt.Printf("read %q ", buf[:n])
			return err
		}

		c.Stall()
		go peer.Write([]byte("hello"))
		fmt.Println(bide.FailAfter(ctx, time.Second, read, bide.Name("stalled")))
		c.Resume()
		fmt.Println(bide.FailAfter(ctx, time.Second, read))

		go io.Copy(io.Discard, peer)
		c.PartialWrite(2, errors.New("broken"))
		n, err := client.WriteContext(ctx, []byte("hello"))
		fmt.Println("wrote", n, err)

		c.HalfOpen()
		n, err = client.WriteContext(ctx, []byte("is anybody there?"))
		fmt.Println("wrote", n, err)
		fmt.Println(bide.FailAfter(ctx, time.Second, read, bide.Name("half-open")))
	})
	// Output:
	// read "" bide: stalled: timeout after 1s: waiting for read
	// read "hello" <nil>
	// wrote 2 broken
	// wrote 17 <nil>
	// read "" bide: half-open: timeout after 1s: waiting for read
}
