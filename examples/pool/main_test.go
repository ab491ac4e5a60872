package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// The program as a user runs it.
func TestRunRealTime(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "pool")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var stdout, stderr bytes.Buffer
	var got, bounded, made int
	var m []string
	for try := 0; try < 10 && got < conns; try++ { // a machine may stand still for all of the 100 ms, but not each time
		stdout.Reset()
		stderr.Reset()
		cmd := exec.Command(exe)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
		}
		m = regexp.MustCompile(`(?m)^(\d+) got one, (\d+) were bounded; (\d+) connections were made$`).FindStringSubmatch(stdout.String())
		if m == nil {
			t.Fatalf("it says\n%s", stdout.String())
		}
		_, _ = fmt.Sscan(strings.Join(m[1:], " "), &got, &bounded, &made)
	}
	if got+bounded != users || got < conns || made < 1 || made > conns {
		t.Errorf("it says %q", m[0])
	}
	for what, want := range map[string]int{" got 127.": got, " bounded after ": bounded} {
		if n := strings.Count(stdout.String(), what); n != want {
			t.Errorf("%d lines with %q, want %d:\n%s", n, what, want, stdout.String())
		}
	}
	if !strings.HasSuffix(stdout.String(), "\nno connection is left, and no goroutine\n") || stderr.Len() != 0 {
		t.Errorf("it says\n%s%s", stdout.String(), stderr.String())
	}
}

// What it looks for it would find: a count that does not go down.
func TestLeftRealTime(t *testing.T) {
	if n := left(context.Background(), 2, func() int { return 3 }); n != 3 {
		t.Errorf("%d are left", n)
	}
	n := 10
	if got := left(context.Background(), 2, func() int { n--; return n }); got != 2 {
		t.Errorf("%d are left", got)
	}
}

// A server that is not there: an error, and nothing is left. On a clock that stands still nobody is bounded before he is
// refused.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	before := runtime.NumGoroutine()
	err = bide.Run(context.Background(), func(s *bide.Scope) error {
		return demo(s, l.Addr().String(), os.Stderr)
	}, bide.Clock(clock.NewVirtual()))
	if err == nil {
		t.Error("no error")
	}
	if n := left(context.Background(), before, runtime.NumGoroutine); n > before {
		t.Errorf("%d goroutines are left", n-before)
	}
}
