//go:build linux

package execio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	const rest = " 2 3 4 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 %d 0 123456789012 1 1"
	for _, c := range []struct {
		stat string
		want proc
		ok   bool
	}{
		{"77 (sh) S" + fmt.Sprintf(rest, 1), proc{ident{77, 123456789012}, 2, 3, 4, 1, 'S', false}, true},
		{"77 (a b) c) R 9 9) S" + fmt.Sprintf(rest, 1), proc{ident{77, 123456789012}, 2, 3, 4, 1, 'S', false}, true},
		{"77 () T" + fmt.Sprintf(rest, 8) + "\n", proc{ident{77, 123456789012}, 2, 3, 4, 8, 'T', false}, true},
		{"77 (sh) Z" + fmt.Sprintf(rest, 1), proc{ident{77, 123456789012}, 2, 3, 4, 1, 'Z', true}, true},
		{"77 (sh) Z" + fmt.Sprintf(rest, 2), proc{ident{77, 123456789012}, 2, 3, 4, 2, 'Z', false}, true}, // a thread goes on
		{"", proc{}, false},
		{"77", proc{}, false},
		{"77 (sh) S 2 3 4", proc{}, false},
		{"77 (sh) S x 3 4 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 5 1", proc{}, false},
		{"77 (sh) S 2 3 4 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 -5 1", proc{}, false},
	} {
		got, err := parseStat(77, []byte(c.stat))
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.stat, got, err)
		}
	}
}

// A child that was born when the list had been made, of a parent that has stopped since, is found.
func TestReadMissesNoChild(t *testing.T) {
	pids := []int{1, 7}
	list := func() ([]int, error) { return slices.Clone(pids), nil }
	looked := 0
	all, err := read(list, func(pid int) (proc, error) {
		looked++
		switch {
		case pid == 1:
			return proc{}, fs.ErrPermission
		case len(pids) < 5:
			pids = append(pids, pid+1)
		}
		return proc{ident: ident{pid: pid}, state: 'T'}, nil
	})
	if err != nil || len(all) != 4 || all[10].pid != 10 {
		t.Errorf("%v %v", all, err)
	}
	if looked != 4+5 { // the hidden one in each round, the others once
		t.Errorf("%d looks", looked)
	}
}

// A process is stopped when all its threads are.
func TestStopped(t *testing.T) {
	if stopped, deaf := (proc{state: 'T', threads: 1}).stopped(); !stopped || deaf {
		t.Errorf("T: stopped %v, deaf %v", stopped, deaf)
	}
	if stopped, deaf := (proc{state: 'D', threads: 1}).stopped(); stopped || !deaf {
		t.Errorf("D: stopped %v, deaf %v", stopped, deaf)
	}
	if stopped, deaf := (proc{state: 'R', threads: 1}).stopped(); stopped || deaf {
		t.Errorf("R: stopped %v, deaf %v", stopped, deaf)
	}
	// This process has threads that run, whatever is said of the first.
	if stopped, deaf := (proc{ident: ident{pid: os.Getpid()}, state: 'T', threads: 2}).stopped(); stopped || deaf {
		t.Errorf("threads that run: stopped %v, deaf %v", stopped, deaf)
	}
}

// Another process that has got the pid meanwhile is neither signaled nor taken for alive.
func TestPidIsReused(t *testing.T) {
	self, err := look(os.Getpid(), make([]byte, statSize))
	if err != nil {
		t.Fatal(err)
	}
	other := ident{self.pid, self.start + 1}
	if err := other.send(syscall.SIGKILL); err != nil {
		t.Errorf("%v", err)
	}
	if other.living() || !self.living() {
		t.Errorf("living: %v, itself %v", other.living(), self.living())
	}
	if _, err := other.current(); err != errGone {
		t.Errorf("current: %v", err)
	}

	// A group whose number is another's now has no members any more. (The leader of our own may have ended.)
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = ownGroup(nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	group := cmd.Process.Pid
	m := members{root: ident{pid: -1}, known: map[ident]bool{}, leaders: map[int]ident{group: {group, 1}}}
	ps, err := m.walk()
	if err != nil || len(ps) > 0 || len(m.leaders) > 0 {
		t.Errorf("%v %v %v", ps, err, m.leaders)
	}
}

// A process that may not be signaled is named, and not waited for.
func TestBeyondReach(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var m members
	m.init(cmd.Process, false, nil)
	m.known[m.root] = false
	if m.alive() {
		t.Error("one that cannot be signaled counts as left to wait for")
	}
	if err := m.kill(nil); err != nil {
		t.Error(err)
	}
}

// Where processes cannot be seen, what needs no descriptor is done, and it is said.
func TestNoDescriptors(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = ownGroup(nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var m members
	m.init(cmd.Process, false, nil)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	few := old
	few.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	alive := m.alive()
	err := m.signal(0)
	killErr := m.kill(nil)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if !alive || !errors.Is(err, syscall.EMFILE) || !errors.Is(killErr, syscall.EMFILE) {
		t.Errorf("alive %v, %v, %v", alive, err, killErr)
	}
	if !strings.Contains(cmd.ProcessState.String(), "killed") {
		t.Errorf("ended by %v", cmd.ProcessState)
	}
}

func TestAwakes(t *testing.T) {
	for sig, want := range map[syscall.Signal]bool{syscall.SIGTERM: true, syscall.SIGINT: true, syscall.SIGKILL: false,
		syscall.SIGCONT: false, syscall.SIGSTOP: false, syscall.SIGTSTP: false, 0: false} {
		if awakes(sig) != want {
			t.Errorf("%v: %v", sig, !want)
		}
	}
}

// Who has blocked a signal may wait for it (sigwait), and answer it without a handler.
func TestCatches(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var term unix.Sigset_t
	term.Val[0] = 1 << (unix.SIGTERM - 1)
	for _, blocked := range []bool{false, true} {
		var before unix.Sigset_t
		if blocked {
			if err := unix.PthreadSigmask(unix.SIG_BLOCK, &term, &before); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("sleep", "1000")
		err := cmd.Start() // it inherits the mask
		if blocked {
			_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		var m members
		m.init(cmd.Process, false, nil)
		if m.catches(syscall.SIGTERM) != blocked {
			t.Errorf("TERM is blocked: %v, catches: %v", blocked, !blocked)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if m.catches(syscall.SIGTERM) {
			t.Error("it has ended, and catches")
		}
	}
}

// The number of a group of which nobody is left may become another's.
func TestDeadGroupIsForgotten(t *testing.T) {
	cmd := exec.Command("true")
	cmd.SysProcAttr = ownGroup(nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var m members
	m.init(cmd.Process, false, nil)
	_ = cmd.Wait()
	if ps, err := m.walk(); err != nil || len(ps)+len(m.leaders)+len(m.known) > 0 {
		t.Errorf("%v %v %v %v", ps, err, m.leaders, m.known)
	}
}
