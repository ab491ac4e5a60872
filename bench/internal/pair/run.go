package pair

import (
	"fmt"
	"runtime"
	"time"
)

// Figures are what one turn of a side measured.
type Figures map[Metric]float64

// A Plan says how long a row measures.
type Plan struct {
	Rounds int           // counted ones
	Window time.Duration // about how long Op measures
	Quick  bool
	Divide int // what Run.Scale divides by: 1, but for tests
}

// Full is what is published, Quick a look within a minute.
var (
	Full  = Plan{Rounds: 10, Window: 100 * time.Millisecond, Divide: 1}
	Quick = Plan{Rounds: 8, Window: 20 * time.Millisecond, Divide: 1, Quick: true}
)

// A Run is a row under way. It is used by the goroutine that it was given to.
type Run struct {
	plan   Plan
	warms  bool
	inLoop bool
	round  int // 0 warms up
	counts map[string]int
	raw    Measured
}

// Measured has every round's figures: by the name of the side, then by the metric's.
type Measured map[string]map[string][]float64

// Processes is how many processes measure the row, one after the other.
func (row Row) Processes(plan Plan) int {
	if row.Fresh {
		return row.rounds(plan)
	}
	return 1
}

func (row Row) rounds(plan Plan) int {
	if row.Rounds > 0 {
		return min(row.Rounds, plan.Rounds)
	}
	return plan.Rounds
}

// Measure runs a row in this process. A row with Fresh gives one round's figures.
func Measure(row Row, plan Plan) (Measured, error) {
	plan.Rounds = row.rounds(plan)
	if row.Fresh {
		plan.Rounds = 1
	}
	r := &Run{plan: plan, warms: !row.Fresh, counts: map[string]int{}, raw: Measured{}}
	if err := row.Run(r); err != nil {
		return nil, err
	}
	return r.raw, nil
}

// Quick reports whether the row runs in the quick form, and had better leave out what has no target.
func (r *Run) Quick() bool { return r.plan.Quick }

// Scale is n, or less in a test.
func (r *Run) Scale(n int) int { return max(1, n/r.plan.Divide) }

// Next begins a round, and reports false when all were run. A loop after that is one of new rounds.
func (r *Run) Next() bool {
	switch {
	case !r.inLoop:
		r.inLoop, r.round = true, 0
		if !r.warms {
			r.round = 1
		}
	case r.round == r.plan.Rounds:
		r.inLoop = false
		return false
	default:
		r.round++
	}
	Settle()
	return true
}

// Op measures op, which does the work n times, as the side's turn of this round.
func (r *Run) Op(side string, op func(n int)) {
	n := r.counts[side]
	if n == 0 {
		n = r.calibrate(op)
		r.counts[side] = n
	}
	r.Record(side, measure(n, op))
}

// calibrate finds how many operations fill the window.
func (r *Run) calibrate(op func(n int)) int {
	n, enough := 1, r.plan.Window/4
	took := timed(n, op)
	for took < enough {
		grow := 100.0
		if took > 0 {
			grow = min(grow, 1.2*float64(enough)/float64(took))
		}
		n = max(n+1, int(float64(n)*grow))
		took = timed(n, op)
	}
	per := max(float64(took), 1) / float64(n)
	n = max(1, int(float64(r.plan.Window)/per))
	if each := measure(n, op)[Bytes]; each >= 1 {
		// The collector's share: two of its cycles.
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		n = max(n, r.Scale(int(2*float64(m.NextGC-min(m.NextGC, m.HeapAlloc))/each)))
	}
	return n
}

func timed(n int, op func(n int)) time.Duration {
	start := time.Now()
	op(n)
	return time.Since(start)
}

// warmUp is the part of a turn, one of so many, that is run before it and does not count: what the collector has taken
// from the turn before, stacks above all, is had anew by whoever comes first.
const warmUp = 10

func measure(n int, op func(n int)) Figures {
	var before, after runtime.MemStats
	runtime.GC()
	if some := n / warmUp; some > 0 {
		op(some)
	}
	runtime.ReadMemStats(&before)
	cpu, err := CPUTime()
	wall := timed(n, op)
	cpu2, _ := CPUTime()
	runtime.ReadMemStats(&after)
	per := func(v float64) float64 { return v / float64(n) }
	f := Figures{
		Ns:     per(float64(wall)),
		Bytes:  per(float64(after.TotalAlloc - before.TotalAlloc)),
		Allocs: per(float64(after.Mallocs - before.Mallocs)),
	}
	if err == nil {
		f[CPU] = per(float64(cpu2 - cpu))
	}
	return f
}

// Record is for a side that measured its turn itself. Once a round and side.
func (r *Run) Record(side string, f Figures) {
	if r.round == 0 {
		return
	}
	of := r.raw[side]
	if of == nil {
		of = map[string][]float64{}
		r.raw[side] = of
	}
	for m, v := range f {
		if len(of[m.Name]) != r.round-1 {
			panic(fmt.Sprintf("bench: %s has %d figures %s before round %d", side, len(of[m.Name]), m.Name, r.round))
		}
		of[m.Name] = append(of[m.Name], rounded(v))
	}
}

// Add appends another process's rounds.
func (m Measured) Add(more Measured) {
	for side, of := range more {
		if m[side] == nil {
			m[side] = map[string][]float64{}
		}
		for metric, values := range of {
			m[side][metric] = append(m[side][metric], values...)
		}
	}
}
