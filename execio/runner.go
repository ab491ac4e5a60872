package execio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// DefaultGrace is how long a canceled command may take to end before it is killed, where a Runner says nothing else.
const DefaultGrace = 5 * time.Second

// drain is the least time for reading what a command wrote before it was killed.
const drain = 100 * time.Millisecond

// A Runner runs commands. The zero Runner is ready to use; a Runner may be used by several goroutines.
type Runner struct {
	// Grace is how long a canceled command, with all that came from it, may take to end by itself; 0 is DefaultGrace.
	// It runs on the clock of the context's scope.
	Grace time.Duration

	// Kill asks a canceled command to end, in place of the signal TERM: by another signal, by a message. Its context
	// is out of reach of the cancellation that it is called for; it is canceled after Grace, and as soon as the
	// command's process ends. Kill must return then; until it has, nothing more happens. When it has returned nil the
	// rest of Grace is waited; after an error the tree is killed at once, and Run's error contains that error. What is
	// left in the end is killed in any case.
	Kill func(ctx context.Context, t *Tree) error

	// Log gets a warning when something had to be killed; nil is slog.Default().
	Log *slog.Logger

	// Subreaper says that this process is a child subreaper (prctl, PR_SET_CHILD_SUBREAPER), or process 1, and lives
	// for this one command: all its descendants are the command's tree, and Run reaps the orphans among them while it
	// runs. Children that it has when Run is called are not, nor what comes from them, as far as that was seen while
	// its parent lived. Run does not make the process one: that changes the parent of processes which others have
	// started. It is for programs whose whole purpose is to run a command. Other systems than Linux:
	// [errors.ErrUnsupported].
	Subreaper bool
}

// Run is Run of the zero [Runner].
func Run(ctx context.Context, cmd *exec.Cmd) error { return Runner{}.Run(ctx, cmd) }

// Run starts cmd, which exec.Command has made, waits for it, and reaps it. If ctx is canceled the whole tree is asked to
// end by the signal TERM (or by Kill), has Grace to do so, and is then killed, which is logged as a warning;
// only when nothing of it is left, Run returns.
//
// The result is that of cmd.Run if the command has ended by itself, canceled or not. A success is kept, also if it came
// at the moment of the cancellation or in the grace: the exit code 0 of a command that neither catches nor blocks TERM
// cannot be an answer to it. In all other cases the result is the reason of ctx, under a scope its *bide.Canceled. What
// kept Run from telling or from killing some process is joined to it. If ctx is canceled already, nothing is started.
// cmd.ProcessState tells how the process ended. What was not started cannot be run again: the pipes that cmd has made are
// closed, as after a Start that failed.
//
// cmd is changed: a Stdin that is neither a file nor in memory (as a bytes.Reader is) is put into a reader that can be
// left; it gets a process group of its own, unless its SysProcAttr has one of Setpgid, Setsid and Foreground; and
// WaitDelay, if it is 0, becomes Grace.
//
// Where cmd.Stdout, Stderr or Stdin need a pipe, a process that holds it open cannot hang Run. If the command has ended
// by itself and somebody else holds the pipe, the rest of the output is read for WaitDelay, then Run returns
// exec.ErrWaitDelay, and that process lives on. After a cancellation the output of a tree that could be killed is read
// to its end; what a process out of reach writes is read until Grace is over, and then lost, without an error of its
// own. A Stdin whose Read does not return is left alone with its goroutine, at the latest after WaitDelay, and at once
// when the tree was killed; what it reads then is lost. A Write of Stdout or Stderr has to return.
func (r Runner) Run(ctx context.Context, cmd *exec.Cmd) error {
	if cmd.Process != nil {
		return cmd.Start() // which says so
	}
	if err := r.refused(ctx, cmd); err != nil {
		return notStarted(cmd, err)
	}
	in := cuttable(cmd)
	cmd.SysProcAttr = ownGroup(cmd.SysProcAttr)
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = r.grace()
	}
	foreign, err := present(r.Subreaper)
	if err != nil {
		return notStarted(cmd, err)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	t := follow(cmd, in, r.Subreaper, foreign)
	defer t.forget()
	defer t.abandon()

	select {
	case <-t.ended:
	case <-ctx.Done():
		return r.cancel(ctx, t)
	}
	t.reap()
	if !piped(cmd) {
		return t.collect(<-t.result) // at once: there is nothing else that it waits for
	}
	defer time.AfterFunc(cmd.WaitDelay, func() { in.cut(exec.ErrWaitDelay) }).Stop() // cmd.Wait itself only closes the pipes
	select {
	case err := <-t.result:
		return t.collect(err)
	case <-ctx.Done():
		return r.cancel(ctx, t)
	}
}

