package plots

import (
	"math"
	"strconv"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/bench/internal/svg"
)

// all plots, in the order of the page. A plot is left out if its row was not measured.
var all = []struct {
	name string
	of   func(p *page) (svg.Plot, bool)
}{
	{"cost", cost.draw},
	{"lateness-1m", lateness("P8", "", "1 million timers due within a second", expiring)},
	{"lateness-100k", lateness("P9", "", "100 thousand timers spread over a second", expiring)},
	{"lateness-sleep", lateness("P10", "", "sleeping for 100 µs and for 1 ms", sleeping)},
	{"lateness-tick", lateness("P11", "", "ticks at 1 kHz", ticking)},
	{"lateness-idle", lateness("S4", "@idle", "500 timers within 250 ms, nothing else running", loaded)},
	{"lateness-busy", lateness("S4", "@all processors busy", "500 timers, all processors computing", loaded)},
	{"lateness-gc", lateness("S4", "@the collector running", "500 timers, the collector running all the time", loaded)},
	{"contention", contention.draw},
	{"contention-yield", contentionYield.draw},
	{"collector", collector.draw},
	{"scale", pending.draw},
	{"processors", processors.draw},
	{"shards", shards.draw},
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

var loaded = []curve{
	{"AfterFunc, precise", "timer.AfterFunc, precise", true},
	{"owner", "an owner", true},
	{"AfterFunc", "timer.AfterFunc", true},
	{"time.AfterFunc", "time.AfterFunc", false},
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

// lateness is how late so many percent of the waits ended at most, under a condition. The axis is stretched towards 100 %.
func lateness(row, at, what string, curves []curve) func(p *page) (svg.Plot, bool) {
	t := trend{row: row, title: "Lateness: " + what, x: "part of the waits (%)", y: "lateness, at most", curves: curves,
		ticks: []float64{1}, text: pair.Ns.Short}
	for _, percent := range pair.Percents {
		pl := place{x: stretched(percent), at: at, of: pair.Late(percent)}
		switch percent {
		case 1, 50, 90, 99, 99.9:
			pl.text = strconv.FormatFloat(percent, 'g', -1, 64)
		case 100:
			pl.text = "all"
		}
		t.places = append(t.places, pl)
	}
	return t.draw
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
