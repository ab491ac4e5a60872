package bide_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// A handler with a bound of its own, below the request's context. Late is late, and says with what; a client that has
// hung up is not late.
func Example_handler() {
	var stock syncs.Mutex
	stock.TryLock() // somebody holds it, and does not let go
	handler := func(w http.ResponseWriter, r *http.Request) {
		err := bide.FailAfter(r.Context(), 2*time.Second, func(ctx context.Context) error {
			if err := stock.Lock(ctx); err != nil {
				return err
			}
			defer stock.Unlock()
			fmt.Fprintln(w, "12 pieces")
			return nil
		}, bide.Name(r.URL.Path))
		var late *bide.TimeoutError
		switch {
		case errors.As(err, &late):
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}

	virtually(func(ctx context.Context, vc *clock.Virtual) {
		answer := httptest.NewRecorder()
		handler(answer, httptest.NewRequestWithContext(ctx, "GET", "/stock", nil))
		fmt.Print(answer.Code, " at ", vc.Now(), ": ", answer.Body)

		answer = httptest.NewRecorder()
		bide.Run(ctx, func(client *bide.Scope) error {
			client.Cancel(errors.New("hung up"))
			handler(answer, httptest.NewRequestWithContext(client, "GET", "/stock", nil))
			return nil
		})
		fmt.Print(answer.Code, ": ", answer.Body)
	})
	// Output:
	// 504 at 2s: bide: /stock: timeout after 2s: waiting for lock
	// 503: bide: canceled by cancel: hung up
}

// Two redundant requests. The slower one is canceled: its server sees the client hang up, and when Race returns nothing
// of it is left here.
func Example_redundantRequests() {
	asked, hungUp := make(chan bool), make(chan bool)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
		close(hungUp)
	}))
	defer slow.Close()
	fast := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-asked // so that there are two
		fmt.Fprint(w, "the page")
	}))
	defer fast.Close()
	get := func(url string) func(ctx context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
			if err != nil {
				return "", err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			return string(body), err
		}
	}

	page, err := bide.Race(context.Background(), get(slow.URL), get(fast.URL))
	fmt.Println(page, err)
	<-hungUp
	fmt.Println("the slower one was canceled")
	// Output:
	// the page <nil>
	// the slower one was canceled
}
