package httpio_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
)

// The client has two seconds, the server grants anybody a minute: so the handler has two seconds, and when they are over
// the client is told, with where they went.
func ExampleMiddleware() {
	ctx, vc := bidetest.Virtual(new(testing.T)) // time stands until it is moved
	h := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("the handler has", bide.Remaining(r.Context()))
		go vc.Advance(2 * time.Second)
		_ = bide.Sleep(r.Context(), time.Hour)
	}), bide.Name("price list"))

	r := httptest.NewRequest("GET", "/prices", nil).WithContext(ctx)
	r.Header.Set("Request-Timeout", "2")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output:
	// the handler has 2s
	// 504 bide: price list: timeout after 2s: sleep 2s
}

// A client that asks for a hundred hours gets the minute.
func ExampleMiddleware_maximum() {
	ctx, _ := bidetest.Virtual(new(testing.T))
	h := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("the handler has", bide.Remaining(r.Context()))
	}))
	r := httptest.NewRequest("GET", "/prices", nil).WithContext(ctx)
	r.Header.Set("Grpc-Timeout", "100H")
	h.ServeHTTP(httptest.NewRecorder(), r)
	// Output: the handler has 1m0s
}
