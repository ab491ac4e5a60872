//go:build !unix

package execio

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const subreapers = false

// ready is where Run ends on systems without process groups; nothing of what follows is called.
func ready() error {
	return fmt.Errorf("execio: ending a tree of processes on this system: %w", errors.ErrUnsupported)
}

type (
	members    struct{}
	foreigners struct{}
)

func present(bool) (foreigners, error) { return foreigners{}, nil }

func (members) init(*os.Process, bool, foreigners)            {}
func (members) forget()                                       {}
func (members) unpin()                                        {}
func (members) alive() bool                                   { return false }
func (members) hasEnded() bool                                { return false }
func (members) signal(syscall.Signal) error                   { return errors.ErrUnsupported }
func (members) catches(syscall.Signal) bool                   { return true }
func (members) kill(func([]int)) error                        { return errors.ErrUnsupported }
func awaitEnd(int) bool                                       { return false }
func ownGroup(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }
