package plots

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"bide.invalid/bide/bench/internal/pair"
)

// A page is everything that was measured.
type page struct {
	parts []part
	plots []drawn
}

type part struct {
	pair.Row
	res      pair.Result
	verdicts []pair.Verdict
}

type drawn struct{ name, title string }

//go:embed method.md
var method string

func (p *page) markdown() []byte {
	var b strings.Builder
	b.WriteString(method)
	b.WriteString("\n## Machine\n\n" + p.machines() + "\n")
	b.WriteString("## Headlines\n\nThe case of each row that is furthest from its target, or met it by least.\n\n")
	b.WriteString(p.headlines(nil) + "\n")
	if len(p.plots) > 0 {
		b.WriteString("## Plots\n\n")
		for _, d := range p.plots {
			fmt.Fprintf(&b, "![%s](%s.svg)\n\n", d.title, d.name)
		}
	}
	b.WriteString(p.rfc12())
	b.WriteString("## Where we lose\n\nEvery case in which bide needs more than another does, or misses its target. Why, and what\nwas tried, is in [a design note](../design/0016-what-stays-short.md).\n\n")
	b.WriteString(p.lost() + "\n")
	b.WriteString(p.limits())
	b.WriteString("## Every case\n" + p.every("P"))
	if shown := p.every("S"); shown != "" {
		b.WriteString("\n## Scale and conditions\n\nThese rows have no targets.\n" + shown)
	}
	return []byte(b.String())
}

// every case of the rows of a kind.
func (p *page) every(kind string) string {
	var b strings.Builder
	for _, part := range p.parts {
		if strings.HasPrefix(part.Name, kind) {
			fmt.Fprintf(&b, "\n### %s: %s\n\n%s", part.Name, part.Title, cases(part.verdicts))
		}
	}
	return b.String()
}

// machines says where and when the rows were measured.
func (p *page) machines() string {
	lines := [][]string{{"rows", "machine", "Go", "commit", "day"}, {"---", "---", "---", "---", "---"}}
	for _, part := range p.parts {
		r := part.res
		m := r.Machine
		line := []string{part.Name, fmt.Sprintf("%s, %d cores, %s, kernel %s", m.CPU, m.Cores, m.System, m.Kernel), r.Go,
			r.Commit, day(r)}
		if r.Quick {
			line[0] += " (quick)"
		}
		if last := lines[len(lines)-1]; slices.Equal(last[1:], line[1:]) {
			last[0] += ", " + line[0]
		} else {
			lines = append(lines, line)
		}
	}
	return table(lines)
}

func day(r pair.Result) string { return strings.Split(r.Date, "T")[0] }

// headlines is a line for each of the rows that are named and were measured; nil: for all.
func (p *page) headlines(names []string) string {
	lines := [][]string{{"", "work", "case", "bide", "other", "ratio", "target", ""},
		{"---", "---", "---", "---", "---", "---", "---", "---"}}
	for _, part := range p.parts {
		if names != nil && !slices.Contains(names, part.Name) || !slices.ContainsFunc(part.verdicts, pair.Verdict.Judged) {
			continue
		}
		w := pair.Worst(part.verdicts)
		lines = append(lines, []string{part.Name, part.Title, w.Case, w.Of.Format(w.Figure), w.Against(), w.Times(),
			w.Wanted(), w.Word()})
	}
	return table(lines)
}

func (p *page) lost() string {
	lines := [][]string{{"", "case", "bide", "other", "ratio", "target", ""}, {"---", "---", "---", "---", "---", "---", "---"}}
	for _, part := range p.parts {
		for _, v := range part.verdicts {
			if v.Loses() {
				lines = append(lines, append([]string{part.Name}, cells(v)...))
			}
		}
	}
	if len(lines) == 2 {
		return "None of those that were measured.\n"
	}
	return table(lines)
}

func cases(verdicts []pair.Verdict) string {
	lines := [][]string{{"case", "bide", "other", "ratio", "target", ""}, {"---", "---", "---", "---", "---", "---"}}
	for _, v := range verdicts {
		lines = append(lines, cells(v))
	}
	return table(lines)
}

func cells(v pair.Verdict) []string {
	return []string{v.Case, v.Of.Format(v.Figure), v.Against(), v.Times(), v.Wanted(), v.Word()}
}

func table(lines [][]string) string {
	var b strings.Builder
	for _, cells := range lines {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + c + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
