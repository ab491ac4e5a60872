package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/crew"
	"bide.invalid/bide/wire"
)

// begin starts a bide of the crew, and waits until it has written ready.
func begin(t *testing.T, c crew.Mark, args ...string) (cmd *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	cmd = bideCmd(args...)
	cmd.Env = env(t, c)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer guard(t, c)()
	out = bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Errorf("%q, %v", line, err)
	}
	return cmd, out
}

// guard ends the crew, and so whoever waits for it, if it is not released for long.
func guard(t *testing.T, c crew.Mark) (release func()) {
	g := time.AfterFunc(time.Minute, c.Dismiss)
	return func() {
		if !g.Stop() {
			t.Error("it hung, and was killed")
		}
	}
}

// end waits for it; nothing of the crew may be left.
func end(t *testing.T, c crew.Mark, cmd *exec.Cmd, out io.Reader) (rest string, exit int) {
	t.Helper()
	defer guard(t, c)()
	b, _ := io.ReadAll(out)
	_ = cmd.Wait()
	if pids := c.Left(); len(pids) > 0 {
		t.Errorf("%v: left %v", cmd.Args[1:], pids)
		c.Dismiss()
	}
	return string(b), code(cmd.ProcessState)
}

// trees are scripts that leave processes in all ways; to a subreaper nobody is lost.
var runTrees = []string{
	`echo ready; exec sleep 1000`,
	`sleep 1000 & (setsid sleep 1000 &); echo ready; wait`,
	`sh -c 'setsid sh -c "sleep 1000 & setsid sleep 1000" &'; echo ready; sleep 1000`,
	`setsid sh -c 'kill -STOP $$' & echo ready; sleep 1000`,
	`trap '' TERM INT HUP QUIT; (setsid sh -c 'sleep 1000; sleep 1000' &); echo ready; sleep 1000; sleep 1000`,
}

func TestRunSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		for _, script := range runTrees {
			c := crew.New()
			cmd, out := begin(t, c, "run", "-k", "0.1", "1000", "sh", "-c", script)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if _, exit := end(t, c, cmd, out); exit != exitSignal+int(sig) {
				t.Errorf("%v, %s: exit code %d", sig, script, exit)
			}
		}
	}
}

// The command gets the very signal; a second one too.
func TestRunPassesSignalsOn(t *testing.T) {
	c := crew.New()
	cmd, out := begin(t, c, "run", "-k", "1000", "1000", "sh", "-c",
		`trap 'echo int' INT; trap 'echo hup; exit 1' HUP; echo ready; while :; do sleep 1000 & wait $!; done`)
	for _, s := range []struct {
		sig  syscall.Signal
		line string
	}{{syscall.SIGINT, "int\n"}, {syscall.SIGHUP, "hup\n"}} {
		if err := cmd.Process.Signal(s.sig); err != nil {
			t.Fatal(err)
		}
		if line, err := out.ReadString('\n'); line != s.line {
			t.Errorf("%v: %q, %v", s.sig, line, err)
		}
	}
	if _, exit := end(t, c, cmd, out); exit != exitSignal+int(syscall.SIGINT) {
		t.Errorf("exit code %d", exit)
	}
}

// What was ignored when bide started stays so: nohup.
func TestRunKeepsIgnoredRealTime(t *testing.T) {
	c := crew.New()
	tr := inTime("lives\n", func(slower int) trace {
		script := `trap '' HUP; exec "$BIDE" run %v sh -c 'kill -HUP $$ $PPID; echo lives; exec sleep 1000'`
		return traceOf(t, c, exec.Command("sh", "-c", fmt.Sprintf(script, 0.3*float64(slower))), now)
	})
	if tr.code != exitTimedOut || tr.stdout != "lives\n" || tr.survivors > 0 {
		t.Errorf("%+v", tr)
	}
}

// A signal in the first millisecond, and at any later moment of the start.
func TestRunSignalAtStartRealTime(t *testing.T) {
	for i := range 30 {
		c := crew.New()
		cmd := bideCmd("run", "-k", "1", "1000", "sh", "-c", `(setsid sleep 1000 &); sleep 1000 & sleep 1000`)
		cmd.Env = env(t, c)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(i) * time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if _, exit := end(t, c, cmd, strings.NewReader("")); exit != exitSignal+int(syscall.SIGTERM) {
			t.Errorf("after %d ms: exit code %d", i, exit)
		}
	}
}

