//go:build linux

package execio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bide.invalid/bide"
	"bide.invalid/bide/execio"
)

// trees are commands that leave much behind, in ways that a signal to the process group does not find, or that TERM
// does not end. Each says ready when it is complete.
var trees = []struct{ name, script string }{
	{"one process", `echo ready; exec sleep 1000`},
	{"children", `sleep 1000 & sleep 1000 & sleep 1000 & echo ready; wait`},
	{"own session", `setsid sh -c 'echo ready; exec sleep 1000' & wait`},
	{"session in a session", `setsid sh -c 'setsid sh -c "echo ready; exec sleep 1000" & wait' & wait`},
	{"own session, deaf", `setsid sh -c 'trap "" TERM; echo ready; sleep 1000; sleep 1000' & wait`},
	{"all deaf", `trap '' TERM; setsid sh -c 'echo ready; sleep 1000' & sleep 1000 & wait`},
	{"stopped", `echo ready; kill -STOP $$; sleep 1000`},
	{"stopped session", `setsid sh -c 'echo ready; kill -STOP $$; sleep 1000' & wait`},
	{"double fork in the group", `sh -c 'sleep 1000 & sh -c "echo ready; sleep 1000" &'; sleep 1000`},
	{"orphan of the group, alone", `exec >&2; sh -c 'exec >&3; sleep 1000 & echo ready' 3>&2 & sleep 1000`},
	{"respawning", `trap '' TERM; echo ready; while :; do sleep 1000; done`},
	{"growing", `trap 'sleep 1000 & sleep 1000 & ' TERM; echo ready; while :; do sleep 0.01; done`},
	{"background with the pipe", `(sleep 1000 &) ; echo ready; exec sleep 1000`},
}

// Whatever the tree, when Run returns nothing of it is left.
func TestTrees(t *testing.T) {
	for _, tree := range trees {
		t.Run(tree.name, func(t *testing.T) {
			c := newCrew(t)
			endTree(t, c, tree.script)
			c.gone()
		})
	}
}

func endTree(t *testing.T, c *testCrew, script string) {
	t.Helper()
	cmd := c.sh(script)
	out := newLines()
	cmd.Stdout, cmd.Stderr = out, out
	b := start(t.Context(), execio.Runner{Grace: 50 * time.Millisecond, Log: quiet}.Run, cmd)
	select {
	case line := <-out.c:
		if line != "ready" {
			t.Errorf("line %q", line)
		}
	case <-b.done:
	}
	b.cancel(nil)
	if err := b.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
}

// What a handler starts for its cleanup is not told to end, too.
func TestCleanUpRealTime(t *testing.T) {
	c := newCrew(t)
	cmd := c.sh(`trap 'sleep 0.2 && echo saved; exit 0' TERM; sh -c "echo ready; exec sleep 1000" & wait`)
	out := newLines()
	cmd.Stdout = out
	b := start(t.Context(), execio.Runner{Grace: long}.Run, cmd)
	out.want(t, "ready")
	b.cancel(nil)
	if err := b.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	close(out.c)
	out.want(t, "saved")
}

func TestHundredTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: hundreds of processes, some seconds; left out by -short")
	}
	c := newCrew(t)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() { endTree(t, c, trees[i%len(trees)].script) })
	}
	wg.Wait()
	c.gone()
}

