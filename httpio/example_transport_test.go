package httpio_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
	"bide.invalid/bide/netio"
)

// One bound covers it all: the dial, the TLS handshake, the request, and a body that comes a drop at a time.
func ExampleTransport() {
	ctx, vc := bidetest.Virtual(new(testing.T)) // time stands until it is moved
	answered := make(chan bool)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("the client has", r.Header.Get("Grpc-Timeout"))
		fmt.Fprint(w, "a drop")
		w.(http.Flusher).Flush()
		<-answered
		vc.Advance(3 * time.Second)
		<-r.Context().Done() // the client has hung up
	}))
	defer server.Close()
	base := server.Client().Transport.(*http.Transport)
	base.DialContext = netio.Dial // tries the addresses of a name in the way of RFC 8305
	client := &http.Client{Transport: httpio.Transport(base)}

	err := bide.FailAfter(ctx, 3*time.Second, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, "GET", server.URL, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		close(answered)
		_, err = io.ReadAll(resp.Body)
		fmt.Println("the body's error:", err)
		return err
	}, bide.Name("price list"))
	fmt.Println(err)
	// Output:
	// the client has 3000000u
	// the body's error: bide: canceled by deadline of scope "price list"
	// bide: price list: timeout after 3s
}
