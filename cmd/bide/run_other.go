//go:build !linux

package main

import (
	"os"
	"syscall"
)

// Nobody but Linux knows subreapers, and a signal for the death of a parent: the tree is the process group.
const subreaping = false

func becomeSubreaper() error { return nil }

// A terminal is not handed over here: a command that reads from it is stopped, as by GNU timeout.
type terminal struct{}

func openTerminal() *terminal                      { return nil }
func (*terminal) close(*os.Process) bool           { return false }
func (*terminal) unfollow()                        {}
func (*terminal) attributes() *syscall.SysProcAttr { return nil }
func interrupt(*os.ProcessState, int)              {}
func fromBackground(f func())                      { f() }
func stderrIsTerminal() bool                       { return false }
