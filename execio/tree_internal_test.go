//go:build linux

package execio

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " 2 3 4 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 %d 0 123456789012 1 1"
	for _, c := range []struct {
		stat string
		want proc
		ok   bool
	}{
		{"77 (sh) S" + fmt.Sprintf(rest, 1), proc{ident{77, 123456789012}, 2, 3, 4, false, false}, true},
		{"77 (a b) c) R 9 9) S" + fmt.Sprintf(rest, 1), proc{ident{77, 123456789012}, 2, 3, 4, false, false}, true},
		{"77 () T" + fmt.Sprintf(rest, 8) + "\n", proc{ident{77, 123456789012}, 2, 3, 4, false, true}, true},
		{"77 (sh) Z" + fmt.Sprintf(rest, 1), proc{ident{77, 123456789012}, 2, 3, 4, true, true}, true},
		{"77 (sh) Z" + fmt.Sprintf(rest, 2), proc{ident{77, 123456789012}, 2, 3, 4, false, false}, true}, // a thread goes on
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

	// A group whose number is another's now has no members any more.
	m := members{root: ident{pid: -1}, known: map[ident]bool{}, leaders: map[int]ident{self.group: {self.group, 1}}}
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