// What a handler starts for its cleanup is not told to end, too.
func TestRunLetsCleanUpRealTime(t *testing.T) {
	c := crew.New()
	cmd, out := begin(t, c, "run", "-k", "1000", "1000", "sh", "-c", `trap 'sleep 0.2 && echo saved; exit 0' TERM; sh -c "echo ready; exec sleep 1000" & wait`)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if rest, exit := end(t, c, cmd, out); rest != "saved\n" || exit != 143 {
		t.Errorf("%q, exit code %d", rest, exit)
	}
}

// Children that bide had before are not the command's, nor is what comes from them.
func TestRunLeavesForeignersRealTime(t *testing.T) {
	tr := inTime("ready\nready\n", func(slower int) trace {
		script := `sh -c 'sleep 1000 & echo ready; wait' & exec "$BIDE" run -k 0.2 %v sh -c 'trap "" TERM; echo ready; sleep 1000; sleep 1000'`
		return traceOf(t, crew.New(), exec.Command("sh", "-c", fmt.Sprintf(script, 0.3*float64(slower))), now)
	})
	if tr.code != 137 || tr.survivors != 2 || tr.stderr != "" {
		t.Errorf("%+v", tr)
	}
}

// Signals are passed on to what is left, when the command itself has ended.
func TestRunPassesSignalsToTheRest(t *testing.T) {
	c := crew.New()
	cmd, out := begin(t, c, "run", "-k", "0", "1000", "sh", "-c", `(trap '' TERM; echo ready; exec sleep 1000) & wait`)
	defer guard(t, c)()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	for n := len(c.Left()); n > 2; n = len(c.Left()) { // bide and sleep
	}
	_ = cmd.Process.Signal(syscall.SIGHUP)
	if _, exit := end(t, c, cmd, out); exit != 143 {
		t.Errorf("exit code %d", exit)
	}
}

// That nobody reads what bide says does not keep it from ending the tree.
func TestRunStderrIsClosedRealTime(t *testing.T) {
	c := crew.New()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd := bideCmd("run", "-v", "0.3", "sh", "-c", `setsid sleep 1000 & wait`)
	cmd.Env, cmd.Stderr = env(t, c), w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, exit := end(t, c, cmd, strings.NewReader("")); exit != exitTimedOut {
		t.Errorf("exit code %d", exit)
	}
}

// If bide is killed, the kernel kills the command.
func TestRunIsKilled(t *testing.T) {
	c := crew.New()
	cmd, out := begin(t, c, "run", "1000", "sh", "-c", `echo ready; exec sleep 1000`)
	_ = cmd.Process.Kill()
	// The pipe is closed when the command has died.
	if rest, _ := io.ReadAll(out); len(rest) > 0 {
		t.Errorf("%q", rest)
	}
	_ = cmd.Wait()
	c.Dismiss()
}

func TestRunHundredRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: hundreds of processes, some seconds; left out by -short")
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 25)
	for i := range 100 {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			c := crew.New()
			want, killAfter := exitTimedOut, "60" // they end by TERM, however long that takes
			script := runTrees[i%len(runTrees)]
			if strings.HasPrefix(script, "trap") {
				want, killAfter = 137, "0.2"
			}
			tr := traceOf(t, c, bideCmd("run", "-k", killAfter, "0.5", "sh", "-c", script), now)
			if tr.code != want && tr.code != exitTimedOut || tr.survivors > 0 {
				t.Errorf("%s: %+v", script, tr)
			}
		})
	}
	wg.Wait()
}

// Orphans are reaped while the command runs: bide is their parent now.
func TestRunReapsOrphans(t *testing.T) {
	c := crew.New()
	cmd, out := begin(t, c, "run", "1000", "sh", "-c", `
		for i in 1 2 3 4 5; do sh -c 'sleep 0.01 &'; done
		echo ready
		while grep -qs "^[0-9]* (sleep) [A-Z] $PPID " /proc/[0-9]*/stat; do :; done
		echo reaped`)
	if rest, exit := end(t, c, cmd, out); rest != "reaped\n" || exit != 0 {
		t.Errorf("%q, exit code %d", rest, exit)
	}
}

