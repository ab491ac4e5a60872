//go:build !linux

package main

import "syscall"

// Nobody but Linux knows subreapers, and a signal for the death of a parent: the tree is the process group.
const subreaping = false

func becomeSubreaper() error { return nil }

// A terminal is not handed over here: a command that reads from it is stopped, as by GNU timeout.
type terminal struct{}

func openTerminal() *terminal                      { return nil }
func (*terminal) close()                           {}
func (*terminal) unfollow()                        {}
func (*terminal) attributes() *syscall.SysProcAttr { return nil }
