// Command shutdown is an HTTP server that stops as a service should when it is sent SIGTERM:
//
//   - draining: no new connections, and the handlers that run come to their end;
//   - after the grace the hard stop: the contexts of the handlers that are left are canceled, and a report names them, says
//     what they wait for, and where;
//   - exit code 0 if everybody was done in the grace; 143 (130 for an interrupt) if somebody had to be cut; 1 for a failure.
//     A second signal exits at once.
//
// There is a handler that hangs. So that there is something to see it plays its own client as well, unless -client=false.
//
//	go build -o shutdown ./examples/shutdown
//	./shutdown -selftest; echo $?      # sends SIGTERM to itself: 143, after the grace of 2 s
//	./shutdown & sleep 1; kill -TERM $!; wait $!; echo $?
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

var (
	addr     = flag.String("addr", "127.0.0.1:0", "the address to listen on")
	grace    = flag.Duration("grace", 2*time.Second, "how long handlers may go on after the signal")
	client   = flag.Bool("client", true, "play the client: a request that takes its time, and one that hangs")
	selftest = flag.Bool("selftest", false, "send SIGTERM to itself when the requests are in flight")
)

func main() {
	flag.Parse()
	bide.Main(run, bide.Name("shutdown"), bide.Grace(*grace))
}

// run serves until it is told to stop.
func run(ctx context.Context) error {
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	a := &app{inFlight: make(chan string, 2)}
	server := &http.Server{
		Handler:     a.routes(),
		BaseContext: func(net.Listener) context.Context { return ctx }, // every handler's context lies below
	}
	say("listening on http://%v", l.Addr())
	err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(context.Context) error {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		}, bide.Name("accept"))
		if *client {
			n.Service(func(ctx context.Context) error { return a.play(ctx, "http://"+l.Addr().String()) }, bide.Name("client"))
		}
		<-bide.Draining(ctx) // closed as well if Serve has failed, since that cancels ctx
		say("draining: no new connections; waiting for the handlers")
		return server.Shutdown(ctx) // returns when they are done, or at the hard stop, with ctx's error
	})
	if ctx.Err() != nil {
		say("hard stop: closing the connections that are left")
	} else {
		say("drained: everybody is done")
	}
	return errors.Join(err, server.Close())
}

// An app is the handlers, and what they need.
type app struct {
	reply    syncs.Future[string] // from a backend that has died: nobody will set it
	inFlight chan string          // for the client: a handler has begun
}

func (a *app) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	mux.HandleFunc("GET /slow", a.scoped("GET /slow", a.slow))
	mux.HandleFunc("GET /stuck", a.scoped("GET /stuck", a.stuck))
	return mux
}

// scoped gives a handler a scope with a name, and a bound that is too long to help.
func (a *app) scoped(name string, f func(ctx context.Context, w io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := bide.FailAfter(r.Context(), time.Hour, func(ctx context.Context) error {
			say("in flight: %s", name)
			select {
			case a.inFlight <- name:
			default:
			}
			return f(ctx, w)
		}, bide.Name(name))
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}
}

// slow takes its time, and is done within the grace.
func (a *app) slow(ctx context.Context, w io.Writer) error {
	if err := bide.Sleep(ctx, 700*time.Millisecond); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "slow, but here")
	return err
}

// stuck waits for what does not come.
func (a *app) stuck(ctx context.Context, w io.Writer) error {
	reply, err := a.reply.Wait(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, reply)
	return err
}

// play sends two requests. It is a service: it goes on until everything else has ended.
func (a *app) play(ctx context.Context, base string) error {
	return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		for _, path := range []string{"/slow", "/stuck"} {
			n.Go(func(ctx context.Context) error { return get(ctx, base+path, path) })
			select {
			case <-a.inFlight:
			case <-ctx.Done():
			}
		}
		if !*selftest {
			say("waiting for a signal: kill -TERM %d", os.Getpid())
			return nil
		}
		say("sending SIGTERM to myself")
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Signal(syscall.SIGTERM)
	})
}

// get tells what came back. That a request fails is no failure of the server.
func get(ctx context.Context, url, name string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		say("client: %s: no answer", name)
		return bide.Check(ctx)
	}
	defer resp.Body.Close()
	say("client: %s: %s", name, resp.Status)
	return nil
}

var start = time.Now()

// say writes a line with the time since the start.
func say(format string, args ...any) {
	fmt.Printf("%5.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
}
