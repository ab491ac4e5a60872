package pair

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Metric is what a figure measures. Less is better, whatever it is.
type Metric struct {
	Name string // in raw results, with the unit: cpu-ns
	Unit Unit
	Of   string // words after a printed figure
}

// A Unit says how figures are printed.
type Unit uint8

const (
	Count Unit = iota
	Time       // nanoseconds
	Size       // bytes
)

// What Op measures, of one operation.
var (
	Ns     = Metric{"ns", Time, ""}
	CPU    = Metric{"cpu-ns", Time, "CPU"}
	Bytes  = Metric{"B", Size, ""}
	Allocs = Metric{"allocs", Count, "allocs"}
)

// Percents are the percentiles that Lates takes; 100 is the worst.
var Percents = []float64{1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 100}

// Late is the lateness that p percent of the waits did not exceed, p one of Percents.
func Late(p float64) Metric {
	s := strconv.FormatFloat(p, 'g', -1, 64)
	return Metric{"late-p" + s + "-ns", Time, "late (p" + s + ")"}
}

// Format prints a figure with its unit, to three digits.
func (m Metric) Format(v float64) string {
	return strings.TrimSuffix(m.Short(v)+" "+m.Of, " ")
}

// Short is Format without the words that follow.
func (m Metric) Short(v float64) string {
	switch m.Unit {
	case Time:
		return formatTime(v)
	case Size:
		return digits(v) + " B"
	}
	return digits(v)
}

func formatTime(ns float64) string {
	switch a := math.Abs(ns); {
	case a < 999.5:
		return digits(ns) + " ns"
	case a < 999.5e3:
		return digits(ns/1e3) + " µs"
	case a < 999.5e6:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/float64(time.Second)) + " s"
}

// digits prints three of them, or all that stand before the point. Hundredths are enough for what is below 1.
func digits(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	prec := 0
	switch a := math.Abs(v); {
	case a < 9.995:
		prec = 2
	case a < 99.95:
		prec = 1
	}
	s := fmt.Sprintf("%.*f", prec, v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}
