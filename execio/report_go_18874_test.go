//go:build linux

package execio_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/execio"
)

// golang/go#18874, #21922, #23019: exec.CommandContext kills the child, and Wait goes on for as long as a grandchild
// holds the pipe of its output.
func TestReportGo18874RealTime(t *testing.T) {
	c := newCrew(t)
	for _, script := range []string{
		`sleep 1000`, // a shell that forks, or execs, as it likes
		`sleep 1000; true`,
		`sleep 1000 & wait`,
		`setsid sleep 1000 & wait`,
		`trap '' TERM; setsid sleep 1000 & wait; sleep 1000`,
	} {
		cmd := c.sh(script)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := bide.FailAfter(t.Context(), 50*time.Millisecond, func(ctx context.Context) error {
			return execio.Runner{Grace: 50 * time.Millisecond, Log: quiet}.Run(ctx, cmd)
		})
		var timeout *bide.TimeoutError
		if !errors.As(err, &timeout) {
			t.Errorf("%s: %v", script, err)
		}
		c.gone()
	}
}
