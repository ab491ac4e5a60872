//go:build linux

package execio_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mark is the environment variable by which a test knows the processes that came from its commands.
const mark = "EXECIO_TEST_MARK"

var marks atomic.Int64

// A crew makes commands, and knows what of them is left.
type crew struct {
	t    *testing.T
	mark string
}

// newCrew returns a crew of which nothing must be left when the test ends.
func newCrew(t *testing.T) *crew {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("SKIPPED: no command setsid (util-linux), without which nothing leaves its session here")
	}
	c := &crew{t, fmt.Sprintf("%s=%d.%d.", mark, os.Getpid(), marks.Add(1))}
	t.Cleanup(func() {
		c.gone()
		if z := zombies(); len(z) > 0 {
			t.Errorf("zombies are left: %v", z)
		}
	})
	return c
}

// sh is a shell command of the crew.
func (c *crew) sh(script string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), c.mark)
	return cmd
}

// left is who of the crew lives. That of a zombie is not seen here: it has no environment any more.
func (c *crew) left() []int {
	var pids []int
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		env, err := os.ReadFile(name)
		if err == nil && bytes.Contains(env, []byte(c.mark)) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone fails the test if somebody lives, and sees to it that nobody does any more.
func (c *crew) gone() {
	c.t.Helper()
	if pids := c.left(); len(pids) > 0 {
		c.t.Errorf("processes are left: %v", pids)
		c.dismiss()
	}
}

// dismiss ends those whom the test has meant to leave.
func (c *crew) dismiss() {
	for pids := c.left(); len(pids) > 0; pids = c.left() {
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	}
}

// zombies is who of our own children has not been reaped.
func zombies() []string {
	var found []string
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		stat, _ := os.ReadFile(name)
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, string(stat))
		}
	}
	return found
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
