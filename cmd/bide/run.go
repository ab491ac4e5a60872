package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/execio"
	"bide.invalid/bide/wire"
)

// Exit codes of bide run, which are those of GNU timeout.
const (
	exitTimedOut  = 124
	exitFailed    = 125 // bide itself
	exitNoStart   = 126
	exitNotFound  = 127
	exitSignal    = 128 // and the number of the signal
	killAfterUser = 10 * time.Second
)

// runCommand is bide run.
func runCommand(args []string, stdout, stderr io.Writer) int {
	o, err := parseRun(args)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "bide run: %v\n", err)
		return exitFailed
	case o.help:
		fmt.Fprint(stdout, runHelp)
		return exitKept
	}
	r := &runner{runOptions: o, stderr: stderr, signals: make(chan os.Signal, 16), watched: make(chan struct{}),
		canceled: make(chan *execio.Tree, 1), interrupt: func() {}}
	return r.run(context.Background())
}

// A runner is one bide run.
type runner struct {
	runOptions
	stderr   io.Writer
	signals  chan os.Signal
	canceled chan *execio.Tree // gets the tree when it has been told to end
	watched  chan struct{}     // closed when nobody waits for the first signal any more
	scope    *bide.Scope
	terminal *terminal      // nil: none to hand over
	got      syscall.Signal // that signal; to be read when watched is closed
	keyed    atomic.Bool    // with --foreground: the terminal has interrupted us
	told     report

	interrupt func() // passes on what has interrupted the command, at the end
}

// say writes a line: also where the command has the terminal, which may stop who writes to it from the background.
func (r *runner) say(format string, args ...any) {
	fromBackground(func() { fmt.Fprintf(r.stderr, "bide run: "+format+"\n", args...) })
}

// fault says what went wrong.
func (r *runner) fault(format string, args ...any) {
	r.say(format, args...)
	r.told.fault(fmt.Sprintf(format, args...))
}

func (r *runner) run(ctx context.Context) (code int) {
	began := time.Now()
	for _, s := range forwarded {
		if !signal.Ignored(s) { // nohup, or the background of a shell: it stays ignored, for the command as well
			signal.Notify(r.signals, s)
		}
	}
	defer signal.Stop(r.signals)
	// Somebody who closed our standard error is no reason to die, and to leave the tree. To ignore it would be inherited.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	defer func() {
		if r.report {
			r.told.print(r.stderr, r.command, code, time.Since(began))
		}
		r.interrupt() // of which bide may die
	}()
	// The kernel's promise to kill the command when its parent dies means the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := becomeSubreaper(); err != nil {
		r.fault("%v", err)
		return exitFailed
	}

	limit := r.limit
	if value, ok := os.LookupEnv(wire.EnvDeadline); ok {
		left, err := wire.Parse(value)
		if err != nil {
			r.fault("warning: the inherited deadline is ignored: %v", err)
			os.Unsetenv(wire.EnvDeadline) // nobody below needs to be told again
		} else {
			limit = min(limit, left) // never wider
		}
	}
	var opts []bide.Option
	if limit < forever {
		r.told.limit = &limit
		opts = append(opts, bide.Timeout(limit))
	}
	s := bide.Open(ctx, opts...)
	defer s.Close(nil)
	return r.runIn(s)
}

// runIn runs the command in the scope.
func (r *runner) runIn(s *bide.Scope) int {
	over, forwarded := make(chan struct{}), make(chan struct{})
	r.scope = s
	go func() {
		defer close(forwarded)
		r.watch(over)
		r.forward(over)
	}()
	if !r.foreground {
		r.terminal = openTerminal()
	}
	stopCounting := r.count(s)
	cmd, err := r.start(s)
	stopCounting()
	had := r.terminal.close(cmd.Process)
	close(over)
	<-forwarded
	if st := cmd.ProcessState; st != nil {
		r.told.ended(st)
		switch {
		case r.scope.Cause() != nil:
		case had:
			r.interrupt = func() { interrupt(st, 0) }
		case r.keyed.Load():
			r.interrupt = func() { interrupt(st, os.Getpid()) } // the others have got it
		}
	}

	var canceled *bide.Canceled
	var exit *exec.ExitError
	switch {
	case errors.As(err, &canceled):
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				if e != error(canceled) {
					r.fault("%v", e)
				}
			}
		}
		r.told.outcome(outcomeTimeout)
		if r.canceledBySignal() {
			r.told.outcome(outcomeSignal)
		}
		return r.canceledCode(cmd)
	case err == nil, errors.As(err, &exit):
		return code(cmd.ProcessState)
	case cmd.ProcessState != nil: // it ran, but not all that came from it could be ended
		r.fault("%v", err)
		return code(cmd.ProcessState)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		r.fault("cannot run %q: not found", r.command[0])
		r.told.outcome(outcomeNotFound)
		return exitNotFound
	case errors.Is(err, errors.ErrUnsupported):
		r.fault("%v", err)
		return exitFailed
	}
	r.fault("cannot run %q: %v", r.command[0], reason(err))
	r.told.outcome(outcomeNoStart)
	return exitNoStart
}

// watch cancels the scope at the first signal.
func (r *runner) watch(over <-chan struct{}) {
	defer close(r.watched)
	for {
		select {
		case sig := <-r.signals:
			if r.fromTerminal(sig) {
				continue
			}
			r.got = sig.(syscall.Signal)
			r.scope.Cancel(fmt.Errorf("signal %v", sig))
		case <-r.scope.Done():
		case <-over:
			r.late()
		}
		return
	}
}

