package syncs_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A request goes out on a connection that many share, and its answer comes back through the connection's reader. The
// future lies in the request: nothing is allocated for it, and a reader whose caller has gone blocks on nothing.
func ExampleFuture() {
	type request struct {
		id     int
		answer syncs.Future[string]
	}
	pending := make(chan *request, 8)
	go func() { // the reader
		for r := range pending {
			r.answer.Set(fmt.Sprintf("answer %d", r.id))
		}
	}()

	r := &request{id: 7}
	pending <- r
	text, err := bide.Within(context.Background(), time.Minute, r.answer.Wait)
	fmt.Println(text, err)

	fmt.Println("once only:", r.answer.Set("another"))
	text, done, err := r.answer.Poll()
	fmt.Println(text, done, err)

	// A request that is never sent.
	r = &request{id: 8}
	_, err = bide.Within(context.Background(), time.Millisecond, r.answer.Wait, bide.Name("request 8"))
	_, timeout := err.(*bide.TimeoutError)
	fmt.Println("timeout:", timeout)
	close(pending)

	// Output:
	// answer 7 <nil>
	// once only: false
	// answer 7 true <nil>
	// timeout: true
}
