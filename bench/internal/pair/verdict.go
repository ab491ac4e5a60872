package pair

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Verdict is a line with its figures.
type Verdict struct {
	Line
	Figure float64 // ours, the median
	Other  float64 // the rival's; 0 without one
	Ratio  Spread  // rival ÷ ours, or ours ÷ rival with Within; without a rival, our figure
	Short  float64 // the part of the target that is missing; 0 or less: met
}

// Judge compares what was measured with the row's lines. missing are lines that lack a figure.
func (row Row) Judge(m Measured) (all []Verdict, missing []Line) {
	for _, l := range row.Lines {
		if v, ok := l.judge(m); ok {
			all = append(all, v)
		} else {
			missing = append(missing, l)
		}
	}
	return all, missing
}

func (l Line) judge(m Measured) (v Verdict, ok bool) {
	ours, rival := m[l.Ours][l.Of.Name], m[l.Rival][l.Of.Name]
	if len(ours) == 0 || l.Rival != "" && len(rival) != len(ours) {
		return v, false
	}
	v = Verdict{Line: l, Figure: spread(ours).Median}
	switch {
	case l.Rival == "":
		v.Ratio = spread(ours)
		// Parts of a byte or of an allocation come from elsewhere in the process.
		v.Short = short(math.Round(v.Figure*10)/10, l.Target.bound)
		return v, true
	case l.Target.kind == within:
		v.Ratio = spread(ratios(ours, rival))
		v.Short = short(v.Ratio.Median, l.Target.bound)
	default:
		v.Ratio = spread(ratios(rival, ours))
		v.Short = 1 - v.Ratio.Median/l.Target.bound
	}
	v.Other = spread(rival).Median
	return v, true
}

// short is the part by which a figure is above its bound. A bound of nothing is met or missed as a whole.
func short(figure, bound float64) float64 {
	switch {
	case bound > 0:
		return figure/bound - 1
	case figure > bound:
		return 1
	}
	return -1
}

// Worst is the line that is furthest from its target, or that met it by least; the first if none has a target.
//
// Preconditions: there is one.
func Worst(all []Verdict) Verdict {
	var worst *Verdict
	for i, v := range all {
		if v.Target.kind != noTarget && (worst == nil || v.Short > worst.Short) {
			worst = &all[i]
		}
	}
	if worst == nil {
		return all[0]
	}
	return *worst
}

// Judged reports whether the line has a target.
func (l Line) Judged() bool { return l.Target.kind != noTarget }

// Met reports whether the target is reached; a line without one has nothing to miss.
func (v Verdict) Met() bool { return !v.Judged() || v.Short <= 0 }

// Loses reports whether we need more than the rival does, or miss the target.
func (v Verdict) Loses() bool {
	switch {
	case !v.Met():
		return true
	case v.Rival == "":
		return false
	case v.Target.kind == within:
		return v.Ratio.Median > 1
	}
	return v.Ratio.Median < 1
}

// Word is "met", "short by N %", or "shown" where there is no target.
func (v Verdict) Word() string {
	switch {
	case !v.Judged():
		return "shown"
	case v.Met():
		return "met"
	}
	// Rounded up: what is not met is short by something.
	return fmt.Sprintf("short by %.0f %%", math.Ceil(v.Short*100))
}

// Wanted is the target in words: "≥ 4.5 ×".
func (v Verdict) Wanted() string {
	switch b := v.Target.bound; v.Target.kind {
	case atLeast:
		return "≥ " + plain(b) + " ×"
	case within:
		return "≤ " + plain(b) + " ×"
	case atMost:
		return "≤ " + v.Of.Short(b)
	}
	return ""
}

// Times is the ratio with its spread, or without a rival the spread of our figure.
func (v Verdict) Times() string {
	if v.Rival == "" {
		if v.Ratio.Q1 == v.Ratio.Q3 {
			return ""
		}
		return "(" + v.Of.Short(v.Ratio.Q1) + "–" + v.Of.Short(v.Ratio.Q3) + ")"
	}
	return v.ratio() + " (" + digits(v.Ratio.Q1) + "–" + digits(v.Ratio.Q3) + ")"
}

func (v Verdict) ratio() string { return digits(v.Ratio.Median) + " ×" }

// Against is the rival with its figure.
func (v Verdict) Against() string {
	if v.Rival == "" {
		return ""
	}
	return name(v.Rival) + " " + v.Of.Short(v.Other)
}

func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Headline is the row in one line: its worst case, the figures of all rivals in it, the verdict.
func (row Row) Headline(all []Verdict) string {
	w := Worst(all)
	text := []string{w.Of.Format(w.Figure)}
	if w.Rival != "" {
		text = append(text, w.Against())
	}
	for _, v := range all {
		if v.Ours == w.Ours && v.Of == w.Of && v.Rival != w.Rival && v.Rival != "" {
			text = append(text, v.Against())
		}
	}
	line := fmt.Sprintf("%-3s %s: %s", row.Name, w.Case, strings.Join(text, ", "))
	if w.Rival != "" {
		line += "; " + w.ratio()
	}
	if w.Judged() {
		line += ", target " + w.Wanted()
	}
	return line + ", " + w.Word()
}

// Table is a line for each case, in columns.
func (row Row) Table(all []Verdict) string {
	rows := make([][]string, len(all))
	var width []int
	for i, v := range all {
		rows[i] = []string{v.Case, v.Of.Format(v.Figure), v.Against(), v.Times(), v.Wanted(), v.Word()}
		for c, cell := range rows[i] {
			if i == 0 {
				width = append(width, 0)
			}
			width[c] = max(width[c], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, cells := range rows {
		b.WriteString("    ")
		for c, cell := range cells {
			b.WriteString(cell)
			if c+1 < len(cells) {
				b.WriteString(strings.Repeat(" ", width[c]-len([]rune(cell))+2))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
