package execio

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A Tree is a running command and all processes that came from it, as far as they can be told: see the package's
// comment. Its methods are safe for concurrent use, while Run runs.
type Tree struct {
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the process has ended; where that can be seen, it is not reaped yet
	reaping chan struct{} // closed when it may be reaped
	once    sync.Once
	result  chan error // of cmd.Wait
	in      *stdin     // nil: there is none that could hold cmd.Wait

	collected bool // Run has the result

	members
}

// follow takes over a command that was started.
func follow(cmd *exec.Cmd, in *stdin, subreaper bool, foreign foreigners) *Tree {
	t := &Tree{cmd: cmd, in: in, ended: make(chan struct{}), reaping: make(chan struct{}), result: make(chan error, 1)}
	t.init(cmd.Process, subreaper, foreign)
	go func() {
		if awaitEnd(cmd.Process.Pid) {
			close(t.ended)
			<-t.reaping // its pid, and that of its group, is nobody else's until then
			t.result <- cmd.Wait()
			return
		}
		err := cmd.Wait()
		t.reap()
		close(t.ended)
		t.result <- err
	}()
	return t
}

// reap lets the process be reaped. From here on its pid may become another's.
func (t *Tree) reap() {
	t.once.Do(func() {
		t.unpin()
		close(t.reaping)
	})
}

// collect is passed the result by Run.
func (t *Tree) collect(err error) error {
	t.collected = true
	return err
}

// abandon kills and reaps what Run leaves unfinished by a panic in Kill, or by its Goexit. Otherwise it does nothing.
func (t *Tree) abandon() {
	if t.collected {
		return
	}
	_ = t.kill(nil)
	t.in.cut(io.EOF)
	<-t.ended
	t.reap()
	<-t.result
}

// Process is the command's process. It is Run that waits for it.
func (t *Tree) Process() *os.Process { return t.cmd.Process }

// Signal sends sig to every process of the tree, parents before their children, each of them once; then the signal
// CONT, unless sig is CONT, KILL or one that stops, since a stopped process does not act on a signal. So that nobody
// escapes meanwhile, the tree is stopped before (Linux). A process that starts later, as the cleanup by which the command
// answers, does not get it. That a process is gone is no error; the error says who could not be reached, and why.
func (t *Tree) Signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return &os.SyscallError{Syscall: "kill", Err: syscall.EINVAL}
	}
	return t.signal(s)
}

// await waits until nothing of the tree is left, or ctx is canceled.
func (t *Tree) await(ctx context.Context) error {
	ended := t.ended
	for pause := time.Millisecond; t.alive(); pause = min(2*pause, longestPause) {
		again := time.NewTimer(pause) // real time, whatever the scope's clock is: processes are real
		select {
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		case <-ended:
			ended = nil
			again.Stop()
			pause = time.Millisecond
		case <-again.C:
		}
	}
	return nil
}

// longestPause is how late the end of a descendant may be noticed: of a process that is not ours the system tells us
// nothing.
const longestPause = 20 * time.Millisecond
