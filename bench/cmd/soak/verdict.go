package main

import (
	"fmt"
	"slices"
	"time"

	"bide.invalid/bide/bench/internal/pair"
)

const mega = 1 << 20

// compare says what has grown from the first third to the last, medians of their rows: more than what rows differ by.
//
// Preconditions: all of a soak's rows.
func (p plan) compare(all []row) (wrong []string) {
	for _, c := range []struct {
		what  string
		of    func(row) float64
		times float64 // what the last third may have: so many times the first's,
		more  float64 // and this
		text  func(float64) string
	}{
		{"live heap", func(r row) float64 { return float64(r.heap) }, 1.05, mega, megabytes},
		{"memory from the system", func(r row) float64 { return float64(r.taken) }, 1.25, 16 * mega, megabytes},
		{"goroutines", func(r row) float64 { return float64(r.goroutines) }, 1, 100, number},
		{"lateness (p50)", func(r row) float64 { return r.late[pair.Late(50)] }, 2, float64(2 * time.Millisecond), pair.Ns.Short},
		{"lateness (p99)", func(r row) float64 { return r.late[pair.Late(99)] }, 3, float64(25 * time.Millisecond), pair.Ns.Short},
	} {
		first, last := median(all[:third], c.of), median(all[len(all)-third:], c.of)
		if last > first*c.times+c.more {
			wrong = append(wrong, fmt.Sprintf("%s grew from %s in the first third to %s in the last", c.what, c.text(first), c.text(last)))
		}
	}
	for _, r := range all {
		if r.pending > p.conns {
			wrong = append(wrong, fmt.Sprintf("%d entries were pending of %d connections", r.pending, p.conns))
			break
		}
	}
	for _, r := range all {
		if r.expired == 0 {
			wrong = append(wrong, fmt.Sprintf("nothing expired in the row that ended at %v", r.at.Round(time.Millisecond)))
			break
		}
	}
	return wrong
}

func median(rows []row, of func(row) float64) float64 {
	var values []float64
	for _, r := range rows {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func megabytes(v float64) string { return fmt.Sprintf("%.1f MB", v/mega) }
func number(v float64) string    { return fmt.Sprintf("%.0f", v) }
