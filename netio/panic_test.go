package netio_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// trap is a context that panics where it is told to.
type trap struct {
	context.Context
	err, done, value func()
}

func (c trap) Err() error {
	if c.err != nil {
		c.err()
	}
	return c.Context.Err()
}

func (c trap) Done() <-chan struct{} {
	if c.done != nil {
		c.done()
	}
	return c.Context.Done()
}

func (c trap) Value(k any) any {
	if c.value != nil {
		c.value()
	}
	return nil
}

// A context that panics, or ends the goroutine, costs nobody the turn.
func TestContextPanics(t *testing.T) {
	boom := func() { panic("boom") }
	for name, bad := range map[string]trap{
		"nil":         {},
		"Err":         {err: boom},
		"Done":        {done: boom},
		"Value":       {value: boom},
		"Err, Goexit": {err: runtime.Goexit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ctx context.Context
				if name != "nil" {
					bad.Context = context.Background() // package context panics itself, later, if Done is closed
					ctx = bad
				}
				c := netio.New(still{})
				s := bide.Open(t.Context(), bide.Timeout(time.Second))
				defer s.Close(nil)
				for range 2 { // the second time it is filed under s before
					over := make(chan any)
					go func() {
						defer func() { over <- recover() }()
						c.ReadContext(ctx, make([]byte, 1))
						t.Error("it did not panic")
					}()
					if p := <-over; name == "nil" && p != "bide/netio: an operation under a nil context" {
						t.Errorf("panicked with %v", p)
					}
					if n, err := c.ReadContext(s, make([]byte, 3)); n != 3 || err != nil {
						t.Fatalf("then read %d, %v", n, err)
					}
				}
			})
		})
	}
}

// An operation that ends its goroutine gives the turn away.
func TestGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := netio.New(exits{})
		s := bide.Open(t.Context(), bide.Timeout(time.Second))
		defer s.Close(nil)
		over := make(chan bool)
		go func() {
			defer close(over)
			c.ReadContext(s, nil)
		}()
		<-over
		if n, err := c.ReadContext(s, make([]byte, 3)); n != 3 || err != nil {
			t.Errorf("then read %d, %v", n, err)
		}
	})
}

type exits struct{ still }

func (exits) Read(p []byte) (int, error) {
	if p == nil {
		runtime.Goexit()
	}
	return len(p), nil
}
