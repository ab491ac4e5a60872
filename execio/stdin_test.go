//go:build linux

package execio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/execio"
)

// A Stdin whose Read does not return holds nobody: not the cancellation, and not the end of the command.
func TestStdinIsSilentRealTime(t *testing.T) {
	silent := func() io.Reader {
		r, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		return r
	}
	c := newCrew(t)
	cmd := c.sh(`echo ready; exec sleep 1000`)
	out := newLines()
	cmd.Stdin, cmd.Stdout = silent(), out
	b := start(t.Context(), execio.Runner{Grace: long}.Run, cmd)
	out.want(t, "ready")
	b.cancel(nil)
	if err := b.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}

	cmd = c.sh(`exit 0`)
	cmd.Stdin, cmd.WaitDelay = silent(), time.Millisecond
	if err := execio.Run(t.Context(), cmd); !errors.Is(err, exec.ErrWaitDelay) {
		t.Errorf("ended by itself: %v", err)
	}
	cmd = c.sh(`exit 3`)
	cmd.Stdin, cmd.WaitDelay = silent(), time.Millisecond
	var exit *exec.ExitError
	if err := execio.Run(t.Context(), cmd); !errors.As(err, &exit) {
		t.Errorf("failed by itself: %v", err)
	}

	cmd = c.sh(`echo $$; exit 0`)
	cmd.Stdin, cmd.Stdout = silent(), out
	b = start(t.Context(), execio.Runner{Grace: long}.Run, cmd)
	awaitEnd(t, <-out.c)
	b.cancel(nil)
	if err := b.wait(); err != nil { // the command itself has succeeded
		t.Errorf("ended by itself, then canceled: %v", err)
	}
	c.gone()
}

// A Stdin in memory is left as it is: package os/exec has its own way for it, and closing the pipe ends that.
func TestStdinInMemoryRealTime(t *testing.T) {
	all := make([]byte, 1<<20) // more than a pipe takes
	for _, in := range []io.Reader{bytes.NewReader(all), bytes.NewBuffer(all), strings.NewReader(string(all))} {
		c := newCrew(t)
		cmd := c.sh(`exec 3<&0; sleep 1000 & exit 0`)
		cmd.Stdin, cmd.WaitDelay = in, time.Millisecond
		if err := execio.Run(t.Context(), cmd); !errors.Is(err, exec.ErrWaitDelay) {
			t.Errorf("%T, which somebody holds: %v", in, err)
		}
		c.Dismiss()
		if cmd.Stdin != in {
			t.Errorf("%T has become a %T", in, cmd.Stdin)
		}
	}
}

// Every byte of a Stdin comes to the command, whatever its pieces, and so does its error to the caller.
func TestStdin(t *testing.T) {
	all := strings.Repeat("0123456789abcdef", 1<<14)
	torn := errors.New("torn")
	for _, in := range []io.Reader{
		strings.NewReader(all),
		struct{ io.Reader }{strings.NewReader(all)},
		io.MultiReader(strings.NewReader(all[:7]), strings.NewReader(all[7:1<<17]), strings.NewReader(all[1<<17:])),
	} {
		cmd := exec.Command("cat")
		var out bytes.Buffer
		cmd.Stdin, cmd.Stdout = in, &out
		if err := execio.Run(t.Context(), cmd); err != nil || out.String() != all {
			t.Errorf("%T: %d bytes, %v", in, out.Len(), err)
		}
	}
	cmd := exec.Command("cat")
	r, w := io.Pipe()
	w.CloseWithError(torn)
	cmd.Stdin = r
	if err := execio.Run(t.Context(), cmd); !errors.Is(err, torn) {
		t.Errorf("error %v, want that of Read", err)
	}
}

// A command that was started already is not touched.
func TestStartedAlready(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.Stdin = strings.NewReader("x")
	before := cmd.Stdin
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := execio.Run(t.Context(), cmd); err == nil || cmd.Stdin != before || cmd.WaitDelay != 0 || cmd.SysProcAttr != nil {
		t.Errorf("%v, and %v %v %v", err, cmd.Stdin, cmd.WaitDelay, cmd.SysProcAttr)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
