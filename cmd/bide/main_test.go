package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args   string
		code   int
		stdout string // a part of it; empty for nothing at all
		stderr string
	}{
		{"", exitUsage, "", "bide: no command is given: write run, left, tour or help\n"},
		{"tur", exitUsage, "", "bide: \"tur\" is not a command: write run, left, tour or help\n"},
		{"-x", exitUsage, "", "bide: \"-x\" is not a command: write run, left, tour or help\n"},
		{"help", exitKept, "  tour   watch promises about time being kept", ""},
		{"-h", exitKept, "usage: bide COMMAND", ""},
		{"--help", exitKept, "usage: bide COMMAND", ""},
		{"help help", exitKept, "usage: bide COMMAND", ""},
		{"help tour", exitKept, "usage: bide tour [SCENE...]", ""},
		{"help tur", exitUsage, "", "bide: \"tur\" is not a command: write run, left, tour or help\n"},
		{"tour -h", exitKept, "  lock     Somebody holds a mutex", ""},
		{"tour --help", exitKept, "forgiven up to 500 ms", ""},
		{"tour -x", exitUsage, "", "bide tour: flag provided but not defined: -x: write bide tour -h\n"},
		{"tour lok", exitUsage, "", "bide tour: \"lok\" is not a scene: write lock, nursery, shield, legacy, drip or child, or nothing for all\n"},
		{"tour lock lok", exitUsage, "", "bide tour: \"lok\" is not a scene: write lock, nursery, shield, legacy, drip or child, or nothing for all\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(commands(), strings.Fields(c.args), &stdout, &stderr)
		if code != c.code {
			t.Errorf("bide %s: exit code %d, want %d", c.args, code, c.code)
		}
		if out := stdout.String(); !strings.Contains(out, c.stdout) || c.stdout == "" && out != "" {
			t.Errorf("bide %s: %q, want %q", c.args, out, c.stdout)
		}
		if stderr.String() != c.stderr {
			t.Errorf("bide %s: error text %q, want %q", c.args, stderr.String(), c.stderr)
		}
	}
}

func TestRunPassesArgumentsAndExitCode(t *testing.T) {
	var got []string
	second := command{"second", "does more", func(args []string, _, _ io.Writer) int {
		got = args
		return 124
	}}
	code := run(append(commands(), second), []string{"second", "-k", "1", "help"}, io.Discard, io.Discard)
	if code != 124 || strings.Join(got, " ") != "-k 1 help" {
		t.Errorf("exit code %d, arguments %q", code, got)
	}
	var stderr bytes.Buffer
	run(append(commands(), second), []string{"third"}, io.Discard, &stderr)
	if !strings.Contains(stderr.String(), "write run, left, tour, second or help") {
		t.Errorf("%q does not name the second command", &stderr)
	}
}

func TestEither(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := either(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// The command as its users have it: built, with a pipe for its output.
func TestBinaryTourInRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: builds the command and runs the tour, some seconds; left out by -short")
	}
	binary := filepath.Join(t.TempDir(), "bide")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var out string
	var stderr bytes.Buffer
	for tries := 5; ; tries-- {
		var stdout bytes.Buffer
		cmd := exec.Command(binary, "tour")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if out = stdout.String(); err == nil {
			break
		}
		if tries == 1 || !onlyLate(out) {
			t.Fatalf("bide tour: %v\n%s%s", err, out, &stderr)
		}
		t.Log("the machine is busy: once more")
	}
	for _, s := range scenes() {
		if !strings.Contains(out, "\nkept     "+s.name+": ") {
			t.Errorf("no line says that %s kept its promise", s.name)
		}
	}
	if !strings.Contains(out, "every promise kept.\n") || strings.Contains(out, "BROKEN") {
		t.Error("the tour does not end with every promise kept")
	}
	if strings.Contains(out, "\x1b") {
		t.Error("escapes in a pipe")
	}
	if stderr.Len() > 0 {
		t.Errorf("error text of a tour that went well: %q", &stderr)
	}
	if t.Failed() {
		t.Log(out)
	}

	err := exec.Command(binary, "tur").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitUsage {
		t.Errorf("bide tur: %v, want exit code %d", err, exitUsage)
	}
}

// onlyLate reports whether nothing is wrong with a tour but that something came too late for it.
func onlyLate(out string) bool {
	faults, late := 0, 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "BROKEN") && !strings.HasSuffix(line, " broke a promise.\n") {
			faults++
			if strings.Contains(line, " ms late: due ") {
				late++
			}
		}
	}
	return faults > 0 && faults == late
}

func TestOnlyLate(t *testing.T) {
	late, early := played(lockScene(), keptLock), played(lockScene(), earlyLock)
	late.play = func(context.Context) measure {
		m := keptLock
		m.wait.took += forgiven
		return m
	}
	kept := played(lockScene(), keptLock)
	for want, scenes := range map[bool][][]scene{true: {{late}, {kept, late, late}}, false: {{kept}, {early}, {late, early}}} {
		for _, scenes := range scenes {
			var stdout, stderr bytes.Buffer
			tour{scenes, tourLimit}.run(nil, &stdout, &stderr)
			if onlyLate(stdout.String()) != want {
				t.Errorf("%v of\n%s", !want, &stdout)
			}
		}
	}
}
