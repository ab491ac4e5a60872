//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// forwarded is what bide passes on to the command's tree.
var forwarded = []syscall.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT}

// code is the exit code by which shells tell how a process ended.
func code(st *os.ProcessState) int {
	if ws := st.Sys().(syscall.WaitStatus); ws.Signaled() {
		return exitSignal + int(ws.Signal())
	}
	return st.ExitCode()
}

func killedBySignal(st *os.ProcessState) bool { return st.Sys().(syscall.WaitStatus).Signaled() }

// inOwnGroup is a with the command put into bide's process group.
func inOwnGroup(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = new(syscall.SysProcAttr)
	}
	a.Setpgid, a.Pgid = true, syscall.Getpgrp()
	return a
}

// inForeground reports whether bide is in the foreground of the terminal of its session.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	g, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && g == unix.Getpgrp()
}

// The real-time signals as C libraries number them; the first two of the kernel's are their own.
const rtmin, rtmax = 34, 64

// parseSignal reads a signal's name, with or without SIG, or its number.
func parseSignal(s string) (syscall.Signal, error) {
	bad := fmt.Errorf("%q is not a signal: write TERM, SIGTERM or 15", s)
	if n, err := strconv.Atoi(s); err == nil {
		if n < 0 || n > rtmax {
			return 0, bad
		}
		return syscall.Signal(n), nil
	}
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	if n := unix.SignalNum("SIG" + name); n != 0 {
		return n, nil
	}
	for prefix, base := range map[string]int{"RTMIN": rtmin, "RTMAX": rtmax} {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(rest)
		if rest == "" {
			n, err = 0, nil
		}
		if err == nil && base+n >= rtmin && base+n <= rtmax {
			return syscall.Signal(base + n), nil
		}
	}
	return 0, bad
}

// signalName is the name as parseSignal reads it.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return strconv.Itoa(int(s))
}
