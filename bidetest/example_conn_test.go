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

// A peer sends a byte a second: whoever has set a bound on the whole is not fooled by that.
func ExampleConn() {
	bidetest.Bubble(new(testing.T), func(t *testing.T, ctx context.Context) {
		a, peer := net.Pipe()
		defer peer.Close()
		c := bidetest.NewConn(ctx, a)
		defer c.Close()
		c.Drip(1, time.Second)
		go peer.Write([]byte("a long answer"))
		begun := time.Now()
		var got []byte
		err := bide.FailAfter(ctx, 5*time.Second+time.Second/2, func(ctx context.Context) (err error) {
			got, err = io.ReadAll(netio.Bind(ctx, netio.New(c)))
			return err
		})
		fmt.Printf("%q after %v: %v\n", got, time.Since(begun), errors.Is(err, context.DeadlineExceeded))
	})
	// Output:
	// "a lon" after 5.5s: true
}
