package httpio_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/httpio"
)

// The client has two seconds, the server grants anybody a minute: so the handler has two seconds, and when they are over
// the client is told, with where they went.
func ExampleMiddleware() {
	h := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("the handler has", bide.Remaining(r.Context()))
		_ = bide.Sleep(r.Context(), time.Hour)
	}), bide.Name("price list"))

	virtually(func(ctx context.Context) {
		r := httptest.NewRequest("GET", "/prices", nil).WithContext(ctx)
		r.Header.Set("Request-Timeout", "2")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	})
	// Output:
	// the handler has 2s
	// 504 bide: price list: timeout after 2s: sleep 2s
}

// A client that asks for a hundred hours gets the minute.
func ExampleMiddleware_maximum() {
	h := httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("the handler has", bide.Remaining(r.Context()))
	}))
	virtually(func(ctx context.Context) {
		r := httptest.NewRequest("GET", "/prices", nil).WithContext(ctx)
		r.Header.Set("Grpc-Timeout", "100H")
		h.ServeHTTP(httptest.NewRecorder(), r)
	})
	// Output: the handler has 1m0s
}
