package main

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const subreaping = true

// becomeSubreaper makes bide the parent of all orphans of the command's tree, so that none is lost.
func becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: becoming a child subreaper: %w", err)
	}
	return nil
}

// A terminal is the one that bide reads from and writes to, in the foreground. The command gets a process group of its own, and would
// be stopped when it reads; so the terminal is handed over to it, and taken back at the end. When the command is
// stopped from the keyboard bide stops as well, since it is bide whom the shell waits for.
type terminal struct {
	own     int // bide's process group
	once    sync.Once
	quit    chan struct{}
	quitted chan struct{}
}

// stdin is the descriptor that is looked at.
const stdin = 0

// openTerminal returns nil if there is none, or bide is in the background, or its output goes elsewhere: then there may
// be a pager beside it, in its process group, which needs the terminal itself.
func openTerminal() *terminal {
	t := &terminal{own: unix.Getpgrp(), quit: make(chan struct{}), quitted: make(chan struct{})}
	for fd := range 3 { // a session has one terminal: the others tell no group
		if g, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || g != t.own {
			return nil
		}
	}
	events := make(chan os.Signal, 1)
	signal.Notify(events, unix.SIGCHLD)
	go func() {
		defer close(t.quitted)
		defer signal.Stop(events)
		for {
			select {
			case <-events:
				t.follow()
			case <-t.quit:
				return
			}
		}
	}()
	return t
}

// close takes the terminal back from p, if p has it, or nobody. Else it is the user's shell that has taken it. It
// reports whether p had it.
func (t *terminal) close(p *os.Process) bool {
	if t == nil {
		return false
	}
	t.unfollow()
	g := t.foreground()
	had := p != nil && g == p.Pid
	if had || g > 0 && unix.Kill(-g, 0) == unix.ESRCH {
		t.give(t.own)
	}
	return had
}

// interrupt does what the terminal would have done without the handing over, if the command was ended by Ctrl-C or
// Ctrl-\: it tells bide's own group (0), so that a script is ended, too; or bide alone. A shell goes on unless bide
// dies of it.
func interrupt(st *os.ProcessState, whom int) {
	ws := st.Sys().(syscall.WaitStatus)
	switch sig := ws.Signal(); {
	case !ws.Signaled():
		return
	case sig == unix.SIGINT:
		signal.Reset(unix.SIGINT)
		_ = unix.Kill(whom, unix.SIGINT)
	case sig == unix.SIGQUIT: // bide catches it, and exits: of this signal Go dies with a dump
		_ = unix.Kill(whom, unix.SIGQUIT)
	default:
		return
	}
	<-time.After(resume) // another thread may get it; and where it is ignored, bide exits as ever
}

// unfollow ends it that a stop of the command stops bide.
func (t *terminal) unfollow() {
	if t != nil {
		t.once.Do(func() { close(t.quit) })
		<-t.quitted
	}
}

// attributes: the kernel kills the command when the thread that started it ends; and it is in the foreground, if bide is.
func (t *terminal) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if t != nil {
		a.Foreground, a.Ctty = true, stdin
	}
	return a
}

// foreground is the terminal's foreground process group; 0 if stdin is no terminal, or not bide's.
func (t *terminal) foreground() int {
	g, err := unix.IoctlGetInt(stdin, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return g
}

// give makes g the foreground process group. From the background that is answered by SIGTTOU, if that is not ignored.
func (t *terminal) give(g int) {
	fromBackground(func() {
		_ = unix.IoctlSetPointerInt(stdin, unix.TIOCSPGRP, g) // the terminal may be gone
	})
}

// fromBackground calls f with SIGTTOU blocked, by which a terminal stops who is in its background. It is blocked in one
// thread: if it were ignored, a command that starts at that moment would inherit that.
func fromBackground(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ttou, before unix.Sigset_t
	ttou.Val[0] = 1 << (unix.SIGTTOU - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &ttou, &before) == nil {
		defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	}
	f()
}

// stderrIsTerminal reports whether bide's standard error is a terminal.
func stderrIsTerminal() bool {
	_, err := unix.IoctlGetTermios(2, unix.TCGETS)
	return err == nil
}

// resume is how long bide waits for its own stop to have happened. It does not, where nobody could continue it.
const resume = 100 * time.Millisecond

// follow stops bide's process group if the command, to which the terminal was given, is stopped; and continues the
// command when bide is continued, in the foreground if bide is.
func (t *terminal) follow() {
	g := t.foreground()
	if g == 0 || g == t.own || !stoppedChild(g) {
		return
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	t.give(t.own)
	_ = unix.Kill(0, unix.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(resume):
	}
	if t.foreground() == t.own {
		t.give(g)
	}
	_ = unix.Kill(-g, unix.SIGCONT)
}

// stoppedChild reports whether pid is a child of bide that is stopped.
func stoppedChild(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return err == nil && len(f) > 1 && string(f[0]) == "T" && string(f[1]) == strconv.Itoa(os.Getpid())
}
