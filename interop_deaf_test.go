package bide_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
)

// README has a table of what obeys a scope, and what does not. What does is in the other interop tests; this is what does
// not, and the ways that the table names to end it.

// deafCalls go on in a scope that is canceled. Each is given the scope where it can be, calls begun before it
// waits, and returns an error unless it has come to the end that release brings about.
var deafCalls = map[string]func(ctx context.Context, begun func(), release <-chan struct{}) error{
	"Read of a connection that was dialed under the scope": func(ctx context.Context, begun func(), release <-chan struct{}) error {
		ours, theirs, err := linked(ctx)
		if err != nil {
			return err
		}
		defer ours.Close()
		go func() {
			defer theirs.Close()
			<-release
			io.WriteString(theirs, "x")
		}()
		begun()
		_, err = ours.Read(make([]byte, 1))
		return err
	},
	"Read of a file": func(_ context.Context, begun func(), release <-chan struct{}) error {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		go func() {
			defer w.Close()
			<-release
			w.WriteString("x")
		}()
		begun()
		_, err = r.Read(make([]byte, 1))
		return err
	},
	"sync.Mutex": func(_ context.Context, begun func(), release <-chan struct{}) error {
		var mu sync.Mutex
		mu.Lock()
		go func() {
			<-release
			mu.Unlock()
		}()
		begun()
		mu.Lock()
		return nil
	},
	"sync.WaitGroup": func(_ context.Context, begun func(), release <-chan struct{}) error {
		var g sync.WaitGroup
		g.Go(func() { <-release })
		begun()
		g.Wait()
		return nil
	},
	"receive": func(_ context.Context, begun func(), release <-chan struct{}) error {
		begun()
		<-release
		return nil
	},
	"a request without a context": func(_ context.Context, begun func(), release <-chan struct{}) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { begun(); <-release })}
		go server.Serve(l)
		defer server.Close()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get("http://" + l.Addr().String())
		if err != nil {
			return err
		}
		return resp.Body.Close()
	},
}

// linked is a connection that was dialed under ctx, and its other end.
func linked(ctx context.Context) (ours, theirs net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if ours, err = new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	theirs, err = l.Accept()
	return ours, theirs, err
}

func TestInteropDeaf(t *testing.T) {
	bidetest.NoLeaks(t)
	for name, call := range deafCalls {
		release := make(chan struct{})
		begun := make(chan struct{})
		done := make(chan error, 1)
		err := bide.Run(context.Background(), func(s *bide.Scope) error {
			go func() { done <- call(s, sync.OnceFunc(func() { close(begun) }), release) }()
			<-begun
			s.Cancel(failure)
			for range 20 { // many chances to return
				_ = goroutinesWith("")
				select {
				case err := <-done:
					t.Fatalf("%s: returned with the scope: %v", name, err)
				default:
				}
			}
			close(release)
			if err := <-done; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// time.Sleep is deaf, bide.Sleep is not.
func TestInteropSleep(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		began := clock.Now()
		err := bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
			time.Sleep(time.Hour)
			return bide.Check(ctx)
		})
		if took := clock.Now().Sub(began); err == nil || took != time.Hour {
			t.Errorf("time.Sleep: %v after %v", err, took)
		}
	})
}

// A read of a connection ends with the scope if the scope's end sets its deadline; the error counts as a cancellation.
func TestInteropConnDeadline(t *testing.T) {
	bidetest.NoLeaks(t)
	for _, ending := range endings {
		ctx, vc := bidetest.Virtual(t)
		_, err := run(ctx, func(s *bide.Scope) error {
			ours, theirs, err := linked(s)
			if err != nil {
				return err
			}
			defer ours.Close()
			defer theirs.Close()
			stop := s.AfterFunc(func() { ours.SetDeadline(time.Unix(1, 0)) })
			defer stop()
			go ending.end(s, vc)
			_, err = ours.Read(make([]byte, 1))
			return err
		}, bide.Timeout(time.Minute), bide.Name("read"))
		var late *bide.TimeoutError
		if errors.As(err, &late) != (ending.source == bide.ByDeadline) || late == nil && err != nil {
			t.Errorf("%s: %v (%T)", ending.name, err, err)
		}
	}
}

// What cannot be ended can be left behind: it goes on, and the scope does not wait for it.
func TestInteropLeftBehind(t *testing.T) {
	bidetest.NoLeaks(t)
	for name, call := range deafCalls {
		release, begun, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		err := bide.Run(context.Background(), func(s *bide.Scope) error {
			go func() {
				<-begun
				s.Cancel(failure)
			}()
			_, err := bide.Blocking(s, func(ctx context.Context) (int, error) {
				err := call(ctx, sync.OnceFunc(func() { close(begun) }), release)
				ended <- err
				return 0, err
			}, bide.Abandon())
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case err := <-ended:
			t.Errorf("%s: has ended: %v", name, err)
		default:
		}
		close(release)
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
