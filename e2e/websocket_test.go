//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"bide.invalid/bide"
)

// A ticker sends its client a number now and then, until its scope ends, and says goodbye before it leaves. The library
// closes a connection without a word when the context of one of its calls ends: so each message is sent in a shield, with
// a bound of its own, and the scope is looked at between them.
func ticker(ctx context.Context, c *websocket.Conn) (err error) {
	defer func() {
		err = errors.Join(err, bide.Shield(ctx, time.Minute, func(ctx context.Context) error {
			return c.Close(websocket.StatusGoingAway, "until tomorrow")
		}, bide.Name("goodbye")))
	}()
	for n := range 1 << 30 {
		err := bide.Shield(ctx, time.Minute, func(ctx context.Context) error {
			return c.Write(ctx, websocket.MessageText, fmt.Append(nil, n))
		}, bide.Name("message"))
		if err != nil {
			return err
		}
		if err := bide.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// The goodbye is said although the scope has ended, by whatever it is.
func TestWebSocketGoodbyeRealTime(t *testing.T) {
	ends := map[string]func(s *bide.Scope){
		"deadline":     func(s *bide.Scope) { s.SetTimeout(20 * time.Millisecond) },
		"cancel":       func(s *bide.Scope) { s.Cancel(nil) },
		"graceful end": func(s *bide.Scope) { s.Stop(time.Hour, nil); s.Cancel(nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			third := make(chan struct{})
			served := make(chan error, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c, err := websocket.Accept(w, r, nil)
				if err != nil {
					served <- err
					return
				}
				defer c.CloseNow()
				served <- bide.Run(context.Background(), func(s *bide.Scope) error {
					go func() {
						<-third
						end(s)
					}()
					return ticker(s, c)
				}, bide.MoveOn())
			}))
			defer server.Close()

			err := bide.FailAfter(context.Background(), time.Minute, func(ctx context.Context) error {
				c, _, err := websocket.Dial(ctx, strings.Replace(server.URL, "http", "ws", 1), nil)
				if err != nil {
					return err
				}
				defer c.CloseNow()
				for n := 0; ; n++ {
					_, b, err := c.Read(ctx)
					if err != nil {
						return err
					}
					if string(b) != fmt.Sprint(n) {
						t.Errorf("message %d is %q", n, b)
					}
					if n == 2 {
						close(third)
					}
				}
			})
			var bye websocket.CloseError
			if !errors.As(err, &bye) || bye.Code != websocket.StatusGoingAway || bye.Reason != "until tomorrow" {
				t.Errorf("the client: %v (%T)", err, err)
			}
			if err := <-served; err != nil {
				t.Errorf("the server: %v", err)
			}
		})
	}
}
