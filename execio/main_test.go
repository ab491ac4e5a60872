//go:build linux

package execio_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/internal/crew"
)

// A testCrew makes commands, and knows what of them is left.
type testCrew struct {
	t *testing.T
	crew.Mark
}

// newCrew returns a crew of which nothing must be left when the test ends.
func newCrew(t *testing.T) *testCrew {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("SKIPPED: no command setsid (util-linux), without which nothing leaves its session here")
	}
	c := &testCrew{t, crew.New()}
	t.Cleanup(func() {
		c.gone()
		if z := crew.Zombies(); len(z) > 0 {
			t.Errorf("zombies are left: %v", z)
		}
	})
	return c
}

// sh is a shell command of the crew.
func (c *testCrew) sh(script string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), string(c.Mark))
	return cmd
}

// gone fails the test if somebody lives, and sees to it that nobody does any more.
func (c *testCrew) gone() {
	c.t.Helper()
	if pids := c.Left(); len(pids) > 0 {
		c.t.Errorf("processes are left: %v", pids)
		c.Dismiss()
	}
}

// A lines is a writer that hands over lines. As it is no file, the command gets a pipe.
type lines struct {
	c   chan string
	mu  sync.Mutex
	buf []byte
}

func newLines() *lines { return &lines{c: make(chan string, 1000)} }

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	for {
		i := bytes.IndexByte(l.buf, '\n')
		if i < 0 {
			return len(b), nil
		}
		l.c <- string(l.buf[:i])
		l.buf = l.buf[i+1:]
	}
}

// want waits for a line.
func (l *lines) want(t *testing.T, line string) {
	t.Helper()
	if got := <-l.c; got != line {
		t.Errorf("line %q, want %q", got, line)
	}
}

// A background is a call of Run.
type background struct {
	done   chan struct{}
	err    error
	cancel context.CancelCauseFunc
}

func start(ctx context.Context, run func(context.Context, *exec.Cmd) error, cmd *exec.Cmd) *background {
	b := &background{done: make(chan struct{})}
	ctx, b.cancel = context.WithCancelCause(ctx)
	go func() {
		defer close(b.done)
		b.err = run(ctx, cmd)
	}()
	return b
}

func (b *background) wait() error {
	<-b.done
	b.cancel(nil)
	return b.err
}

// logged collects what is logged.
func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// quiet is for those whose warnings are not looked at.
var quiet = slog.New(slog.DiscardHandler)

// long is a grace that never ends in a test.
const long = time.Hour
