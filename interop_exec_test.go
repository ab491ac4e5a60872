package bide_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// interopChild makes this test program a child that says that it is there and then reads its input to the end, which
// does not come.
const interopChild = "BIDE_TEST_INTEROP_CHILD"

func TestInteropChild(*testing.T) {
	if os.Getenv(interopChild) != "" {
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
}

// exec.CommandContext under a scope: the process is killed when the scope ends. Package exec says that it was killed, and
// not why; the scope knows.
func TestInteropExecRealTime(t *testing.T) {
	bidetest.NoLeaks(t)
	for _, ending := range endings {
		for _, below := range []string{"the scope", "a value", "a nursery"} {
			what := ending.name + ", " + below
			ctx, vc := bidetest.Virtual(t)
			s, err := run(ctx, func(s *bide.Scope) error {
				return inside(s, below, func(ctx context.Context) error {
					cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestInteropChild$")
					cmd.Env = append(os.Environ(), interopChild+"=1")
					cmd.WaitDelay = time.Hour // so that it waits for the goroutines of its pipes
					in, err := cmd.StdinPipe()
					if err != nil {
						return err
					}
					defer in.Close()
					out, err := cmd.StdoutPipe()
					if err != nil {
						return err
					}
					if err := cmd.Start(); err != nil {
						return err
					}
					if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
						t.Errorf("%s: the child says %q, %v", what, line, err)
					}
					if err := ctx.Err(); err != nil {
						t.Errorf("%s: %v before the end", what, err)
					}
					ending.end(s, vc)
					err = cmd.Wait()
					var exit *exec.ExitError
					if !errors.As(err, &exit) || exit.Success() || errors.Is(err, ending.sentinel) {
						t.Errorf("%s: Wait: %v (%T)", what, err, err)
					}
					if cause := context.Cause(ctx); cause == nil {
						t.Errorf("%s: the context has no cause", what)
					} else {
						err = cause // what a caller has to do; execio.Run does it
					}
					return err
				})
			}, bide.Timeout(time.Minute), bide.Name("child"))
			var c *bide.Canceled
			if !errors.As(s.Cause(), &c) || c.Source != ending.source {
				t.Errorf("%s: the cause: %v", what, s.Cause())
			}
			var late *bide.TimeoutError
			if errors.As(err, &late) != (ending.source == bide.ByDeadline) || late == nil && err != nil {
				t.Errorf("%s: the scope: %v (%T)", what, err, err)
			}
		}
	}

	// Nothing is started in a scope that is over, and then the error says why.
	_, err := run(context.Background(), func(s *bide.Scope) error {
		s.Cancel(failure)
		err := exec.CommandContext(s, os.Args[0], "-test.run=^TestInteropChild$").Run()
		if err != context.Canceled {
			t.Errorf("in a canceled scope: %v (%T)", err, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
