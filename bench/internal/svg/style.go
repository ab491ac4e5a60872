package svg

import (
	"fmt"
	"strings"
)

// A palette has the colours of one scheme. Those of the lines are told apart by people who see no red and green, too.
type palette struct {
	text, dim, back, grid string
	lines                 [colors]string
}

const colors = 6

var (
	light = palette{"#24292f", "#57606a", "#ffffff", "#d8dee4",
		[colors]string{"#0072b2", "#c14a00", "#00795a", "#a3397b", "#806000", "#57606a"}}
	dark = palette{"#e6edf3", "#9198a1", "#0d1117", "#30363d",
		[colors]string{"#56b4e9", "#ff9a57", "#3fc99b", "#f08cc4", "#e3c34d", "#9198a1"}}
)

var style = `<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif }
.title { font-size: 15px; font-weight: 600 }
.grid, .axis { stroke-width: 1; fill: none }
.ours { stroke-width: 2.5; fill: none }
.other { stroke-width: 1.5; fill: none; stroke-dasharray: 6 4 }
` + light.css() + "@media (prefers-color-scheme: dark) {\n" + dark.css() + "}\n</style>\n"

func (p palette) css() string {
	var b strings.Builder
	fmt.Fprintf(&b, "text { fill: %s }\n.tick { fill: %s }\n.back { fill: %s }\n", p.text, p.dim, p.back)
	fmt.Fprintf(&b, ".grid { stroke: %s }\n.axis { stroke: %s }\n", p.grid, p.dim)
	for i, c := range p.lines {
		fmt.Fprintf(&b, ".line.c%d { stroke: %s } .dot.c%d, .name.c%d { fill: %s }\n", i, c, i, i, c)
	}
	return b.String()
}
