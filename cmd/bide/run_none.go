//go:build !unix

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Without process groups execio runs nothing; this is what the command line still needs.

var forwarded = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}

func code(st *os.ProcessState) int            { return st.ExitCode() }
func killedBySignal(st *os.ProcessState) bool { return false }

func inOwnGroup(a *syscall.SysProcAttr) *syscall.SysProcAttr { return a }
func inForeground() bool                                     { return false }

func parseSignal(s string) (syscall.Signal, error) {
	if strings.TrimPrefix(strings.ToUpper(s), "SIG") == "TERM" {
		return syscall.SIGTERM, nil
	}
	return 0, fmt.Errorf("%q is not a signal here: write TERM", s)
}

func signalName(s syscall.Signal) string { return s.String() }
