package main

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the built command.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "shutdown")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "shutdown")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// signals skips a test where processes cannot be sent any.
func signals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot be sent SIGTERM")
	}
}

// inOrder checks that the lines match, one after the other.
func inOrder(t *testing.T, text string, lines ...string) {
	t.Helper()
	rest := text
	for _, want := range lines {
		at := regexp.MustCompile(want).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no %q, or not in order, in\n%s", want, text)
			return
		}
		rest = rest[at[1]:]
	}
}

// The program stops itself: drain, grace, hard stop, report, exit code.
func TestSelftestRealTime(t *testing.T) {
	signals(t)
	cmd := exec.Command(program, "-selftest", "-grace", "5s") // in which the slow one ends, who takes 0.7 s
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	_ = cmd.Run()
	t.Logf("took %v, with a grace of 5s", time.Since(begin))
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	if took := time.Since(begin); took < 5*time.Second {
		t.Errorf("the grace was cut to %v", took)
	}
	inOrder(t, stdout.String(), "in flight: GET /slow", "in flight: GET /stuck", "sending SIGTERM", "draining", "hard stop")
	inOrder(t, stdout.String(), "in flight: GET /slow", "client: /slow: 200 OK", "hard stop")
	inOrder(t, stderr.String(), `stopping scope=shutdown reason="terminated signal received" grace=5s`, "hard stop", "left:", `goroutine count=`)
	inOrder(t, stderr.String(), `left: shutdown/GET /stuck: open \S+, waiting for future`)
	inOrder(t, stderr.String(), `syncs\.\(\*Future\[\.\.\.\]\)\.Wait .*main\.\(\*app\)\.stuck main\.go:`)
	if strings.Contains(stderr.String(), "left: shutdown/GET /slow") {
		t.Errorf("somebody who was done is reported:\n%s", stderr.String())
	}
}

// The built program, as a service manager sees it: it serves until it is sent a signal.
func TestSignalFromOutsideRealTime(t *testing.T) {
	signals(t)
	for _, x := range []struct {
		name   string
		sig    os.Signal
		path   string // of a request in flight
		grace  string
		code   int
		stdout []string
	}{
		{"nobody there", syscall.SIGTERM, "", "1m", 0, []string{"draining", "drained"}},
		{"a slow one", syscall.SIGTERM, "/slow", "1m", 0, []string{"draining", "drained"}},
		{"a stuck one", syscall.SIGTERM, "/stuck", "1s", 143, []string{"draining", "hard stop"}},
		{"a stuck one, interrupted", os.Interrupt, "/stuck", "1s", 130, []string{"draining", "hard stop"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(program, "-client=false", "-grace", x.grace)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			lines := bufio.NewScanner(out)
			until := func(want string) string {
				for lines.Scan() {
					text.WriteString(lines.Text() + "\n")
					if found := regexp.MustCompile(want).FindString(lines.Text()); found != "" {
						return found
					}
				}
				t.Fatalf("no %q in\n%s", want, text.String())
				return ""
			}
			url := until(`http://\S+`)
			answered := make(chan string, 1)
			if x.path != "" {
				go func() {
					resp, err := (&http.Client{Transport: &http.Transport{}}).Get(url + x.path)
					if err != nil {
						answered <- "none"
						return
					}
					resp.Body.Close()
					answered <- resp.Status
				}()
				until("in flight: GET " + x.path)
			}
			if err := cmd.Process.Signal(x.sig); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				text.WriteString(lines.Text() + "\n")
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != x.code {
				t.Errorf("exit code %d, want %d\n%s\n%s", code, x.code, text.String(), stderr.String())
			}
			inOrder(t, text.String(), x.stdout...)
			if x.path == "/slow" {
				if a := <-answered; a != "200 OK" {
					t.Errorf("a request in flight was answered by %q", a)
				}
			}
			if x.path == "/stuck" {
				inOrder(t, stderr.String(), `left: shutdown/GET /stuck: open \S+, waiting for future`)
			}
		})
	}
}
