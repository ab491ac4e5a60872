//go:build unix && !linux

package execio

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

const subreapers = false

func ready() error { return nil }

// members is the process group that the process leads: there is no portable way to find who has left it.
type members struct {
	process *os.Process
	group   bool // it leads one
}

type foreigners struct{}

func present(bool) (foreigners, error) { return foreigners{}, nil }

func (m *members) init(p *os.Process, _ bool, _ foreigners) {
	g, err := syscall.Getpgid(p.Pid)
	m.process, m.group = p, err == nil && g == p.Pid
}

func (m *members) forget() {}
func (m *members) unpin()  {}

func (m *members) signal(sig syscall.Signal) error {
	err := m.send(sig)
	if err == nil {
		switch sig {
		case 0, syscall.SIGKILL, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		default:
			_ = m.send(syscall.SIGCONT)
		}
	}
	return err
}

// send: that nobody is left is no error.
func (m *members) send(sig syscall.Signal) error {
	err := m.kill1(sig)
	if err == nil || err == syscall.ESRCH || err == os.ErrProcessDone {
		return nil
	}
	return fmt.Errorf("execio: signal %v to process group %d: %w", sig, m.process.Pid, err)
}

func (m *members) kill1(sig syscall.Signal) error {
	if !m.group {
		return m.process.Signal(sig)
	}
	return syscall.Kill(-m.process.Pid, sig)
}

func (m *members) alive() bool { return m.kill1(0) == nil }

func (m *members) hasEnded() bool { return m.process.Signal(syscall.Signal(0)) != nil }

// catches: it cannot be known here, unless it has ended.
func (m *members) catches(syscall.Signal) bool { return !m.hasEnded() }

func (m *members) kill(tell func(pids []int)) error {
	for pause := time.Millisecond; m.alive(); pause = min(2*pause, longestPause) {
		if tell != nil {
			tell([]int{m.process.Pid})
			tell = nil
		}
		if err := m.send(syscall.SIGKILL); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// awaitEnd: without reaping, the end cannot be seen here.
func awaitEnd(int) bool { return false }

// ownGroup is attr with a process group of the command's own, unless it says otherwise.
func ownGroup(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	var a syscall.SysProcAttr
	if attr != nil {
		a = *attr
	}
	if !a.Setsid && !a.Foreground { // which have a group of their own
		a.Setpgid = true
	}
	return &a
}
