//go:build linux

package execio_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/execio"
)

// A command that is too slow, with a child in the background. CommandContext would wait for that one.
func ExampleRun() {
	cmd := exec.Command("sh", "-c", "echo begun; sleep 1000 & wait")
	cmd.Stdout = os.Stdout
	err := bide.FailAfter(context.Background(), 2*time.Second, func(ctx context.Context) error {
		return execio.Run(ctx, cmd)
	})
	fmt.Println(errors.Is(err, context.DeadlineExceeded), cmd.ProcessState)
	// Output:
	// begun
	// true signal: terminated
}
