package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"bide.invalid/bide/bench/internal/pair"
)

// The processes that measure are this test's binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		os.Exit(run(os.Args[1:], testRows, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// constant is a row whose figures are known.
func constant(name string, quick bool, ours, theirs float64) pair.Row {
	return pair.Row{
		Name: name, Title: "work of " + name, Quick: quick, Procs: 2, Fresh: name == "P2",
		Run: func(r *pair.Run) error {
			for r.Next() {
				r.Record("ours", pair.Figures{pair.Ns: ours})
				r.Record("theirs", pair.Figures{pair.Ns: theirs})
			}
			return nil
		},
		Lines: []pair.Line{
			{Case: "all of it", Ours: "ours", Rival: "theirs", Of: pair.Ns, Target: pair.AtLeast(2)},
			{Case: "lost", Ours: "ours", Of: pair.Bytes}, // shown if it is there
		},
	}
}

var testRows = []pair.Row{
	constant("P1", true, 10, 30),
	constant("P2", false, 10, 15),
	{Name: "P3", Title: "breaks", Run: func(*pair.Run) error { return errors.New("no loopback here") }},
	{Name: "P4", Title: "forgets", Run: func(*pair.Run) error { return nil }, Lines: constant("", false, 0, 0).Lines},
	constant("P10", true, 1, 1),
	{Name: "S1", Title: "shows", NoGC: true, Run: uncollected, Lines: []pair.Line{
		{Case: "all of it", Ours: "ours", Rival: "theirs", Of: pair.Ns}}},
	{Name: "S2", Title: "shows nothing", Run: func(*pair.Run) error { return nil }},
}

func uncollected(r *pair.Run) error {
	if debug.SetGCPercent(-1) != -1 {
		return errors.New("the collector is on")
	}
	return constant("", false, 10, 20).Run(r)
}

const (
	headP1  = "P1  all of it: 10 ns, theirs 30 ns; 3 ×, target ≥ 2 ×, met\n"
	headP2  = "P2  all of it: 10 ns, theirs 15 ns; 1.5 ×, target ≥ 2 ×, short by 25 %\n"
	headP10 = "P10 all of it: 1 ns, theirs 1 ns; 1 ×, target ≥ 2 ×, short by 50 %\n"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args, stdout, stderr string // stderr: a part
		status               int
	}{
		{"-quick", headP1 + headP10, "", 0},
		{"P2 P1", headP2 + headP1, "", 0},
		{"-quick -v P2", headP2 + "    all of it  10 ns  theirs 15 ns  1.5 × (1.5–1.5)  ≥ 2 ×  short by 25 %\n", "", 0},
		{"P3 P1", headP1, "bide bench: P3 could not run: its process: exit status 1\n", 1},
		{"P4", "", "bide bench: P4 could not run: all of it: no figures ns to compare\n", 1},
		{"S2 S1", "S1  all of it: 10 ns, theirs 20 ns; 2 ×, shown\n", "bide bench: S2 could not run: no figures to show\n", 1},
		{"P1 P99", "", "bide bench: no row \"P99\": there are P1, P2, P3, P4, P10, S1, S2\n", 2},
		{"-slow", "", "flag provided but not defined: -slow\nusage: bench", 2},
		{"-h", "", "  P10  work of P10 (quick)\n", 0},
		{"-o main_test.go P1", "", "bide bench: main_test.go: line 1: ", 2},
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(c.args), testRows, &stdout, &stderr)
		if status != c.status || stdout.String() != c.stdout || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("bench %s: status %d, %q, %q; want %d, %q, %q", c.args, status, stdout.String(), stderr.String(),
				c.status, c.stdout, c.stderr)
		}
	}
}

func TestRaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw.jsonl")
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-o", path, "P2", "P1"}, testRows, &stdout, &stderr); status != 0 {
		t.Fatal(status, stderr.String())
	}
	all, err := pair.ReadFile(path)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for i, name := range []string{"P1", "P2"} {
		r := all[i]
		if r.Row != name || r.Procs != 2 || r.Go == "" || r.Commit == "" || len(r.Figures["ours"]["ns"]) != pair.Full.Rounds {
			t.Errorf("%+v", r)
		}
	}
}