// refused is why nothing is started.
func (r Runner) refused(ctx context.Context, cmd *exec.Cmd) error {
	if r.Subreaper && !subreapers {
		return fmt.Errorf("execio: Subreaper on this system: %w", errors.ErrUnsupported)
	}
	if err := ready(); err != nil {
		return err
	}
	if cmd.Cancel != nil {
		return errors.New("execio: the command has a Cancel of its own: make it with exec.Command, the context is for Run")
	}
	return park.Err(ctx)
}

// notStarted has cmd.Start fail, which closes the pipes that cmd has made: at their other ends somebody may wait.
func notStarted(cmd *exec.Cmd, err error) error {
	cmd.Err = err
	_ = cmd.Start()
	return err
}

func (r Runner) grace() time.Duration {
	if r.Grace <= 0 {
		return DefaultGrace
	}
	return r.Grace
}

// piped reports whether something is copied from or to the command, which may go on after its end.
func piped(cmd *exec.Cmd) bool {
	file := func(v any) bool {
		_, ok := v.(*os.File)
		return ok || v == nil
	}
	return !file(cmd.Stdin) || !file(cmd.Stdout) || !file(cmd.Stderr)
}

// cancel ends the tree, reaps the process, and returns Run's result.
func (r Runner) cancel(ctx context.Context, t *Tree) error {
	byItself := isClosed(t.ended)
	if byItself && !piped(t.cmd) {
		t.reap()
		return t.collect(<-t.result) // what it has left behind is not Run's
	}
	start := time.Now()
	answered, err := r.ask(ctx, t)
	err = join(err, r.kill(ctx, t))
	t.in.cut(io.EOF) // there is nobody to read it
	<-t.ended
	if !isClosed(t.reaping) { // or cmd.Wait reads it already
		t.cmd.WaitDelay = max(drain, r.grace()-time.Since(start))
		t.reap()
	}
	own := t.collect(<-t.result)
	if st := t.cmd.ProcessState; byItself || !answered && st != nil && st.Success() {
		return join(own, err)
	}
	return join(park.Reason(ctx), err)
}

// ask asks the tree to end, and waits until it has, or Grace is over. answered is false if the exit code of success can
// be no answer to that.
func (r Runner) ask(ctx context.Context, t *Tree) (answered bool, err error) {
	_ = bide.Shield(ctx, r.grace(), func(ctx context.Context) error { // that Grace is over is no error here
		if r.Kill == nil {
			answered = t.catches(syscall.SIGTERM)
			err = t.Signal(syscall.SIGTERM)
		} else {
			answered = !t.hasEnded()
			if err = r.callKill(ctx, t); err != nil {
				return nil
			}
		}
		return t.await(ctx)
	}, bide.Name("execio: grace"))
	return answered, err
}

// join is errors.Join that leaves a single error as it is.
func join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// callKill calls Kill in a scope that ends with the process.
func (r Runner) callKill(ctx context.Context, t *Tree) error {
	var reason error
	err := bide.Run(ctx, func(s *bide.Scope) error {
		over := make(chan struct{})
		defer func() { <-over }()
		left := make(chan struct{})
		defer close(left)
		go func() {
			defer close(over)
			select {
			case <-t.ended:
				s.Cancel(nil)
			case <-left:
			}
		}()
		err := r.Kill(s, t)
		reason = s.Check()
		return err
	})
	if err != nil && reason != nil && errors.Is(err, reason) {
		return nil // it was cut by Grace: that is what Grace is for
	}
	return err
}

// kill kills what is left of the tree, until nothing is.
func (r Runner) kill(ctx context.Context, t *Tree) error {
	log := r.Log
	if log == nil {
		log = slog.Default()
	}
	return t.kill(func(pids []int) {
		log.WarnContext(ctx, "execio: killed what did not end", "command", t.cmd.Path, "grace", r.grace(), "processes", pids)
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
