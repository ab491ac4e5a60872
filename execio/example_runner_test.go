//go:build linux

package execio_test

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/execio"
)

// A command that is told to end in its own way, and has a minute for that.
func ExampleRunner() {
	r := execio.Runner{
		Grace: time.Minute,
		Kill: func(_ context.Context, t *execio.Tree) error {
			return t.Signal(syscall.SIGINT)
		},
	}
	cmd := exec.Command("sleep", "1000")
	late, err := bide.MoveOnAfter(context.Background(), 2*time.Second, func(ctx context.Context) error {
		return r.Run(ctx, cmd)
	})
	fmt.Println(late, err, cmd.ProcessState)
	// Output:
	// true <nil> signal: interrupt
}
