package pair

import (
	"fmt"
	"strconv"
	"strings"
)

// A Row is one headline, P1 …, with a target: the same work done by us and by others. Or it is S1 …, which shows a scale
// or a condition and judges nothing.
type Row struct {
	Name  string // P1
	Title string // the work, in a few words
	Quick bool   // part of the quick form
	Procs int    // GOMAXPROCS of its process; 0: 1
	NoGC  bool   // no cycles of the collector in its process but those between rounds
	Fresh bool   // every round in a process of its own, for what can be measured only once; no round warms up

	// Rounds is how many of them count at most, for what takes long; 0: the plan's.
	Rounds int

	// Run measures, in loops over r.Next. An error means that the row could not run; figures are never one.
	Run func(r *Run) error

	// Lines are the comparisons that are judged or shown: at least one with a target in a row P, none in a row S.
	Lines []Line
}

// A Line is one clause of a row's target.
type Line struct {
	Case   string // the work and its condition, in words
	Ours   string // what we measured under this name
	Rival  string // what it is compared with; "": the target is a budget
	Of     Metric
	Target Target // the zero Target: shown, not judged
}

// A Target is what a line is to reach.
type Target struct {
	kind  targetKind
	bound float64
}

type targetKind uint8

const (
	noTarget targetKind = iota
	atLeast             // rival ÷ ours
	within              // ours ÷ rival
	atMost              // ours
)

// AtLeast wants the rival to need x times as much as we do.
func AtLeast(x float64) Target { return Target{atLeast, x} }

// Within wants us to need at most x times as much as the rival does.
func Within(x float64) Target { return Target{within, x} }

// AtMost is a budget for our figure, in the metric's unit (nanoseconds, bytes, or a number).
func AtMost(x float64) Target { return Target{atMost, x} }

// name is a side's name without its condition.
func name(key string) string {
	side, _, _ := strings.Cut(key, "@")
	return side
}

// Pick returns the rows that are named, or all; with quick and no name, those of the quick form.
func Pick(all []Row, quick bool, names []string) ([]Row, error) {
	var picked []Row
	for _, n := range names {
		r, err := find(all, n)
		if err != nil {
			return nil, err
		}
		picked = append(picked, r)
	}
	if len(names) > 0 {
		return picked, nil
	}
	for _, r := range all {
		if r.Quick || !quick {
			picked = append(picked, r)
		}
	}
	return picked, nil
}

func find(all []Row, name string) (Row, error) {
	var there []string
	for _, r := range all {
		if r.Name == name {
			return r, nil
		}
		there = append(there, r.Name)
	}
	return Row{}, fmt.Errorf("no row %q: there are %s", name, strings.Join(there, ", "))
}

// before orders names by their number, P2 before P10, and P before S.
func before(a, b string) int {
	return number(a) - number(b)
}

// number is 0 if the name is not one of a row.
func number(name string) int {
	for i, kind := range []string{"P", "S"} {
		if digits, ok := strings.CutPrefix(name, kind); ok {
			if n, err := strconv.Atoi(digits); err == nil && 0 < n && n < 1000 {
				return i*1000 + n
			}
		}
	}
	return 0
}
