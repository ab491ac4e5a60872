package plots

import (
	"math"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/bench/internal/svg"
)

// all plots, in the order of the page. A plot is left out if its row was not measured.
var all = []struct {
	name string
	of   func(p *page) (svg.Plot, bool)
}{
	{"cost", cost},
	{"lateness-1m", func(p *page) (svg.Plot, bool) {
		return lateness(p, "P8", "1 million timers due within a second", expiring)
	}},
	{"lateness-100k", func(p *page) (svg.Plot, bool) {
		return lateness(p, "P9", "100 thousand timers spread over a second", expiring)
	}},
	{"lateness-sleep", func(p *page) (svg.Plot, bool) {
		return lateness(p, "P10", "sleeping for 100 µs and for 1 ms", sleeping)
	}},
	{"lateness-tick", func(p *page) (svg.Plot, bool) { return lateness(p, "P11", "ticks at 1 kHz", ticking) }},
}

// A curve is a side as it is drawn.
type curve struct {
	side string // as it was recorded
	name string
	ours bool
}

var expiring = []curve{
	{"owner", "an owner", true},
	{"AfterFunc, Inline", "timer.AfterFunc, Inline", true},
	{"AfterFunc", "timer.AfterFunc", true},
	{"time.AfterFunc", "time.AfterFunc", false},
}

var sleeping = []curve{
	{"bide.Sleep@100µs", "bide.Sleep 100 µs, precise", true},
	{"bide.Sleep@1ms", "bide.Sleep 1 ms, precise", true},
	{"time.Sleep@100µs", "time.Sleep 100 µs", false},
	{"time.Sleep@1ms", "time.Sleep 1 ms", false},
}

var ticking = []curve{
	{"timer.Every", "timer.Every, precise", true},
	{"time.Ticker", "time.Ticker", false},
}

// figures are a row's, nil if it was not measured.
func (p *page) figures(row string) pair.Measured {
	for _, part := range p.parts {
		if part.Name == row {
			return part.res.Figures
		}
	}
	return nil
}

// cost is what starting and canceling a timeout costs, against how many others are pending.
func cost(p *page) (svg.Plot, bool) {
	figures := p.figures("P1")
	x := []svg.Tick{{At: 0, Text: "0"}, {At: 1, Text: "10 thousand"}, {At: 2, Text: "1 million"}}
	pending := []string{"@none pending", "@10k pending", "@1M pending"}
	plot := svg.Plot{
		Title: "Start and cancel a timeout",
		X:     svg.Axis{Label: "other timers pending", Ticks: x},
		Y:     svg.Axis{Label: "time (ns)"},
	}
	for _, c := range []curve{
		{"absolute", "an owner, deadline known", true},
		{"relative", "an owner, from a duration", true},
		{"timer.AfterFunc+Stop", "timer.AfterFunc + Stop", true},
		{"Timer.Reset+Stop", "time.Timer: Reset + Stop", false},
		{"time.AfterFunc+Stop", "time.AfterFunc + Stop", false},
		{"WithTimeout+cancel", "WithTimeout + cancel", false},
	} {
		s := svg.Series{Name: c.name, Ours: c.ours}
		for i, at := range pending {
			if v, ok := figures.Median(c.side+at, pair.Ns); ok {
				s.Points = append(s.Points, svg.Point{X: x[i].At, Y: v})
			}
		}
		if len(s.Points) == len(pending) {
			plot.Series = append(plot.Series, s)
		}
	}
	plot.Y.Ticks = scale(plot.Series, []float64{1, 2, 5}, func(ns float64) string { return pair.Metric{}.Short(ns) })
	return plot, len(plot.Series) > 0
}

// lateness is how late so many percent of the waits ended at most. The axis is stretched towards 100 %.
func lateness(p *page, row, what string, curves []curve) (svg.Plot, bool) {
	figures := p.figures(row)
	plot := svg.Plot{
		Title: "Lateness: " + what,
		X: svg.Axis{Label: "part of the waits (%)", Ticks: []svg.Tick{{At: stretched(1), Text: "1"}, {At: stretched(50), Text: "50"},
			{At: stretched(90), Text: "90"}, {At: stretched(99), Text: "99"}, {At: stretched(99.9), Text: "99.9"},
			{At: stretched(100), Text: "all"}}},
		Y: svg.Axis{Label: "lateness, at most"},
	}
	for _, c := range curves {
		s := svg.Series{Name: c.name, Ours: c.ours}
		for _, percent := range pair.Percents {
			if v, ok := figures.Median(c.side, pair.Late(percent)); ok {
				s.Points = append(s.Points, svg.Point{X: stretched(percent), Y: v})
			}
		}
		if len(s.Points) == len(pair.Percents) {
			plot.Series = append(plot.Series, s)
		}
	}
	plot.Y.Ticks = scale(plot.Series, []float64{1}, pair.Ns.Short)
	return plot, len(plot.Series) > 0
}

// stretched gives the last percent as much room as the first ninety.
func stretched(percent float64) float64 {
	if percent == 100 {
		return 3.7
	}
	return -math.Log10(1 - percent/100)
}

// scale is a logarithmic axis with ticks at the given multiples of powers of ten, from a power to a tick around all
// values. What is less than a nanosecond is nothing.
func scale(series []svg.Series, at []float64, text func(float64) string) []svg.Tick {
	lo, hi := math.Inf(1), 1.0
	for _, s := range series {
		for _, p := range s.Points {
			lo, hi = min(lo, p.Y), max(hi, p.Y)
		}
	}
	power := math.Pow(10, math.Floor(math.Log10(max(lo, 1))))
	var ticks []svg.Tick
	for len(ticks) < 2 || ticks[len(ticks)-1].At < hi {
		v := power * at[len(ticks)%len(at)]
		ticks = append(ticks, svg.Tick{At: v, Text: text(v)})
		if len(ticks)%len(at) == 0 {
			power *= 10
		}
	}
	return ticks
}
