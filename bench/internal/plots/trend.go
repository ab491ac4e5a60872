package plots

import (
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/bench/internal/svg"
)

// A trend is a plot of a row: each side's medians under one condition after the other.
type trend struct {
	row, title string
	x, y       string // labels
	places     []place
	curves     []curve
	ticks      []float64 // of each power of ten
	text       func(float64) string
}

// A place is a condition: where it is on the axis, and what the sides' names end with.
type place struct {
	x    float64
	text string // "": no tick
	at   string
	of   pair.Metric
}

// draw leaves out what was not measured in two places at least. false: that is everything.
func (t trend) draw(p *page) (svg.Plot, bool) {
	figures := p.figures(t.row)
	plot := svg.Plot{Title: t.title, X: svg.Axis{Label: t.x}, Y: svg.Axis{Label: t.y}}
	for _, pl := range t.places {
		if pl.text != "" {
			plot.X.Ticks = append(plot.X.Ticks, svg.Tick{At: pl.x, Text: pl.text})
		}
	}
	for _, c := range t.curves {
		s := svg.Series{Name: c.name, Ours: c.ours}
		for _, pl := range t.places {
			if v, ok := figures.Median(c.side+pl.at, pl.of); ok {
				s.Points = append(s.Points, svg.Point{X: pl.x, Y: v})
			}
		}
		if len(s.Points) >= 2 {
			plot.Series = append(plot.Series, s)
		}
	}
	plot.Y.Ticks = scale(plot.Series, t.ticks, t.text)
	return plot, len(plot.Series) > 0
}

// plain prints nanoseconds where the axis says so.
var plain = pair.Metric{}.Short

// cost is what starting and canceling a timeout costs, against how many others are pending.
var cost = trend{
	row: "P1", title: "Start and cancel a timeout", x: "other timers pending", y: "time (ns)",
	places: []place{
		{0, "0", "@none pending", pair.Ns}, {1, "10 thousand", "@10k pending", pair.Ns}, {2, "1 million", "@1M pending", pair.Ns},
	},
	curves: []curve{
		{"absolute", "an owner, deadline known", true},
		{"relative", "an owner, from a duration", true},
		{"timer.AfterFunc+Stop", "timer.AfterFunc + Stop", true},
		{"Timer.Reset+Stop", "time.Timer: Reset + Stop", false},
		{"time.AfterFunc+Stop", "time.AfterFunc + Stop", false},
		{"WithTimeout+cancel", "WithTimeout + cancel", false},
	},
	ticks: []float64{1, 2, 5}, text: plain,
}

var locking = []curve{
	{"scope", "syncs.Mutex, under a scope", true},
	{"sync.Mutex", "sync.Mutex", false},
	{"channel+NewTimer", "channel and NewTimer", false},
}

// contention is what a lock costs that several want all the time.
var contention = trend{
	row: "P13", title: "Lock and unlock a mutex, nothing inside", x: "goroutines", y: "time (ns)",
	places: []place{
		{0, "1", "", pair.Ns}, {1, "2", "@2 goroutines", pair.Ns}, {2, "4", "@4 goroutines", pair.Ns},
		{4, "16", "@16 goroutines", pair.Ns}, {6, "64", "@64 goroutines", pair.Ns},
	},
	curves: locking, ticks: []float64{1, 2, 5}, text: plain,
}

var contentionYield = trend{
	row: "P13", title: "Lock and unlock a mutex, a yield inside", x: "goroutines", y: "time (ns)",
	places: []place{
		{1, "2", "@2 goroutines, yield inside", pair.Ns}, {2, "4", "@4 goroutines, yield inside", pair.Ns},
		{4, "16", "@16 goroutines, yield inside", pair.Ns}, {6, "64", "@64 goroutines, yield inside", pair.Ns},
	},
	curves: locking, ticks: []float64{1, 2, 5}, text: plain,
}

// collector is what pending timeouts add to each cycle of the collector.
var collector = trend{
	row: "S1", title: "What a cycle of the garbage collector takes more", x: "timeouts pending", y: "processor time",
	places: []place{
		{0, "100 thousand", "@100k pending", gcCPU}, {1, "1 million", "@1M pending", gcCPU}, {2, "10 million", "@10M pending", gcCPU},
	},
	curves: []curve{
		{"entries", "an entry and its deadline", true},
		{"timer.AfterFunc", "timer.AfterFunc", true},
		{"time.AfterFunc", "time.AfterFunc", false},
		{"WithTimeout", "WithTimeout", false},
	},
	ticks: []float64{1}, text: pair.Ns.Short,
}

var gcCPU = pair.Metric{Name: "gc-cpu-ns"}

// pending is what it takes to start one more, the memory that it needs included.
var pending = trend{
	row: "S1", title: "Start one more timeout", x: "timeouts pending", y: "time (ns)",
	places: []place{
		{0, "1 thousand", "@1k pending", pair.Ns}, {1, "10 thousand", "@10k pending", pair.Ns},
		{2, "100 thousand", "@100k pending", pair.Ns}, {3, "1 million", "@1M pending", pair.Ns},
		{4, "10 million", "@10M pending", pair.Ns},
	},
	curves: collector.curves, ticks: []float64{1, 2, 5}, text: plain,
}

// processors is how starting and canceling spreads over processors.
var processors = trend{
	row: "S3", title: "Start and cancel timeouts on all processors", x: "GOMAXPROCS", y: "time (ns) for one, of all together",
	places: []place{
		{0, "1", "@GOMAXPROCS 1", pair.Ns}, {1, "2", "@GOMAXPROCS 2", pair.Ns}, {2, "4", "@GOMAXPROCS 4", pair.Ns},
		{3, "8", "@GOMAXPROCS 8", pair.Ns},
	},
	curves: []curve{
		{"relative", "an owner, from a duration", true},
		{"Schedule+Cancel", "an entry: Schedule + Cancel", true},
		{"timer.AfterFunc+Stop", "timer.AfterFunc + Stop", true},
		{"Timer.Reset+Stop", "time.Timer: Reset + Stop", false},
		{"time.AfterFunc+Stop", "time.AfterFunc + Stop", false},
	},
	ticks: []float64{1, 2, 5}, text: plain,
}

// shards is what choosing a lock by processor is worth.
var shards = trend{
	row: "S5", title: "Link and unlink, on all processors", x: "shards (a service has one for each processor, up to 16)", y: "time (ns) for one, of all together",
	places: []place{
		{0, "1", "@shards: 1", pair.Ns}, {1, "2", "@shards: 2", pair.Ns}, {2, "4", "@shards: 4", pair.Ns},
		{3, "8", "@shards: 8", pair.Ns}, {4, "16", "@shards: 16", pair.Ns}, {5, "32", "@shards: 32", pair.Ns},
		{6, "64", "@shards: 64", pair.Ns},
	},
	curves: []curve{
		{"by processor", "chosen by processor, as ours", true},
		{"in turn", "in turn", false},
	},
	ticks: []float64{1, 2, 5}, text: plain,
}
