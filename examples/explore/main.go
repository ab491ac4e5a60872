// Command explore cancels the users of two pools of connections at every point at which that can happen. In the first
// pool, the one that everybody writes, a place gets lost; syncs.Pool loses none. It exits with 1 if that is not so.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/syncs"
)

func main() {
	faults := explore(os.Stdout, "naive", newNaive())
	if faults == 0 || explore(os.Stdout, "syncs.Pool", newPool()) != 0 {
		os.Exit(1)
	}
}

// A conn takes a while to make.
type conn struct{}

func dial(ctx context.Context) (*conn, error) {
	if err := bide.Sleep(ctx, 20*time.Millisecond); err != nil {
		return nil, err
	}
	return &conn{}, nil
}

type pool interface {
	Get(ctx context.Context) (*conn, error)
	Drop(c *conn) // which is broken
}

// naive is a pool with one place, and two waits, one after the other. (What is idle it would keep in a list.)
type naive struct{ places *syncs.Semaphore }

func newNaive() *naive { return &naive{syncs.NewSemaphore(1)} }

func (p *naive) Get(ctx context.Context) (*conn, error) {
	if err := p.places.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	return dial(ctx) // the fault: when this is canceled the place stays taken
}

func (p *naive) Drop(*conn) { p.places.Release(1) }

func newPool() *syncs.Pool[*conn] { return &syncs.Pool[*conn]{New: dial, Max: 1, Bound: time.Second} }

// explore has a user of p canceled wherever he can be, and returns how much was wrong.
func explore(out io.Writer, name string, p pool) (faults int) {
	t := &reporter{out: out}
	points := 0
	over := make(chan struct{})
	go func() { // a test has a goroutine of its own, which ends with it
		defer close(over)
		bidetest.Explore(t, func(ctx context.Context) error {
			c, err := p.Get(ctx)
			if err != nil {
				return err
			}
			defer p.Drop(c)
			return bide.Sleep(ctx, time.Millisecond) // its work, and the peer hangs up
		}, func(point int, err error) { points = point })
	}()
	<-over
	if t.faults == 0 {
		fmt.Fprintf(out, "%s: canceled at each of %d points, and nothing was lost\n", name, points)
	} else {
		fmt.Fprintf(out, "%s: that was after point %d\n", name, points)
	}
	return t.faults
}

// A reporter is the test, outside of go test.
type reporter struct {
	out    io.Writer
	faults int
}

func (r *reporter) Helper()        {}
func (r *reporter) Cleanup(func()) {}

// Errorf shows the first lines; the rest is where everybody stands.
func (r *reporter) Errorf(format string, args ...any) {
	r.faults++
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	fmt.Fprintln(r.out, lines[0])
	fmt.Fprintln(r.out, lines[len(lines)-1])
}

func (r *reporter) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