// late looks at what was on its way when the command ended: it may have died of a key before bide hears of that key.
func (r *runner) late() {
	// When Stop returns, what had reached the process is in all channels. SIGPIPE is caught anyway.
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	signal.Stop(c)
	for {
		select {
		case sig := <-r.signals:
			r.fromTerminal(sig)
		default:
			return
		}
	}
}

// fromTerminal reports whether the command has got the signal itself, since it is in the same group: then it is its
// to answer. A second one would mean more than the user has said. That it was the terminal which sent it is taken from
// being in its foreground: the system does not tell a Go program who it was.
func (r *runner) fromTerminal(sig os.Signal) bool {
	if !r.foreground || sig != syscall.SIGINT && sig != syscall.SIGQUIT || !inForeground() {
		return false
	}
	if sig == syscall.SIGINT {
		r.keyed.Store(true)
	}
	return true
}

// forward passes on what is sent to bide after the tree was told to end: also when only the rest of it is left.
func (r *runner) forward(over <-chan struct{}) {
	select {
	case t := <-r.canceled:
		for {
			select {
			case sig := <-r.signals:
				if !r.fromTerminal(sig) {
					r.tell(t, sig.(syscall.Signal))
				}
			case <-over:
				return
			}
		}
	case <-over:
	}
}

// start runs the command, as execvp would: what has no format that the system knows is a shell's script.
func (r *runner) start(s *bide.Scope) (*exec.Cmd, error) {
	cmd := r.cmd(s, r.command)
	err := r.tree().Run(s, cmd)
	if errors.Is(err, syscall.ENOEXEC) {
		cmd = r.cmd(s, append([]string{"/bin/sh", cmd.Path}, r.command[1:]...))
		err = r.tree().Run(s, cmd)
	}
	return cmd, err
}

func (r *runner) cmd(s *bide.Scope, command []string) *exec.Cmd {
	cmd := lookUp(command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = wire.Environ(s)
	cmd.SysProcAttr = r.terminal.attributes()
	if r.foreground {
		cmd.SysProcAttr = inOwnGroup(cmd.SysProcAttr)
	}
	return cmd
}

// lookUp finds the program as execvp does, also where there is no PATH.
func lookUp(command []string) *exec.Cmd {
	if _, ok := os.LookupEnv("PATH"); !ok {
		os.Setenv("PATH", "/bin:/usr/bin")
		defer os.Unsetenv("PATH") // the command has none either
	}
	cmd := exec.Command(command[0], command[1:]...)
	if command[0] == "" {
		cmd.Err = &exec.Error{Err: exec.ErrNotFound}
	}
	if errors.Is(cmd.Err, exec.ErrDot) {
		cmd.Err = nil // as others run it; who is afraid of it has no such PATH
	}
	if errors.Is(cmd.Err, exec.ErrNotFound) && command[0] != "" && inPath(command[0]) {
		cmd.Err = &exec.Error{Name: command[0], Err: os.ErrPermission}
	}
	return cmd
}

// inPath reports whether PATH leads to a file of this name, which then is not executable.
func inPath(name string) bool {
	if filepath.Base(name) != name {
		return false
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// tree is how the command's tree is run, and ended.
func (r *runner) tree() execio.Runner {
	return execio.Runner{Grace: r.killAfter, Kill: r.kill, Log: slog.New(killed{r}), Subreaper: subreaping}
}

// kill passes on the signal that was sent to bide, or the one for being late. What else is sent is left to forward.
func (r *runner) kill(_ context.Context, t *execio.Tree) error {
	<-r.watched // the scope is canceled
	r.terminal.unfollow()
	if r.canceledBySignal() {
		r.tell(t, r.got)
	} else {
		r.tell(t, r.signal)
		if r.got != 0 {
			r.tell(t, r.got)
		}
	}
	r.canceled <- t
	return nil
}

func (r *runner) tell(t *execio.Tree, sig syscall.Signal) {
	r.told.sent(sig)
	if r.verbose {
		r.say("sending signal %s to %q and all that came from it", signalName(sig), r.command[0])
	}
	if err := t.Signal(sig); err != nil {
		r.fault("%v", err) // of one process: the others have got it, and their grace
	}
}

// canceledBySignal reports whether it was a signal that ended the scope, and not its deadline. The first counts.
func (r *runner) canceledBySignal() bool {
	var c *bide.Canceled
	return errors.As(r.scope.Cause(), &c) && c.Source == bide.ByCancel
}

// canceledCode is the exit code after a signal or the end of the time.
func (r *runner) canceledCode(cmd *exec.Cmd) int {
	if r.canceledBySignal() {
		return exitSignal + int(r.got)
	}
	if st := cmd.ProcessState; st != nil {
		own := code(st)
		if r.preserve || own == exitSignal+int(syscall.SIGKILL) && killedBySignal(st) {
			return own
		}
	}
	return exitTimedOut
}

// reason is what kept a command from being started, without the name of a system call.
func reason(err error) error {
	var path *os.PathError
	var lookup *exec.Error
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &lookup):
		return lookup.Err
	}
	return err
}

// killed keeps the warning of execio that something had to be killed, and prints it with -v.
type killed struct{ *runner }

func (k killed) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (k killed) WithAttrs([]slog.Attr) slog.Handler           { return k }
func (k killed) WithGroup(string) slog.Handler                { return k }
func (k killed) Handle(_ context.Context, rec slog.Record) error {
	text := rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		if pids, ok := a.Value.Any().([]int); ok && a.Key == "processes" {
			text = fmt.Sprintf("sent signal KILL to what was left: processes %v", pids)
			k.told.killed(pids)
		}
		return true
	})
	if k.verbose {
		k.say("%s", text)
	}
	return nil
}

const forever = time.Duration(math.MaxInt64)
