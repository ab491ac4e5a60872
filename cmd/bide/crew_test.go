//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The tests' own program is bide, where this variable says so; and where the tour needs a child to play.
const asBide = "BIDE_TEST_AS_BIDE"

func TestMain(m *testing.M) {
	if os.Getenv(asBide) != "" || len(os.Args) > 1 && os.Args[1] == childArg {
		main()
	}
	code := m.Run()
	if z := childZombies(); len(z) > 0 {
		fmt.Fprintln(os.Stderr, "zombies are left:", z)
		code = 1
	}
	os.Exit(code)
}

const crewMark = "BIDE_TEST_MARK"

var crews atomic.Int64

// A crew is what came from a command line.
type crew struct{ mark string }

func newCrew() crew { return crew{fmt.Sprintf("%s=%d.%d.", crewMark, os.Getpid(), crews.Add(1))} }

// env is the environment of the crew. $BIDE is bide.
func (c crew) env(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), c.mark, asBide+"=1", "BIDE="+self, "LC_ALL=C",
		"GORACE=atexit_sleep_ms=0") // the race detector waits a second at each exit
}

// left is who of the crew lives.
func (c crew) left() (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		env, err := os.ReadFile(name)
		if err == nil && bytes.Contains(env, []byte(c.mark)) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// dismiss ends who is left.
func (c crew) dismiss() {
	for pids := c.left(); len(pids) > 0; pids = c.left() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// childZombies is who of our own children has not been reaped.
func childZombies() (found []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		stat, _ := os.ReadFile(name)
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, string(stat))
		}
	}
	return found
}

// A trace is what a command line has left.
type trace struct {
	code           int // as a shell tells it
	stdout, stderr string
	survivors      int
}

// traceOf runs a command of the crew to its end, and ends who is left. Its output goes to files: nobody can hold it.
// Who was killed with the command may need the patience to be gone.
func traceOf(t *testing.T, c crew, cmd *exec.Cmd, patience time.Duration) trace {
	t.Helper()
	dir := t.TempDir()
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	cmd.Env = c.env(t)
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	hangs := time.AfterFunc(20*time.Second, c.dismiss)
	_ = cmd.Run()
	if !hangs.Stop() {
		t.Errorf("%v hung, and was killed", cmd.Args)
	}
	if cmd.ProcessState == nil {
		t.Fatalf("%v was not run", cmd.Args)
	}
	tr := trace{code: code(cmd.ProcessState), survivors: len(c.left())}
	for end := time.Now().Add(patience); tr.survivors > 0 && time.Now().Before(end); tr.survivors = len(c.left()) {
		<-time.After(10 * time.Millisecond)
	}
	c.dismiss()
	for i, s := range []*string{&tr.stdout, &tr.stderr} {
		b, err := os.ReadFile(files[i].Name())
		if err != nil {
			t.Fatal(err)
		}
		*s = string(b)
	}
	return tr
}

// bideCmd is a command line of bide.
func bideCmd(args ...string) *exec.Cmd {
	self, _ := os.Executable()
	return exec.Command(self, args...)
}
