package svg

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// A Plot has lines over an axis that is spaced as the caller wants, and a logarithmic one upwards.
type Plot struct {
	Title  string
	X      Axis
	Y      Axis // from its first tick to its last; positive
	Series []Series
}

// An Axis has a label, with the unit, and ticks in ascending order.
type Axis struct {
	Label string
	Ticks []Tick
}

// A Tick is a place with its text.
type Tick struct {
	At   float64
	Text string
}

// A Series is one line. Ours are drawn solid and stronger, others dashed.
type Series struct {
	Name   string
	Ours   bool
	Points []Point
}

// A Point is drawn at the bottom if its Y lies below the axis.
type Point struct{ X, Y float64 }

const (
	width, height = 760, 440
	left, right   = 78, 190 // right of the frame stand the names
	top, bottom   = 44, 56
	between       = 15 // of names, at least
)

// Draw writes the plot.
func (p Plot) Draw() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		width, height, html.EscapeString(p.Title))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="back" width="%d" height="%d"/>`+"\n", width, height)
	text(&b, "title", left, 24, "start", p.Title)
	p.axes(&b)
	names := make([]label, len(p.Series))
	for i, s := range p.Series {
		names[i] = p.line(&b, s, i)
	}
	apart(names)
	for _, n := range names {
		fmt.Fprintf(&b, `<text class="name c%d" x="%d" y="%s" text-anchor="start">%s</text>`+"\n",
			n.color, width-right+10, num(n.y+4), html.EscapeString(n.text))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p Plot) axes(b *bytes.Buffer) {
	for _, t := range p.Y.Ticks {
		y := p.y(t.At)
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%s" x2="%d" y2="%s"/>`+"\n", left, num(y), width-right, num(y))
		text(b, "tick", left-8, y+4, "end", t.Text)
	}
	for _, t := range p.X.Ticks {
		x := p.x(t.At)
		fmt.Fprintf(b, `<line class="grid" x1="%s" y1="%d" x2="%s" y2="%d"/>`+"\n", num(x), top, num(x), height-bottom)
		text(b, "tick", x, height-bottom+18, "middle", t.Text)
	}
	fmt.Fprintf(b, `<path class="axis" d="M%d %dV%dH%d"/>`+"\n", left, top, height-bottom, width-right)
	text(b, "label", (left+width-right)/2, height-12, "middle", p.X.Label)
	fmt.Fprintf(b, `<text class="label" transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		(top+height-bottom)/2, html.EscapeString(p.Y.Label))
}

// line draws a series, and says where its name belongs.
func (p Plot) line(b *bytes.Buffer, s Series, i int) label {
	kind := "other"
	if s.Ours {
		kind = "ours"
	}
	var path strings.Builder
	var y float64
	for k, pt := range s.Points {
		letter := "L"
		if k == 0 {
			letter = "M"
		}
		y = p.y(pt.Y)
		path.WriteString(letter + num(p.x(pt.X)) + " " + num(y))
	}
	color := i % colors
	fmt.Fprintf(b, `<path class="line %s c%d" d="%s"/>`+"\n", kind, color, path.String())
	for _, pt := range s.Points {
		marker(b, i, color, p.x(pt.X), p.y(pt.Y))
	}
	return label{y, color, s.Name}
}

// marker draws one of four shapes, so that lines are told apart without colours.
func marker(b *bytes.Buffer, i, color int, x, y float64) {
	switch i % 4 {
	case 0:
		fmt.Fprintf(b, `<circle class="dot c%d" cx="%s" cy="%s" r="3.5"/>`+"\n", color, num(x), num(y))
	case 1:
		fmt.Fprintf(b, `<rect class="dot c%d" x="%s" y="%s" width="6" height="6"/>`+"\n", color, num(x-3), num(y-3))
	case 2:
		fmt.Fprintf(b, `<path class="dot c%d" d="M%s %sl4 7h-8z"/>`+"\n", color, num(x), num(y-4))
	case 3:
		fmt.Fprintf(b, `<path class="dot c%d" d="M%s %sl4 4l-4 4l-4 -4z"/>`+"\n", color, num(x), num(y-4))
	}
}

func (p Plot) x(v float64) float64 {
	lo, hi := ends(p.X.Ticks)
	return left + (v-lo)/(hi-lo)*(width-left-right)
}

func (p Plot) y(v float64) float64 {
	lo, hi := ends(p.Y.Ticks)
	part := math.Log(max(v, lo)/lo) / math.Log(hi/lo)
	return height - bottom - part*(height-top-bottom)
}

func ends(ticks []Tick) (lo, hi float64) { return ticks[0].At, ticks[len(ticks)-1].At }

type label struct {
	y     float64
	color int
	text  string
}

// apart moves labels so that none covers another: down from the first, then back up from the bottom of the frame.
func apart(labels []label) {
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	for i := 1; i < len(labels); i++ {
		labels[i].y = max(labels[i].y, labels[i-1].y+between)
	}
	limit := float64(height - bottom)
	for i := len(labels) - 1; i >= 0; i-- {
		labels[i].y = min(labels[i].y, limit)
		limit = labels[i].y - between
	}
}

func text(b *bytes.Buffer, class string, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`+"\n",
		class, num(x), num(y), anchor, html.EscapeString(s))
}

// num rounds to a tenth of a pixel: what differs behind that, between processors, must not show.
func num(v float64) string {
	s := fmt.Sprintf("%.1f", v)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		return "0"
	}
	return s
}