func TestRunDeadline(t *testing.T) {
	for _, test := range []struct {
		deadline string // - for none
		args     string
		code     int
		stdout   string // a part
		stderr   string
	}{
		{"-", "left", 1, "", ""},
		{"-", "run 60000 $BIDE run 5000 $BIDE left", 0, "49", ""},
		{"-", "run 5000 $BIDE run 60000 $BIDE left", 0, "49", ""},
		{"-", "run 5000 $BIDE run 0 $BIDE left", 0, "49", ""},
		{"-", "run 0 $BIDE left", 1, "", ""},
		{"-", "run 0.2 $BIDE run 60 sleep 1000", exitTimedOut, "", ""},
		{"v1;wall=2001-01-01T00:00:00Z", "left", 0, "0.001\n", ""},
		{"v1;wall=2001-01-01T00:00:00Z", "run 60 echo started", exitTimedOut, "", ""},
		{"v1;wall=9999-01-01T00:00:00Z", "run 5000 $BIDE left", 0, "49", ""},
		{"soon", "left", 1, "", `bide left: warning: the inherited deadline is ignored: "soon" does not begin with v1`},
		{"soon", "run 5000 $BIDE left", 0, "49", `bide run: warning: the inherited deadline is ignored: "soon" does not begin with v1`},
		{"soon", "run 0 $BIDE left", 1, "", "bide run: warning:"},
		{"-", "left x", exitUsage, "", "bide left: it takes no argument"},
		{"-", "left -h", 0, "usage: bide left", ""},
	} {
		self, _ := os.Executable()
		t.Setenv(wire.EnvDeadline, test.deadline)
		if test.deadline == "-" {
			os.Unsetenv(wire.EnvDeadline)
		}
		tr := traceOf(t, crew.New(), bideCmd(strings.Fields(strings.ReplaceAll(test.args, "$BIDE", self))...), now)
		if tr.code != test.code || tr.survivors > 0 ||
			!strings.HasPrefix(tr.stdout, test.stdout) || test.stdout == "" && tr.stdout != "" ||
			!strings.HasPrefix(tr.stderr, test.stderr) || test.stderr == "" && tr.stderr != "" {
			t.Errorf("%s with %q: %+v", test.args, test.deadline, tr)
		}
		if strings.Count(tr.stderr, "warning") > 1 {
			t.Errorf("%s: warned twice: %s", test.args, tr.stderr)
		}
	}
}

func TestRunVerbose(t *testing.T) {
	tr := inTime("ready\n", func(slower int) trace {
		args := slowed([]string{"run", "-v", "-k", "0.2", "0.5", "sh", "-c", `trap '' TERM; echo ready; sleep 1000; sleep 1000`}, slower)
		return traceOf(t, crew.New(), bideCmd(args...), now)
	})
	if tr.code != 137 || !strings.HasPrefix(tr.stderr, "bide run: sending signal TERM to \"sh\" and all that came from it\nbide run: sent signal KILL to what was left: processes [") {
		t.Errorf("%+v", tr)
	}
}

// onTerminal opens a pseudo terminal, and starts cmd as the leader of its session.
func onTerminal(t *testing.T, c crew.Mark, cmd *exec.Cmd) (master *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo terminal: %v", err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo terminal: %v", err)
	}
	defer tty.Close()
	cmd.Env = append(env(t, c), "PS1=PROMPT> ", "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return master
}

// talk waits for the first of each step, and types the second. It returns what it has seen.
func talk(t *testing.T, master *os.File, steps [][2]string) string {
	t.Helper()
	var seen bytes.Buffer
	for _, step := range steps {
		if !listen(t, master, &seen, step[0], func(seen string) bool { return strings.Contains(seen, step[0]) }) {
			break
		}
		fmt.Fprint(master, step[1])
	}
	return seen.String()
}

