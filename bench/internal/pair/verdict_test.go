package pair

import (
	"strings"
	"testing"
)

// of makes the figures of one metric.
func of(m Metric, sides map[string][]float64) Measured {
	all := Measured{}
	for side, values := range sides {
		all[side] = map[string][]float64{m.Name: values}
	}
	return all
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name        string
		of          Metric
		target      Target
		ours, rival []float64
		ratio       float64
		word, wants string
		loses       bool
	}{
		{"faster", Ns, AtLeast(4.5), []float64{10, 20, 10}, []float64{50, 100, 50}, 5, "met", "≥ 4.5 ×", false},
		{"just", Ns, AtLeast(5), []float64{10}, []float64{50}, 5, "met", "≥ 5 ×", false},
		{"short", Ns, AtLeast(5), []float64{10}, []float64{44}, 4.4, "short by 12 %", "≥ 5 ×", true},
		{"short by next to nothing", Ns, AtLeast(5), []float64{10}, []float64{49.99}, 4.999, "short by 1 %", "≥ 5 ×", true},
		{"parity", CPU, Within(1.1), []float64{10.5}, []float64{10}, 1.05, "met", "≤ 1.1 ×", true},
		{"cheaper than wanted", CPU, Within(1.1), []float64{5}, []float64{10}, 0.5, "met", "≤ 1.1 ×", false},
		{"no parity", CPU, Within(1.1), []float64{13.2}, []float64{10}, 1.32, "short by 20 %", "≤ 1.1 ×", true},
		{"budget", Bytes, AtMost(56), []float64{56.02, 55, 57}, nil, 56.02, "met", "≤ 56 B", false},
		{"over budget", Late(99), AtMost(25e6), []float64{30e6}, nil, 30e6, "short by 20 %", "≤ 25 ms", true},
		{"nothing", Allocs, AtMost(0), []float64{0.004}, nil, 0.004, "met", "≤ 0", false},
		{"more than nothing", Bytes, AtMost(0), []float64{48}, nil, 48, "short by 100 %", "≤ 0 B", true},
		{"shown", Ns, Target{}, []float64{10}, []float64{20}, 2, "shown", "", false},
		{"shown, and lost", Ns, Target{}, []float64{10}, []float64{5}, 0.5, "shown", "", true},
		{"shown alone", Ns, Target{}, []float64{10}, nil, 10, "shown", "", false},
	} {
		line := Line{Case: c.name, Ours: "ours", Of: c.of, Target: c.target}
		sides := map[string][]float64{"ours": c.ours}
		if c.rival != nil {
			line.Rival, sides["theirs@here"] = "theirs@here", c.rival
		}
		all, missing := Row{Lines: []Line{line}}.Judge(of(c.of, sides))
		if len(all) != 1 || missing != nil {
			t.Fatalf("%s: %v, missing %v", c.name, all, missing)
		}
		v := all[0]
		if rounded(v.Ratio.Median) != rounded(c.ratio) || v.Word() != c.word || v.Wanted() != c.wants || v.Loses() != c.loses {
			t.Errorf("%s: %v, %q, %q, loses: %v; want %v, %q, %q, %v", c.name, v.Ratio.Median, v.Word(), v.Wanted(),
				v.Loses(), c.ratio, c.word, c.wants, c.loses)
		}
	}
}

func TestMissing(t *testing.T) {
	row := Row{Lines: []Line{
		{Case: "there", Ours: "a", Rival: "b", Of: Ns},
		{Case: "no such side", Ours: "c", Of: Ns},
		{Case: "no such rival", Ours: "a", Rival: "c", Of: Ns},
		{Case: "no such metric", Ours: "a", Of: Bytes},
		{Case: "another number of rounds", Ours: "a", Rival: "short", Of: Ns},
	}}
	all, missing := row.Judge(of(Ns, map[string][]float64{"a": {1, 1}, "b": {2, 2}, "short": {1}}))
	if len(all) != 1 || all[0].Case != "there" || len(missing) != 4 {
		t.Errorf("%v, missing %v", all, missing)
	}
}

var sample = Row{Name: "P7", Lines: []Line{
	{Case: "quick", Ours: "ours", Rival: "new@1M", Of: Ns, Target: AtLeast(2)},
	{Case: "quick", Ours: "ours", Rival: "old@1M", Of: Ns},
	{Case: "lean", Ours: "ours", Of: Bytes, Target: AtMost(0)},
}}

func sampled(ours float64, bytes float64) []Verdict {
	m := of(Ns, map[string][]float64{"ours": {ours, ours, ours}, "new@1M": {90, 100, 110}, "old@1M": {300, 300, 300}})
	m["ours"]["B"] = []float64{bytes, bytes, bytes}
	all, _ := sample.Judge(m)
	return all
}

// The first word is the row, the last what came of it; between them is the worst case with everybody's figures.
func TestHeadline(t *testing.T) {
	for _, c := range []struct {
		ours, bytes float64
		want        string
	}{
		{40, 0, "P7  quick: 40 ns, new 100 ns, old 300 ns; 2.5 ×, target ≥ 2 ×, met"},
		{62.5, 0, "P7  quick: 62.5 ns, new 100 ns, old 300 ns; 1.6 ×, target ≥ 2 ×, short by 20 %"},
		{62.5, 16, "P7  lean: 16 B, target ≤ 0 B, short by 100 %"},
	} {
		if got := sample.Headline(sampled(c.ours, c.bytes)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A row that judges nothing shows its first line.
func TestHeadlineShown(t *testing.T) {
	row := Row{Name: "S1", Lines: []Line{sample.Lines[1], {Case: "later", Ours: "ours", Of: Ns}}}
	all, _ := row.Judge(of(Ns, map[string][]float64{"ours": {100}, "old@1M": {300}}))
	if got, want := row.Headline(all), "S1  quick: 100 ns, old 300 ns; 3 ×, shown"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	got := sample.Table(sampled(40, 0))
	want := strings.Join([]string{
		"    quick  40 ns  new 100 ns  2.5 × (2.38–2.62)  ≥ 2 ×  met",
		"    quick  40 ns  old 300 ns  7.5 × (7.5–7.5)           shown",
		"    lean   0 B                                   ≤ 0 B  met",
		"",
	}, "\n")
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}