// A cancellation at any moment, that of the start included.
func TestFirstMillisecondRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: hundreds of processes, some seconds; left out by -short")
	}
	c := newCrew(t)
	for i := range 60 {
		cmd := c.sh(`setsid sleep 1000 & sleep 1000`)
		cmd.Stdout = newLines()
		err := bide.FailAfter(t.Context(), time.Duration(i)*50*time.Microsecond, func(ctx context.Context) error {
			return execio.Runner{Grace: time.Second, Log: quiet}.Run(ctx, cmd)
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		c.gone()
	}
}

// Output that nobody stops does not keep Run from ending.
func TestFlood(t *testing.T) {
	c := newCrew(t)
	for _, w := range []io.Writer{io.Discard, new(slowWriter)} {
		cmd := c.sh(`while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done & yes & yes >&2`)
		var n atomic.Int64
		enough := make(chan struct{})
		cmd.Stdout = writer(func(b []byte) (int, error) {
			if before := n.Add(int64(len(b))); before > 1<<20 && before-int64(len(b)) <= 1<<20 {
				close(enough)
			}
			return w.Write(b)
		})
		cmd.Stderr = cmd.Stdout
		b := start(t.Context(), execio.Run, cmd)
		<-enough
		b.cancel(nil)
		if err := b.wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		c.gone()
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// A slowWriter gives the pipe time to be full.
type slowWriter struct{ n atomic.Int64 }

func (w *slowWriter) Write(b []byte) (int, error) {
	if w.n.Add(1)%10 == 0 {
		<-time.After(time.Millisecond)
	}
	return len(b), nil
}

func TestNothingIsStarted(t *testing.T) {
	c := newCrew(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := c.sh(`sleep 1000`)
	if err := execio.Run(ctx, cmd); err != context.Canceled || cmd.Process != nil {
		t.Errorf("canceled before: %v, process %v", err, cmd.Process)
	}
	cmd = exec.CommandContext(t.Context(), "sh", "-c", "sleep 1000")
	if err := execio.Run(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "exec.Command,") || cmd.Process != nil {
		t.Errorf("CommandContext: %v, process %v", err, cmd.Process)
	}
	cmd = exec.Command("no such command")
	if err := execio.Run(t.Context(), cmd); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("no such command: %v", err)
	}
}

// Who waits at a pipe of a command that is not started is released, as by package os/exec.
func TestPipesOfNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	if err := execio.Run(ctx, cmd); err != context.Canceled {
		t.Errorf("Run returned %v", err)
	}
	if _, err := in.Write(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("its Stdin: %v", err)
	}
	if err := out.Close(); !errors.Is(err, os.ErrClosed) { // to Read it might hang
		t.Errorf("its Stdout: %v", err)
	}
}

// A command that ends by itself is as with package os/exec.
func TestByItself(t *testing.T) {
	c := newCrew(t)
	for code, script := range []string{`echo out`, `echo out; exit 1`, `echo out; exit 2`} {
		cmd := c.sh(script)
		out := newLines()
		cmd.Stdout = out
		err := execio.Run(t.Context(), cmd)
		out.want(t, "out")
		var exit *exec.ExitError
		if code == 0 && err != nil || code != 0 && (!errors.As(err, &exit) || exit.ExitCode() != code) {
			t.Errorf("%s: %v", script, err)
		}
	}
	cmd := c.sh(`kill -KILL $$`)
	var exit *exec.ExitError
	if err := execio.Run(t.Context(), cmd); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("killed by itself: %v", err)
	}
}

// What it has left behind, when it ended by itself, is not Run's.
func TestLeftBehind(t *testing.T) {
	c := newCrew(t)
	cmd := c.sh(`sleep 1000 &`)
	if err := execio.Run(t.Context(), cmd); err != nil || len(c.Left()) != 1 {
		t.Errorf("%v, left %v", err, c.Left())
	}
	c.Dismiss()
}

// A success that comes together with the cancellation is kept.
func TestSuccessIsKept(t *testing.T) {
	c := newCrew(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := c.sh(`echo $$`)
	cmd.Stdout = writer(func(b []byte) (int, error) {
		awaitEnd(t, strings.TrimSpace(string(b)))
		cancel()
		return len(b), nil
	})
	if err := execio.Run(ctx, cmd); err != nil {
		t.Errorf("ended and canceled: %v", err)
	}

	// It does not hear TERM, and succeeds in the grace.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	cmd = c.sh(`trap '' TERM; echo ready; read line; exit 0`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = writer(func(b []byte) (int, error) {
		cancel()
		return len(b), nil
	})
	r := execio.Runner{Grace: long}
	context.AfterFunc(ctx, func() { fmt.Fprintln(in, "line") })
	if err := r.Run(ctx, cmd); err != nil {
		t.Errorf("success in the grace: %v", err)
	}
}