// listen reads until enough was seen.
func listen(t *testing.T, master *os.File, seen *bytes.Buffer, what string, enough func(seen string) bool) bool {
	t.Helper()
	buf := make([]byte, 100)
	for !enough(seen.String()) {
		n, err := master.Read(buf)
		if err != nil {
			t.Errorf("%v, waiting for %q, seen %q", err, what, seen)
			return false
		}
		seen.Write(buf[:n])
	}
	return true
}

// The command reads from the terminal and gets its keys, stops by Ctrl-Z and is continued, since nobody else would.
func TestRunTerminal(t *testing.T) {
	for _, test := range []struct {
		script string
		steps  [][2]string // wait for the first, type the second
		code   int
	}{
		{`echo ready; read x; echo "got <$x>"; exit 7`, [][2]string{{"ready", "line\n"}, {"got <line>", ""}}, 7},
		{`trap 'echo caught; exit 8' INT; echo ready; while :; do sleep 0.1; done`, [][2]string{{"ready", "\x03"}, {"caught", ""}}, 8},
		{`echo ready; exec sleep 1000`, [][2]string{{"ready", "\x03"}}, 130},
		{`echo ready; read x; echo "got <$x>"; exit 7`, [][2]string{{"ready", "\x1a"}, {"^Z", "line\n"}, {"got <line>", ""}}, 7},
	} {
		c := crew.New()
		cmd := bideCmd("run", "1000", "sh", "-c", test.script)
		master := onTerminal(t, c, cmd)
		release := guard(t, c)
		seen := talk(t, master, test.steps)
		if _, exit := end(t, c, cmd, strings.NewReader("")); exit != test.code {
			t.Errorf("%s: exit code %d, want %d; seen %q", test.script, exit, test.code, seen)
		}
		release()
		master.Close()
	}
}

// With --left the terminal shows what is left, also one that stops who writes to it from the background; and the line
// is gone in the end.
func TestRunLeftLineRealTime(t *testing.T) {
	c := crew.New()
	cmd := bideCmd("run", "--left", "1000", "sh", "-c", `stty tostop; read x; exit 7`)
	master := onTerminal(t, c, cmd)
	defer master.Close()
	defer guard(t, c)()
	line := regexp.MustCompile(`\r\x1b\[Kbide run: (\d+m\d+s) left for sh`)
	var seen bytes.Buffer
	listen(t, master, &seen, "two different times", func(seen string) bool {
		all := line.FindAllStringSubmatch(seen, -1)
		return len(all) > 1 && all[0][1] != all[len(all)-1][1]
	})
	fmt.Fprint(master, "\n")
	listen(t, master, &seen, "its end", func(seen string) bool { return strings.Contains(seen, "\r\n\r\x1b[K") })
	if _, exit := end(t, c, cmd, strings.NewReader("")); exit != 7 {
		t.Errorf("exit code %d; seen %q", exit, &seen)
	}
	for _, found := range line.FindAllStringSubmatch(seen.String(), -1) {
		if left, err := time.ParseDuration(found[1]); err != nil || left > 1000*time.Second || left < 900*time.Second {
			t.Errorf("%q of 1000 s", found[0])
		}
	}
}

// jobControl is a shell that has it.
func jobControl(t *testing.T) string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: no command bash, whose job control this is about")
	}
	return bash
}

// What bide says while the command has the terminal does not stop it, also on one that stops who writes to it from the
// background: then nobody would end the command.
func TestRunSaysFromBackground(t *testing.T) {
	bash := jobControl(t)
	c := crew.New()
	cmd := exec.Command(bash, "-mc", `stty tostop; "$BIDE" run -v 0.5 sleep 1000; exit $?`)
	master := onTerminal(t, c, cmd)
	defer master.Close()
	defer guard(t, c)()
	seen := talk(t, master, [][2]string{{"sending signal TERM to \"sleep\"", ""}})
	if _, exit := end(t, c, cmd, strings.NewReader("")); exit != exitTimedOut {
		t.Errorf("exit code %d; seen %q", exit, seen)
	}
}

