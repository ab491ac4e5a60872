package plots

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bide.invalid/bide/bench/internal/pair"
)

// guides have a part that is made here.
var guides = []struct {
	path string
	of   func(p *page) string
}{
	{"docs/guides/choosing-a-timer.md", choosing},
	{"README.md", front},
}

// timers are the rows that are about timers.
var timers = []string{"P1", "P2", "P7", "P8", "P9", "P10", "P11"}

// choosing is the table of the timers' rows, with the plot of what they cost.
func choosing(p *page) string {
	return p.image("cost", "../benchmarks/") + p.headlines(timers)
}

// fronts are the cases that README shows, each with one rival.
var fronts = []struct{ row, of, rival string }{
	{"P1", "relative, none pending", "time.AfterFunc+Stop"},
	{"P1", "absolute, 1M pending", "Timer.Reset+Stop"},
	{"P3", "nobody looks", "WithTimeout+cancel"},
	{"P3", "nested three, looked at", "WithTimeout+cancel"},
	{"P5", "depth 1000", "ctx.Err"},
	{"P10", "100µs", "time.Sleep"},
	{"P12", "scope", "select+NewTimer"},
	{"P13", "uncontended, scope", "sync.Mutex"},
	{"P13", "2 goroutines", "sync.Mutex"},
	{"P17", "write and read", "SetDeadline"},
	{"P19", "directly", "cancelCtx"},
}

// front is a line for each of them, where they were measured, and how many of all targets are met.
func front(p *page) string {
	lines := [][]string{{"", "work", "case", "bide", "other", "ratio", "target", ""},
		{"---", "---", "---", "---", "---", "---", "---", "---"}}
	var wheres []string
	for _, f := range fronts {
		part, v, ok := p.find(f.row, f.of, f.rival)
		if !ok {
			continue
		}
		lines = append(lines, append([]string{part.Name, part.Title}, cells(v)...))
		m, r := part.res.Machine, part.res
		where := fmt.Sprintf("%s, %d cores, %s, %s, commit %s, %s", m.CPU, m.Cores, m.System, r.Go, r.Commit, day(r))
		if !slices.Contains(wheres, where) {
			wheres = append(wheres, where)
		}
	}
	if len(wheres) == 0 {
		return "Nothing of this was measured.\n"
	}
	targets, met := p.score()
	return p.image("cost", "docs/benchmarks/") + table(lines) + "\nMeasured on " + strings.Join(wheres, ";\non ") + ".\n" +
		fmt.Sprintf("Of %d targets %d are met.\n", targets, met)
}

// find is the first line of a case and a rival.
func (p *page) find(row, of, rival string) (part, pair.Verdict, bool) {
	for _, part := range p.parts {
		for _, v := range part.verdicts {
			if name, _, _ := strings.Cut(v.Rival, "@"); part.Name == row && v.Case == of && name == rival {
				return part, v, true
			}
		}
	}
	return part{}, pair.Verdict{}, false
}

func (p *page) score() (targets, met int) {
	for _, part := range p.parts {
		for _, v := range part.verdicts {
			if v.Judged() {
				targets++
				if v.Met() {
					met++
				}
			}
		}
	}
	return targets, met
}

// image shows a plot, if it was drawn.
func (p *page) image(name, dir string) string {
	for _, d := range p.plots {
		if d.name == name {
			return "![" + d.title + "](" + dir + name + ".svg)\n\n"
		}
	}
	return ""
}

// The marks: what stands between them is made here, the rest of the file is written by hand.
const (
	begin = "<!-- generated: make plots -->\n"
	end   = "<!-- end -->\n"
)

// between puts made in the place of what stands between the marks.
func between(text []byte, made string) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(begin))
	if !ok {
		return nil, errors.New("no line " + strings.TrimSpace(begin))
	}
	_, after, ok := bytes.Cut(rest, []byte(end))
	if !ok {
		return nil, errors.New("no line " + strings.TrimSpace(end) + " after " + strings.TrimSpace(begin))
	}
	return slices.Concat(before, []byte(begin+made+end), after), nil
}
