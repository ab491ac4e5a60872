package wire_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/wire"
)

// The child sees the bound that its parent is under. In the child, wire.FromEnviron tells how much is left of it.
func Example() {
	_ = bide.FailAfter(context.Background(), time.Minute, func(ctx context.Context) error {
		cmd := exec.Command("backup", "/srv")
		cmd.Env = wire.Environ(ctx)
		for _, e := range cmd.Env {
			if value, ok := strings.CutPrefix(e, wire.EnvDeadline+"="); ok {
				left, err := wire.Parse(value)
				fmt.Println(left.Round(time.Minute), err)
			}
		}
		return nil
	})
	// Output: 1m0s <nil>
}
