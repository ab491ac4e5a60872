package httpio_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
	"bide.invalid/bide/wire"
)

// A chain of three: the shop asks the warehouse, which asks the robot. Each has less time than the one before, so the
// robot gives up first, and its name comes back to the shop's client.
func ExampleTripper() {
	ctx, vc := bidetest.Virtual(new(testing.T)) // time stands until it is moved
	client := &http.Client{Transport: &httpio.Tripper{
		Base:   &http.Transport{DisableKeepAlives: true},
		Budget: wire.Budget{Slack: 100 * time.Millisecond, MinWork: 50 * time.Millisecond},
	}}

	// hop is a server that asks the next one, or, without one, works too long.
	hop := func(name, next string) *httptest.Server {
		server := httptest.NewUnstartedServer(httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Println(name, "has", bide.Remaining(r.Context()))
			if next == "" {
				go vc.Advance(700 * time.Millisecond) // all that it has
				_ = bide.Sleep(r.Context(), time.Hour)
				return // Middleware answers
			}
			req, _ := http.NewRequestWithContext(r.Context(), "GET", next, nil)
			resp, err := client.Do(req)
			if err == nil {
				defer resp.Body.Close()
				err = httpio.Check(resp)
			}
			if err != nil {
				httpio.Error(w, err) // whoever err blames
				return
			}
			fmt.Fprintln(w, "done")
		}), bide.Name(name)))
		server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
		server.Start()
		return server
	}
	robot := hop("robot", "")
	defer robot.Close()
	warehouse := hop("warehouse", robot.URL)
	defer warehouse.Close()
	shop := hop("shop", warehouse.URL)
	defer shop.Close()

	err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
		req, _ := http.NewRequestWithContext(ctx, "GET", shop.URL, nil)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		fmt.Println(resp.Status)
		return httpio.Check(resp)
	})
	fmt.Println(err)
	// Output:
	// shop has 900ms
	// warehouse has 800ms
	// robot has 700ms
	// 504 Gateway Timeout
	// bide/httpio: "robot" ran out of time
}
