//go:build linux

package crew_test

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bide.invalid/bide/internal/crew"
)

// begin starts a shell of the crew.
func begin(t *testing.T, m crew.Mark, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", script, script)
	cmd.Env = append(os.Environ(), string(m))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// TestLeftBare looks past a process that has no environment at all.
func TestLeftBare(t *testing.T) {
	m := crew.New()
	cmd := begin(t, m, `exec env -i sleep 1000`)
	for len(m.Left()) > 0 {
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestLeftExec looks at a process that does nothing but execve, with an environment that takes a while to read.
func TestLeftExec(t *testing.T) {
	m := crew.New()
	for i := range 100 { // the shell passes variables on in the order of its own table
		t.Setenv("PAD"+strconv.Itoa(i), strings.Repeat("x", 1000))
	}
	cmd := begin(t, m, `exec sh -c "$0" "$0"`)
	for i := range 200 {
		if pids := m.Left(); !slices.Equal(pids, []int{cmd.Process.Pid}) {
			t.Errorf("look %d: left %v, want %d", i, pids, cmd.Process.Pid)
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func TestDismiss(t *testing.T) {
	m, other := crew.New(), crew.New()
	cmd := begin(t, m, `setsid sleep 1000 & sleep 1000 & wait`)
	otherCmd := begin(t, other, `exec sleep 1000`)
	m.Dismiss()
	if pids := m.Left(); len(pids) > 0 {
		t.Errorf("left: %v", pids)
	}
	if pids := other.Left(); !slices.Equal(pids, []int{otherCmd.Process.Pid}) {
		t.Errorf("left of the other crew: %v, want %d", pids, otherCmd.Process.Pid)
	}
	if z := crew.Zombies(); len(z) != 1 {
		t.Errorf("zombies %v, want the shell that nobody has waited for", z)
	}
	_ = cmd.Wait()
	other.Dismiss()
	_ = otherCmd.Wait()
	if z := crew.Zombies(); len(z) > 0 {
		t.Errorf("zombies after Wait: %v", z)
	}
}
