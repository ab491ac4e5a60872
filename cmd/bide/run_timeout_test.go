//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bide.invalid/bide/internal/crew"
)

// likeTimeout are command lines, without the program's name: options and duration, then a script for sh unless bare.
// They do the same in bide run and in timeout, unless it says why not. A script that has to get somewhere before the time
// is over says ready there.
// One that has a trap sleeps for a moment only: a sleep that is told while it is being started does not hear it, and the
// shell runs its trap when that sleep has ended. What ended the sleep, if anything, the shell would say.
var likeTimeout = []struct {
	args    string
	script  string // $1 is a folder with some files
	differs string // the reason
	ours    trace  // then, with all of the code and survivors
}{
	// What the command does by itself.
	{args: "10", script: `exit 0`},
	{args: "10", script: `echo out; echo err >&2; exit 3`},
	{args: "10", script: `cat; exit 0`},
	{args: "10", script: `exit 124`},
	{args: "10", script: `exit 255`},
	{args: "0", script: `exit 5`},
	{args: "10", script: `kill -TERM $$`},
	{args: "10", script: `kill -KILL $$`},
	{args: "10", script: `kill -HUP $$`},
	{args: "10", script: `kill -USR1 $$`},
	{args: "-v 10", script: `exit 0`},

	// The end of the time.
	{args: "0.1", script: `exec sleep 1000`},
	{args: "0.1", script: `sleep 1000`},
	{args: "0.1", script: `echo ready; sleep 1000; echo never`},
	{args: "0.1", script: `sleep 1000 & sleep 1000 & wait`},
	{args: "0.4", script: `trap 'echo term; exit 7' TERM; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done`},
	{args: "--preserve-status 0.4", script: `trap 'exit 7' TERM; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done`},
	{args: "--preserve-status 0.1", script: `echo ready; exec sleep 1000`},
	{args: "--preserve-status -s INT 0.4", script: `trap 'echo int; exit 8' INT; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done`},
	{args: "-s INT 0.4", script: `trap 'echo int; exit 8' INT; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done`},
	{args: "-s USR1 0.4", script: `trap 'echo usr1; exit 0' USR1; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done`},
	{args: "-s HUP 0.1", script: `exec sleep 1000`},
	{args: "-s KILL 0.1", script: `echo ready; exec sleep 1000`},
	{args: "-s 9 0.1", script: `echo ready; sleep 1000; exit 1`},
	{args: "--preserve-status -s KILL 0.1", script: `echo ready; exec sleep 1000`},
	{args: "-k 0.1 0.4", script: `trap '' TERM; echo ready; sleep 1000; sleep 1000`},
	{args: "-k 10 0.1", script: `exec sleep 1000`},
	{args: "-k 0.1 -s INT 0.4", script: `trap '' INT; echo ready; sleep 1000; sleep 1000`},
	{args: "--preserve-status -k 0.1 0.4", script: `trap '' TERM; echo ready; sleep 1000; sleep 1000`},
	{args: "-k 0 0.4", script: `trap 'exit 0' TERM; exec 2>/dev/null; echo ready; while :; do sleep 0.1; done`},
	{args: "0.1", script: `kill -STOP $$; exit 3`},

	// Durations.
	{args: "0.1s", script: `exec sleep 1000`},
	{args: ".1", script: `exec sleep 1000`},
	{args: "+.1", script: `exec sleep 1000`},
	{args: "1e-1", script: `exec sleep 1000`},
	{args: "0x.1", script: `exec sleep 1000`},
	{args: "0.001m", script: `exec sleep 1000`},
	{args: "0.00003h", script: `exec sleep 1000`},
	{args: "0.000001d", script: `exec sleep 1000`},
	{args: "1e-320", script: `exec sleep 1000`}, // not 0, which were for ever
	{args: "1e9999", script: `exit 3`},
	{args: "inf", script: `exit 3`},
	{args: "99999999999999999999d", script: `exit 3`},
	{args: "0x1d", script: `exit 3`},
	{args: "1x", script: `exit 3`},
	{args: "1ss", script: `exit 3`},
	{args: "nan", script: `exit 3`},
	{args: "abc", script: `exit 3`},
	{args: "1_0", script: `exit 3`},
	{args: "s", script: `exit 3`},
	{args: "-1", script: `exit 3`},
	{args: "-- -1", script: `exit 3`},

	// Options.
	{args: "-s", script: `exit 3`},
	{args: "-s NOSUCH 1", script: `exit 3`},
	{args: "-s SIGTERM 10", script: `exit 3`},
	{args: "-s term 10", script: `exit 3`},
	{args: "-sTERM -k1 10", script: `exit 3`},
	{args: "-vsTERM 10", script: `exit 3`},
	{args: "--signal=TERM --kill-after=1 10", script: `exit 3`},
	{args: "--signal TERM --kill-after 1 10", script: `exit 3`},
	{args: "--sig=TERM --kill 1 --pres --verb 10", script: `exit 3`},
	{args: "--preserve-status=yes 10", script: `exit 3`},
	{args: "-k abc 10", script: `exit 3`},
	{args: "-- 10", script: `exit 3`},
	{args: "--nosuch 10", script: `exit 3`},
	{args: "-x 10", script: `exit 3`},
	{args: "-s RTMIN+1 0.1", script: `exec sleep 1000`},
	{args: "bare"},
	{args: "bare 10"},
	{args: "bare 10 echo -k 5 -- --help"}, // options of the command are its own

	// What cannot be run.
	{args: "bare 10 no-such-command"},
	{args: "bare 10 ./no-such-command"},
	{args: "bare 10 $DIR"},
	{args: "bare 10 $DIR/plain"},
	{args: "bare 10 plain-in-path"},
	{args: "bare 10 $DIR/interpreter"},
	{args: "bare 10 $DIR/script one two"}, // which has no #! line
	{args: "bare 10 $DIR/plain/below"},
	{args: "bare 10 "},

	// What it leaves.
	{args: "10", script: `sleep 1000 & exit 3`},
	{args: "10", script: `setsid sleep 1000 & exit 3`},

	// Meant to be different.
	{args: "0.1", script: `setsid sleep 1000 & wait`,
		differs: "what has left the process group is ended too", ours: trace{code: 124}},
	{args: "0.2", script: `(setsid sleep 1000 &); sleep 1000`,
		differs: "so are orphans", ours: trace{code: 124}},
	{args: "-k 0.1 0.4", script: `trap '' TERM; echo ready; setsid sleep 1000 & sleep 1000; sleep 1000`,
		differs: "and killed, if they do not end", ours: trace{code: 137, stdout: "ready\n"}},
	{args: "0.4", script: `trap "exit 0" TERM; sleep 1000 & echo ready; wait`},
	{args: "-k 3 -s INT 0.4", script: `trap 'exit 8' INT; sleep 1000 & echo ready; wait`,
		differs: "a shell's background ignores INT; the command has ended, and what is left of its tree is killed", ours: trace{code: 124, stdout: "ready\n"}},
	{args: "--foreground 10", script: `exit 3`},
	{args: "-k 0.1 --foreground 0.4", script: `trap '' TERM; echo ready; sleep 1000; sleep 1000`,
		differs: "children of the command are ended, too", ours: trace{code: 137, stdout: "ready\n"}},
	{args: "--foreground 0.4", script: `sleep 1000 & (setsid sleep 1000 &); sleep 1000`,
		differs: "children of the command are ended, too", ours: trace{code: 124}},
	{args: "-f 10", script: `exit 3`,
		differs: "before version 9.6 timeout has no short -f", ours: trace{code: 3}},
	{args: "0m0.1s", script: `exec sleep 1000`,
		differs: "durations of Go are understood", ours: trace{code: 124}},
	{args: "100ms", script: `exec sleep 1000`,
		differs: "durations of Go are understood", ours: trace{code: 124}},
	{args: "-p 10", script: `exit 3`,
		differs: "before version 9.6 timeout has no short -p", ours: trace{code: 3}},
}

func TestRunLikeTimeoutRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: hundreds of processes, some seconds; left out by -short")
	}
	theirs, err := exec.LookPath("timeout")
	if err != nil {
		t.Skip("SKIPPED: no command timeout (coreutils): there is nothing to compare with")
	}
	if out, _ := exec.Command(theirs, "--version").Output(); !strings.Contains(string(out), "GNU coreutils") {
		t.Skipf("SKIPPED: %s is not that of GNU coreutils: %s", theirs, out)
	}
	dir := t.TempDir()
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"plain":         {"text\n", 0o644},
		"plain-in-path": {"text\n", 0o644},
		"interpreter":   {"#!/no/such/interpreter\n", 0o755},
		"script":        {"echo script \"$@\"\nexit 4\n", 0o755},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+dir)
	compared := 0
	for _, row := range likeTimeout {
		name := row.args + " " + row.script
		if row.differs == "" {
			compared++
		}
		t.Run(name, func(t *testing.T) {
			args := strings.Split(row.args, " ")
			if args[0] == "bare" {
				args = strings.Split(strings.ReplaceAll(row.args, "$DIR", dir), " ")[1:]
			} else {
				args = append(args, "sh", "-c", row.script)
			}
			ready := ""
			if strings.Contains(row.script, "echo ready;") {
				ready = "ready\n"
			}
			ours := inTime(ready, func(slower int) trace {
				return traceOf(t, crew.New(), bideCmd(append([]string{"run"}, slowed(args, slower)...)...), now)
			})
			most := ours.survivors
			if row.differs != "" {
				most = now
			}
			theirs := inTime(ready, func(slower int) trace {
				return traceOf(t, crew.New(), exec.Command(theirs, slowed(args, slower)...), most)
			})
			if row.differs != "" {
				if (ours.stderr != "") != (ours.code == exitFailed) {
					t.Errorf("message %q", ours.stderr)
				}
				if ours.stderr = ""; ours != row.ours {
					t.Errorf("got %+v, want %+v", ours, row.ours)
				}
				if ours.code == theirs.code && ours.survivors == theirs.survivors {
					t.Logf("no difference to this timeout, though meant: %s", row.differs)
				}
				return
			}
			// Error messages are each one's own; that there is one is compared.
			if ours.code == exitFailed || ours.code == exitNoStart || ours.code == exitNotFound {
				if (ours.stderr == "") != (theirs.stderr == "") {
					t.Errorf("message %q, timeout's %q", ours.stderr, theirs.stderr)
				}
				ours.stderr, theirs.stderr = "", ""
			}
			if ours != theirs {
				t.Errorf("%+v\ntimeout %+v", ours, theirs)
			}
		})
	}
	if compared < 40 {
		t.Errorf("only %d command lines are compared", compared)
	}
}
