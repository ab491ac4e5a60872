//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/internal/crew"
)

// The tests' own program is bide, where this variable says so; and where the tour needs a child to play.
const asBide = "BIDE_TEST_AS_BIDE"

func TestMain(m *testing.M) {
	if os.Getenv(asBide) != "" || len(os.Args) > 1 && os.Args[1] == childArg {
		main()
	}
	code := m.Run()
	if z := crew.Zombies(); len(z) > 0 {
		fmt.Fprintln(os.Stderr, "zombies are left:", z)
		code = 1
	}
	os.Exit(code)
}

// env is the environment of a crew. $BIDE is bide.
func env(t *testing.T, c crew.Mark) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), string(c), asBide+"=1", "BIDE="+self, "LC_ALL=C",
		"GORACE=atexit_sleep_ms=0") // the race detector waits a second at each exit
}

// A trace is what a command line has left.
type trace struct {
	code           int // as a shell tells it
	stdout, stderr string
	survivors      int
}

// now is how many may survive where nobody is waited for: bide returns when all are gone.
const now = math.MaxInt

// traceOf runs a command of the crew to its end, and ends who is left. Its output goes to files: nobody can hold it.
// Who was killed with the command may need a while to be gone: until no more than so many are left.
func traceOf(t *testing.T, c crew.Mark, cmd *exec.Cmd, most int) trace {
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
	cmd.Env = env(t, c)
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	hangs := time.AfterFunc(2*time.Minute, c.Dismiss)
	_ = cmd.Run()
	if !hangs.Stop() {
		t.Errorf("%v hung, and was killed", cmd.Args)
	}
	if cmd.ProcessState == nil {
		t.Fatalf("%v was not run", cmd.Args)
	}
	tr := trace{code: code(cmd.ProcessState), survivors: len(c.Left())}
	for end := time.Now().Add(time.Minute); tr.survivors > most && time.Now().Before(end); tr.survivors = len(c.Left()) {
		<-time.After(10 * time.Millisecond)
	}
	c.Dismiss()
	for i, s := range []*string{&tr.stdout, &tr.stderr} {
		b, err := os.ReadFile(files[i].Name())
		if err != nil {
			t.Fatal(err)
		}
		*s = string(b)
	}
	return tr
}

// inTime runs what is ended after some tenths of a second, and has to have come so far by then that it says so: on a busy
// machine again, with ten times the time.
func inTime(says string, run func(slower int) trace) trace {
	for slower := 1; ; slower *= 10 {
		if tr := run(slower); slower == 100 || strings.HasPrefix(tr.stdout, says) {
			return tr
		}
	}
}

// slowed multiplies the arguments that are less than a second.
func slowed(args []string, by int) []string {
	var out []string
	for _, arg := range args {
		if d, err := strconv.ParseFloat(arg, 64); err == nil && d < 1 && by > 1 {
			arg = fmt.Sprint(d * float64(by))
		}
		out = append(out, arg)
	}
	return out
}

// bideCmd is a command line of bide.
func bideCmd(args ...string) *exec.Cmd {
	self, _ := os.Executable()
	return exec.Command(self, args...)
}
