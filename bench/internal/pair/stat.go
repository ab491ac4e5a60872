package pair

import (
	"math"
	"slices"
	"strconv"
)

// A Spread is a median with its quartiles.
type Spread struct{ Q1, Median, Q3 float64 }

func spread(values []float64) Spread {
	s := slices.Sorted(slices.Values(values))
	return Spread{quantile(s, 0.25), quantile(s, 0.5), quantile(s, 0.75)}
}

// quantile interpolates between the two neighbours of the place. Preconditions: sorted, not empty.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	part := at - float64(i)
	if part == 0 { // and what follows may be infinite
		return sorted[i]
	}
	return sorted[i]*(1-part) + sorted[i+1]*part
}

// ratios divides round by round. What costs us nothing is infinitely cheaper than what costs something.
func ratios(over, under []float64) []float64 {
	r := make([]float64, len(over))
	for i := range r {
		switch {
		case over[i] == under[i]:
			r[i] = 1
		case under[i] == 0:
			r[i] = math.Inf(1)
		default:
			r[i] = over[i] / under[i]
		}
	}
	return r
}

// rounded keeps five digits, which is more than any machine repeats, and takes what is next to nothing for noise.
func rounded(v float64) float64 {
	if math.Abs(v) < 0.001 {
		return 0
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	return v
}

// Lates are the percentiles of how late each of many waits ended, in nanoseconds. It sorts late.
func Lates(late []int64) Figures {
	slices.Sort(late)
	f := Figures{}
	for _, p := range Percents {
		// The nearest rank: the smallest value that p percent do not exceed. 99.9 % of 1000 is 999, not a hair more.
		i := int(math.Ceil(p/100*float64(len(late))-1e-6)) - 1
		f[Late(p)] = float64(late[max(i, 0)])
	}
	return f
}

// Median is a side's figure.
func (m Measured) Median(side string, of Metric) (v float64, ok bool) {
	values := m[side][of.Name]
	if len(values) == 0 {
		return 0, false
	}
	return spread(values).Median, true
}