// awaitEnd returns when a command has ended, and leaves it to Run to reap it. ECHILD: Run has.
func awaitEnd(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Error(err)
		return
	}
	err = unix.EINTR
	for err == unix.EINTR {
		err = unix.Waitid(unix.P_PID, n, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	if err != nil && err != unix.ECHILD {
		t.Errorf("waiting for %d: %v", n, err)
	}
}

// A process that holds the pipe when the command has ended by itself: exec.ErrWaitDelay, and it lives on.
func TestPipeIsHeldRealTime(t *testing.T) {
	c := newCrew(t)
	cmd := c.sh(`setsid sleep 1000 & echo out; read line; exit 0`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := newLines()
	cmd.Stdout = out
	b := start(t.Context(), execio.Runner{Grace: 50 * time.Millisecond}.Run, cmd)
	out.want(t, "out") // before the 50 ms begin, in which it might not be read
	in.Close()
	if err := b.wait(); !errors.Is(err, exec.ErrWaitDelay) || len(c.Left()) != 1 {
		t.Errorf("%v, left %v", err, c.Left())
	}
	c.Dismiss()

	// A cancellation ends the holder, if it is in the group.
	cmd = c.sh(`sleep 1000 & echo $$; exit 0`)
	cmd.Stdout = out
	b = start(t.Context(), execio.Runner{Grace: long}.Run, cmd)
	awaitEnd(t, <-out.c)
	b.cancel(nil)
	if err := b.wait(); err != nil { // the command itself has succeeded
		t.Errorf("Run returned %v", err)
	}
	c.gone()
}

// Out of reach: it left the session, and its parent ended, before the cancellation. It lives on, and does not hang Run.
func TestDaemonIsOutOfReachRealTime(t *testing.T) {
	c := newCrew(t)
	cmd := c.sh(`sh -c 'setsid sh -c "echo ready; exec sleep 1000" &'; echo ready; sleep 1000`)
	out := newLines()
	cmd.Stdout = out
	b := start(t.Context(), execio.Runner{Grace: 50 * time.Millisecond}.Run, cmd)
	out.want(t, "ready")
	out.want(t, "ready") // the one between has ended, too
	b.cancel(nil)
	if err := b.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	if len(c.Left()) != 1 {
		t.Errorf("left: %v, want the daemon", c.Left())
	}
	c.Dismiss()
}

// The group of the caller is not signaled, where the command is in it; the command is.
func TestCallersGroup(t *testing.T) {
	c := newCrew(t)
	for _, attr := range []*syscall.SysProcAttr{
		{Setpgid: true, Pgid: syscall.Getpgrp()},
		{Setsid: true},
		{Pdeathsig: syscall.SIGKILL},
	} {
		cmd := c.sh(`trap '' TERM; setsid sleep 1000 & echo ready; sleep 1000; sleep 1000`)
		cmd.SysProcAttr = attr
		before := *attr
		out := newLines()
		cmd.Stdout = out
		b := start(t.Context(), execio.Runner{Grace: time.Millisecond, Log: quiet}.Run, cmd)
		out.want(t, "ready")
		b.cancel(nil)
		if err := b.wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if attr.Setpgid != before.Setpgid {
			t.Error("the caller's SysProcAttr was written to")
		}
		c.gone()
	}
}

// A Kill that panics leaves no process behind.
func TestKillPanics(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.Command("sh", "-c", "echo ready; exec sleep 1000")
	cmd.Stdout = writer(func(b []byte) (int, error) {
		cancel()
		return len(b), nil
	})
	r := execio.Runner{Kill: func(context.Context, *execio.Tree) error { panic("kill") }}
	func() {
		defer func() {
			if v := recover(); v != "kill" {
				t.Errorf("panic %v", v)
			}
		}()
		_ = r.Run(ctx, cmd)
	}()
	if cmd.ProcessState == nil {
		t.Error("the command was not reaped")
	}

	// Nor one that holds the pipe of a command that has ended.
	c := newCrew(t)
	ctx, cancel = context.WithCancel(context.Background())
	cmd = c.sh(`sleep 1000 & echo $$; exit 0`)
	cmd.Stdout = writer(func(b []byte) (int, error) {
		pid := strings.TrimSpace(string(b))
		go func() {
			awaitEnd(t, pid)
			cancel()
		}()
		return len(b), nil
	})
	func() {
		defer func() { _ = recover() }()
		_ = r.Run(ctx, cmd)
	}()
	c.gone()
}
