package plots

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/bench/internal/rows"
	"bide.invalid/bide/timer/queue"
)

// invented is a result of a row in which every figure of every side is known: n, and the rival's twice that.
func invented(row pair.Row, n float64) pair.Result {
	m := pair.Measured{}
	for _, l := range row.Lines {
		for i, side := range []string{l.Ours, l.Rival} {
			v := n * float64(i+1)
			m[side] = map[string][]float64{}
			for _, p := range pair.Percents {
				m[side][pair.Late(p).Name] = []float64{v * 1000 * p}
			}
			for _, l := range row.Lines {
				m[side][l.Of.Name] = []float64{v}
			}
		}
	}
	if row.Name == "P18" { // the table has queues that no line compares
		for _, c := range queue.All() {
			m[c.Name+"@insert+pop, 100"] = map[string][]float64{"ns": {n}}
		}
	}
	return row.Result(m, pair.Full, "0123456789ab", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
}

// checkout is a folder with raw results.
func checkout(t *testing.T, results ...pair.Result) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"docs/benchmarks", "docs/guides"} {
		if err := os.MkdirAll(at(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, res := range results {
		if err := pair.Keep(at(root, raw), res); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func everything(t *testing.T) string {
	var results []pair.Result
	for _, row := range rows.All {
		results = append(results, invented(row, 10))
	}
	return checkout(t, results...)
}

// Drawing twice leaves no difference, and nothing that could be plotted is missing.
func TestDraw(t *testing.T) {
	root := everything(t)
	guide := at(root, "docs/guides/choosing-a-timer.md")
	if err := os.WriteFile(guide, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	readme := at(root, "README.md")
	if err := os.WriteFile(readme, []byte("first\n"+begin+end+"last\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var drawn [2]map[string][]byte
	for i := range drawn {
		if err := Draw(root, rows.All); err != nil {
			t.Fatal(err)
		}
		drawn[i] = files(t, root)
	}
	if !maps.EqualFunc(drawn[0], drawn[1], bytes.Equal) {
		t.Error("the second drawing changed something")
	}
	page := string(drawn[0]["docs/benchmarks/README.md"])
	for _, plot := range all {
		text := string(drawn[0]["docs/benchmarks/"+plot.name+".svg"])
		if text == "" || !strings.Contains(page, "]("+plot.name+".svg)") {
			t.Errorf("%s is not drawn, or not shown", plot.name)
		}
	}
	for name, curves := range map[string][]curve{
		"lateness-1m": expiring, "lateness-100k": expiring, "lateness-sleep": sleeping, "lateness-tick": ticking,
		"lateness-idle": loaded, "lateness-busy": loaded, "lateness-gc": loaded, "contention": locking,
		"contention-yield": locking, "cost": cost.curves, "collector": collector.curves, "scale": pending.curves,
		"processors": processors.curves, "shards": shards.curves,
	} {
		text := string(drawn[0]["docs/benchmarks/"+name+".svg"])
		for _, c := range curves {
			if !strings.Contains(text, ">"+c.name+"<") {
				t.Errorf("%s has no curve %q", name, c.name)
			}
		}
		if n := strings.Count(text, `class="line`); n != len(curves) {
			t.Errorf("%s has %d lines, want %d", name, n, len(curves))
		}
	}
	for _, c := range queue.All() {
		if c.Max == 0 && !strings.Contains(page, "\n| "+c.Name+" | ") {
			t.Errorf("RFC 12's table has no %s", c.Name)
		}
	}
	for _, row := range rows.All {
		if !strings.Contains(page, "\n### "+row.Name+": ") {
			t.Errorf("the page has no %s", row.Name)
		}
	}
	text := string(drawn[0]["docs/guides/choosing-a-timer.md"])
	if !strings.HasPrefix(text, "before\n"+begin+"![") || !strings.HasSuffix(text, end+"after\n") ||
		strings.Contains(text, "old") || !strings.Contains(text, "| P11 |") {
		t.Errorf("the guide is\n%s", text)
	}
	text = string(drawn[0]["README.md"])
	for _, want := range []string{"first\n" + begin + "![Start and cancel a timeout](docs/benchmarks/cost.svg)\n",
		", commit 0123456789ab, 2026-03-01.\nOf ", " are met.\n" + end + "last\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("README has no %q:\n%s", want, text)
		}
	}
	for _, f := range fronts {
		if !strings.Contains(text, "\n| "+f.row+" | ") || !strings.Contains(text, " | "+f.of+" | ") || !strings.Contains(text, " | "+f.rival+" ") {
			t.Errorf("README has no %v", f)
		}
	}
}

func files(t *testing.T, root string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"docs/benchmarks/*", "docs/guides/*", "README.md"} {
		names, err := filepath.Glob(at(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(rel)] = text
		}
	}
	return all
}

// Where we lose says what is short of its target, and what another does better, also without one.
func TestWhereWeLose(t *testing.T) {
	row := pair.Row{Name: "P1", Title: "work", Lines: []pair.Line{
		{Case: "won", Ours: "a", Rival: "b", Of: pair.Ns, Target: pair.AtLeast(2)},
		{Case: "short", Ours: "a", Rival: "b", Of: pair.Ns, Target: pair.AtLeast(4)},
		{Case: "worse", Ours: "b", Rival: "a", Of: pair.Ns},
	}}
	res := invented(row, 0)
	res.Figures = pair.Measured{"a": {"ns": {10}}, "b": {"ns": {20}}}
	root := checkout(t, res)
	if err := Draw(root, []pair.Row{row}); err != nil {
		t.Fatal(err)
	}
	page := string(files(t, root)["docs/benchmarks/README.md"])
	_, rest, _ := strings.Cut(page, "## Where we lose")
	lost, _, _ := strings.Cut(rest, "## Every case")
	for text, want := range map[string]bool{"| P1 | short | 10 ns |": true, "| P1 | worse |": true, "| won |": false} {
		if strings.Contains(lost, text) != want {
			t.Errorf("%q among what is lost: %v; it is\n%s", text, !want, lost)
		}
	}
	if !strings.Contains(page, "| P1 | work | short | 10 ns | b 20 ns |") {
		t.Errorf("no headline in\n%s", page)
	}
}

// A row that was not measured has no plot, and is no failure.
func TestOneRow(t *testing.T) {
	root := checkout(t, invented(rows.All[1], 10))
	if err := Draw(root, rows.All); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(files(t, root)))
	if want := []string{"docs/benchmarks/README.md", "docs/benchmarks/raw.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDrawFails(t *testing.T) {
	strange := pair.Row{Name: "P99", Lines: rows.All[0].Lines}
	for _, c := range []struct{ root, guide, want string }{
		{t.TempDir(), "", "no results in docs/benchmarks/raw.jsonl"},
		{checkout(t, invented(strange, 1)), "", `docs/benchmarks/raw.jsonl: no row "P99": there are P1, `},
		{everything(t), "text\n", "docs/guides/choosing-a-timer.md: no line <!-- generated: make plots -->"},
		{everything(t), begin, "docs/guides/choosing-a-timer.md: no line <!-- end --> after <!-- generated: make plots -->"},
	} {
		if c.guide != "" {
			if err := os.WriteFile(at(c.root, "docs/guides/choosing-a-timer.md"), []byte(c.guide), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := Draw(c.root, rows.All); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A machine of few cores is said to be one; what was measured on many says nothing.
func TestLimits(t *testing.T) {
	row := pair.Row{Name: "P1", Lines: rows.All[0].Lines[:1]}
	for cores, want := range map[int]string{2: "## What 2 cores cannot show", 4: "GOMAXPROCS above 4", 8: ""} {
		res := invented(row, 1)
		res.Machine.Cores = cores
		if got := (&page{parts: []part{{row, res, nil}}}).limits(); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("of %d cores: %q", cores, got)
		}
	}
}

// What is committed is what the raw results of the same commit say.
func TestCommittedIsDrawn(t *testing.T) {
	const root = "../../.."
	want, err := render(root, rows.All)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		got, err := os.ReadFile(at(root, name))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s is not what its raw results say (%v): run make plots", name, err)
		}
	}
}