// A /proc with the pids of another namespace says nothing of the tree.
func TestRunForeignProc(t *testing.T) {
	c := crew.New()
	cmd := bideCmd("run", "-k", "0.1", "0.1", "sleep", "1000")
	cmd.Env = env(t, c)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
			t.Skipf("SKIPPED: this user, or this system, makes no pid namespace: %v", err)
		}
		t.Fatal(err)
	}
	if _, exit := end(t, c, cmd, strings.NewReader("")); exit != exitFailed || !strings.Contains(stderr.String(), "pid namespace") {
		t.Errorf("exit code %d, %s", exit, &stderr)
	}
}

// Without PATH a program is where execvp looks for it; and the command has no PATH either.
func TestRunWithoutPath(t *testing.T) {
	path := os.Getenv("PATH")
	t.Setenv("PATH", path) // which restores it
	os.Unsetenv("PATH")
	self, _ := os.Executable()
	cmd := exec.Command(self, "run", "60", "env")
	tr := traceOf(t, crew.New(), cmd, now)
	if tr.code != 0 || tr.stderr != "" || strings.Contains("\n"+tr.stdout, "\nPATH=") {
		t.Errorf("%+v", tr)
	}
}

// With --foreground the command is in bide's group, and a signal that is no key of a terminal's ends both.
func TestRunForeground(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		c := crew.New()
		cmd, out := begin(t, c, "run", "-f", "1000", "sh", "-c", `echo ready; cut -d' ' -f5 /proc/$$/stat /proc/$PPID/stat | uniq | wc -l; exec sleep 1000`)
		if line, err := out.ReadString('\n'); strings.TrimSpace(line) != "1" {
			t.Errorf("%s groups, %v", line, err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if _, exit := end(t, c, cmd, out); exit != exitSignal+int(sig) {
			t.Errorf("%v: exit code %d", sig, exit)
		}
	}
}

// On a terminal, --foreground lets the command have the keys, each of them once.
func TestRunForegroundTerminal(t *testing.T) {
	for _, test := range []struct {
		script string
		steps  [][2]string
		code   int
	}{
		{`trap 'n=$((n+1)); echo caught $n' INT; echo ready; until [ "$x" = end ]; do read x; done; echo "after $n"; exit 7`,
			[][2]string{{"ready", "\x03"}, {"caught 1", "end\n"}, {"after 1", ""}}, 7},
		{`trap 'echo caught' QUIT; echo ready; until [ "$x" = end ]; do read x; done; exit 7`,
			[][2]string{{"ready", "\x1c"}, {"caught", "end\n"}}, 7},
		{`echo ready; exec sleep 1000`, [][2]string{{"ready", "\x03"}}, 130},
		{`echo ready; exec sleep 1000`, [][2]string{{"ready", "\x1c"}}, 131},
	} {
		c := crew.New()
		cmd := bideCmd("run", "-f", "1000", "sh", "-c", test.script)
		master := onTerminal(t, c, cmd)
		release := guard(t, c)
		seen := talk(t, master, test.steps)
		if _, exit := end(t, c, cmd, strings.NewReader("")); exit != test.code {
			t.Errorf("%s: exit code %d, want %d; seen %q", test.script, exit, test.code, seen)
		}
		release()
		master.Close()
	}
}

// The report is written before bide dies of what has interrupted the command.
func TestRunReportIsFirst(t *testing.T) {
	for _, mode := range []string{"--report=json", "-f"} {
		c := crew.New()
		cmd := bideCmd("run", mode, "--report", "json", "1000", "sh", "-c", `echo ready; exec sleep 1000`)
		master := onTerminal(t, c, cmd)
		release := guard(t, c)
		talk(t, master, [][2]string{{"ready", "\x03"}, {`{"outcome":"ended","exit_code":130`, ""}, {`"command_signal":"INT"`, ""}})
		end(t, c, cmd, strings.NewReader(""))
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGINT {
			t.Errorf("%s: %v", mode, cmd.ProcessState)
		}
		release()
		master.Close()
	}
}

// With --foreground the end of the command may be known before the key that it died of: bide hears of that all the same.
func TestRunForegroundLateKey(t *testing.T) {
	const again = "BIDE_TEST_ON_TERMINAL"
	if os.Getenv(again) == "" {
		c := crew.New()
		cmd := exec.Command("sh", "-c", "unset "+asBide+"; "+again+`=1 exec "$BIDE" -test.run '^`+t.Name()+`$'`)
		master := onTerminal(t, c, cmd)
		defer master.Close()
		defer guard(t, c)()
		seen := talk(t, master, [][2]string{{"\n", ""}})
		if _, exit := end(t, c, cmd, strings.NewReader("")); exit != 0 {
			t.Errorf("exit code %d; seen %q", exit, seen)
		}
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 20 {
		r := &runner{runOptions: runOptions{foreground: true}, signals: make(chan os.Signal, 1), watched: make(chan struct{}),
			scope: bide.Open(t.Context())}
		signal.Notify(r.signals, syscall.SIGINT)
		over := make(chan struct{})
		close(over)
		if err := unix.Tgkill(unix.Getpid(), unix.Gettid(), syscall.SIGINT); err != nil { // it comes before this returns
			t.Fatal(err)
		}
		r.watch(over)
		signal.Stop(r.signals)
		r.scope.Close(nil)
		if !r.keyed.Load() {
			t.Fatal("the key was not heard of")
		}
	}
}

// A shell with job control keeps its terminal, and a script ends by Ctrl-C.
func TestRunUnderShell(t *testing.T) {
	bash := jobControl(t)
	file := filepath.Join(t.TempDir(), "file")
	interactive := []string{bash, "--norc", "--noprofile", "-i"}
	for name, test := range map[string]struct {
		args  []string
		steps [][2]string
		code  int
	}{
		"bg": {interactive, [][2]string{
			// It starts nobody: a shell that is stopped while it does hangs in its vfork, under timeout too.
			{"PROMPT", `mkfifo ` + file + `.bg; "$BIDE" run 1000 sh -c 'echo re""ady; read x <` + file + `.bg'` + "\n"},
			{"ready", "\x1a"},
			{"Stopped", "bg; echo back-$((1+1))\n"},
			{"back-2", "echo >" + file + ".bg; wait; echo still-$((1+1))\n"},
			{"still-2", "exit 5\n"},
		}, 5},
		"pager": {interactive, [][2]string{
			{"PROMPT", `"$BIDE" run 1000 sh -c 'until test -e ` + file + `.pager; do sleep 0.01; done' | ` +
				`sh -c 'stty -echo </dev/tty; touch ` + file + `.pager; cat; stty echo </dev/tty; echo pager-$((1+1))'` + "\n"},
			{"pager-2", "exit 6\n"},
		}, 6},
		"Ctrl-C": {[]string{bash, "-c", `for i in 1 2; do "$BIDE" run 1000 sh -c "echo round $i; exec sleep 1000"; done; echo never`}, [][2]string{
			{"round 1", "\x03"},
		}, 130},
		// Where the terminal is not handed over, --foreground lets the command read from it, and a script still ends by Ctrl-C.
		"foreground": {interactive, [][2]string{
			{"PROMPT", `"$BIDE" run -f 1000 sh -c 'echo re""ady >/dev/tty; read x </dev/tty; echo "got <$x>"' | cat` + "\n"},
			{"ready", "line\n"},
			{"got <line>", "exit 4\n"},
		}, 4},
		"foreground Ctrl-C": {[]string{bash, "-c", `for i in 1 2; do "$BIDE" run -f 1000 sh -c "echo round $i; exec sleep 1000"; done; echo never`}, [][2]string{
			{"round 1", "\x03"},
		}, 130},
		"Ctrl-\\": {[]string{bash, "-c", `trap 'exit 9' QUIT; "$BIDE" run 1000 sh -c "echo round 1; exec sleep 1000"; "$BIDE" run 1000 sleep 1000`}, [][2]string{
			{"round 1", "\x1c"},
		}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			c := crew.New()
			cmd := exec.Command(test.args[0], test.args[1:]...)
			master := onTerminal(t, c, cmd)
			defer master.Close()
			defer guard(t, c)()
			seen := talk(t, master, test.steps)
			if _, exit := end(t, c, cmd, strings.NewReader("")); exit != test.code {
				t.Errorf("exit code %d, want %d; seen %q", exit, test.code, seen)
			}
		})
	}
}
