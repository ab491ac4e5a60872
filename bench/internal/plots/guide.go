package plots

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// guides have a part that is made here.
var guides = []struct {
	path string
	of   func(p *page) string
}{
	{"docs/guides/choosing-a-timer.md", choosing},
}

// timers are the rows that are about timers.
var timers = []string{"P1", "P2", "P7", "P8", "P9", "P10", "P11"}

// choosing is the table of the timers' rows, with the plot of what they cost.
func choosing(p *page) string {
	var b strings.Builder
	for _, d := range p.plots {
		if d.name == "cost" {
			b.WriteString("![" + d.title + "](../benchmarks/cost.svg)\n\n")
		}
	}
	b.WriteString(p.headlines(timers))
	return b.String()
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
