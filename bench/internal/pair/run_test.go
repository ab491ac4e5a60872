package pair

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

var brief = Plan{Rounds: 3, Divide: 1000}

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		fresh bool
		want  string
	}{
		{false, "o, a, b, a, b, a, b, a, b, c, c, c, c"}, // the first of each is not counted
		{true, "o, a, b, c"},
	} {
		order, turn := []string{"o"}, 0.0
		m, err := Measure(Row{Fresh: c.fresh, Run: func(r *Run) error {
			for r.Next() {
				for _, side := range []string{"a", "b"} {
					order = append(order, side)
					turn++
					r.Record(side, Figures{Ns: turn})
				}
			}
			for r.Next() {
				order = append(order, "c")
				r.Record("c", Figures{Bytes: 1})
			}
			return nil
		}}, brief)
		if got := strings.Join(order, ", "); err != nil || got != c.want {
			t.Errorf("turns %s (%v), want %s", got, err, c.want)
		}
		want := "map[a:map[ns:[3 5 7]] b:map[ns:[4 6 8]] c:map[B:[1 1 1]]]"
		if c.fresh {
			want = "map[a:map[ns:[1]] b:map[ns:[2]] c:map[B:[1]]]"
		}
		if fmt.Sprint(m) != want {
			t.Errorf("%v, want %s", m, want)
		}
	}
}

// A row may want fewer rounds than the plan has, and never gets more.
func TestFewerRounds(t *testing.T) {
	for _, c := range []struct{ rounds, want int }{{0, 3}, {2, 2}, {9, 3}} {
		for _, fresh := range []bool{false, true} {
			row := Row{Fresh: fresh, Rounds: c.rounds, Run: func(r *Run) error {
				for r.Next() {
					r.Record("a", Figures{Ns: 1})
				}
				return nil
			}}
			all := Measured{}
			for range row.Processes(brief) {
				m, err := Measure(row, brief)
				if err != nil {
					t.Fatal(err)
				}
				all.Add(m)
			}
			if got := len(all["a"]["ns"]); got != c.want {
				t.Errorf("%d rounds wanted, fresh %v: %d, want %d", c.rounds, fresh, got, c.want)
			}
		}
	}
}

func TestOp(t *testing.T) {
	var sink *[2]int64
	ops := 0
	m, err := Measure(Row{Run: func(r *Run) error {
		for r.Next() {
			r.Op("allocates", func(n int) {
				for range n {
					sink = new([2]int64)
				}
			})
			r.Op("counts", func(n int) { ops += n })
		}
		return nil
	}}, brief)
	if err != nil || ops == 0 || sink == nil {
		t.Fatal(m, err, ops)
	}
	for _, c := range []struct {
		side   string
		metric Metric
		least  float64
	}{
		{"allocates", Allocs, 1}, {"allocates", Bytes, 16}, {"allocates", Ns, 0}, {"counts", Allocs, 0}, {"counts", Bytes, 0},
	} {
		values := m[c.side][c.metric.Name]
		if len(values) != brief.Rounds {
			t.Errorf("%s has %d figures %s", c.side, len(values), c.metric.Name)
		}
		for _, v := range values {
			if v < c.least {
				t.Errorf("%s needs %v %s, want at least %v", c.side, v, c.metric.Name, c.least)
			}
		}
	}
}

func TestRunFails(t *testing.T) {
	broken := errors.New("no loopback")
	if _, err := Measure(Row{Run: func(*Run) error { return broken }}, brief); err != broken {
		t.Errorf("%v, want %v", err, broken)
	}
}

// A side that is recorded twice in a round would make pairs of figures that are none.
func TestRecordTwice(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "a has 1 figures ns before round 1") {
			t.Errorf("panicked with %s", text)
		}
	}()
	_, _ = Measure(Row{Run: func(r *Run) error {
		for r.Next() {
			r.Record("a", Figures{Ns: 1})
			r.Record("a", Figures{Ns: 1})
		}
		return nil
	}}, brief)
}

func TestPick(t *testing.T) {
	all := []Row{{Name: "P1", Quick: true}, {Name: "P2"}, {Name: "P10", Quick: true}}
	for _, c := range []struct {
		quick bool
		names []string
		want  string
	}{
		{false, nil, "P1 P2 P10"},
		{true, nil, "P1 P10"},
		{true, []string{"P2"}, "P2"},
		{false, []string{"P10", "P1"}, "P10 P1"},
		{false, []string{"P99"}, `no row "P99": there are P1, P2, P10`},
		{false, []string{"P1", "p2"}, `no row "p2": there are P1, P2, P10`},
	} {
		rows, err := Pick(all, c.quick, c.names)
		var got []string
		for _, r := range rows {
			got = append(got, r.Name)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("quick %v, %v: %v, want %s", c.quick, c.names, got, c.want)
		}
	}
}

func TestCPUTime(t *testing.T) {
	before, err := CPUTime()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("SKIPPED: this system does not tell a process its CPU time")
	}
	after, err2 := CPUTime()
	if err != nil || err2 != nil || before <= 0 || after < before {
		t.Errorf("%v (%v), then %v (%v)", before, err, after, err2)
	}
}
