package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"bide.invalid/bide/timer/queue"
)

// A figure is what one side's replay showed.
type figure struct {
	median  float64 // ns an operation
	worst   time.Duration
	bytes   float64 // a pending timer, beyond its deadline
	late    []time.Duration
	wakes   int
	pokes   int
	pending int // the most, in the queues
}

// sides are what there is to compare.
func sides(both bool) (all []side) {
	by := map[string]queue.Candidate{}
	for _, c := range queue.All() {
		by[c.Name] = c
		all = append(all, one(c))
	}
	if both {
		for _, pair := range [][2]string{{"wheel", "heap4"}, {"wheel", "pairing"}, {"heap4", "heap4"}, {"lanes", "heap4"}} {
			all = append(all, side{pair[0] + " + " + pair[1], [classes]queue.Candidate{by[pair[0]], by[pair[1]]}, false})
		}
	}
	return all
}

// report replays a trace on every side, and prints a line for each.
func report(w io.Writer, t *trace) {
	both := t.counts[sleep] != counts{}
	for c, name := range []string{"timeouts", "sleeps"} {
		n := t.counts[c]
		if c == int(timeout) || both {
			fmt.Fprintf(w, "%s: %d scheduled, %d moved, %d canceled (%.1f %%), %d came (%.1f %%)\n", name, n.scheduled,
				n.moved, n.canceled, share(n.canceled, n.scheduled), n.fired, share(n.fired, n.scheduled))
		}
	}
	few, all := t.common()
	fmt.Fprintf(w, "%d operations in %v; at most %d pending; %d of %d durations make up 90 %% of the deadlines\n\n",
		len(t.ops), t.span().Round(time.Millisecond), t.most, few, all)
	fmt.Fprintf(w, "%-19s %10s %10s %7s %10s %10s %10s %9s %9s\n",
		"queue", "median ns", "worst us", "bytes", "late p50", "p99", "max", "wake-ups", "re-armed")
	for _, s := range sides(both) {
		if m := s.of[timeout].Max; m != 0 && t.most > m {
			fmt.Fprintf(w, "%-19s left out: meant for up to %d\n", s.name, m)
			continue
		}
		f := measure(t, s)
		slices.Sort(f.late)
		fmt.Fprintf(w, "%-19s %10.1f %10.1f %7.1f %10v %10v %10v %9d %9d\n", s.name, f.median, float64(f.worst)/1e3, f.bytes,
			short(quantile(f.late, 50)), short(quantile(f.late, 99)), short(quantile(f.late, 100)), f.wakes, f.pokes)
	}
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// short is a duration to four digits or so.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit)
}

// quantile is one of what is sorted: percent of all are at most that.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}

// block is how many operations are timed at once, for the median.
const block = 256

// measure replays a trace several times: what is counted, what is timed as a whole, and what is timed one by one do
// not disturb each other.
func measure(t *trace, s side) (f figure) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f.bytes = weigh(t, s)

	p := newPlay(t, s)
	p.late = []time.Duration{}
	p.open(s)
	p.run(len(t.ops))
	p.drain()
	f.late, f.wakes, f.pokes = p.late, p.wakes, p.pokes

	for range 3 {
		f.median = least(f.median, medianOf(t, s))
	}
	f.worst = worstOf(t, s)
	return f
}

func least(a, b float64) float64 {
	if a == 0 || b < a {
		return b
	}
	return a
}

// weigh is what the queues have allocated, and use of each item, when most is pending.
func weigh(t *trace, s side) float64 {
	if t.most == 0 {
		return 0
	}
	p := newPlay(t, s)
	before := heap()
	p.open(s)
	p.run(t.peak + 1)
	after := heap()
	links := [classes]int{}
	for c := range classes {
		links[c] = s.of[c].Links
	}
	used := float64(after) - float64(before)
	n := 0
	for c := range classes {
		for _, x := range p.ids[c] {
			if x != nil && x.in {
				used += float64(links[c])
				n++
			}
		}
	}
	runtime.KeepAlive(p)
	return used / float64(max(n, 1))
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// medianOf is the median over blocks of operations, with everything that came meanwhile.
func medianOf(t *trace, s side) float64 {
	p := newPlay(t, s)
	p.open(s)
	runtime.GC()
	var blocks []float64
	for p.played < len(t.ops) {
		first := p.played
		began := time.Now()
		p.run(min(first+block, len(t.ops)))
		blocks = append(blocks, float64(time.Since(began))/float64(p.played-first))
	}
	if len(blocks) == 0 {
		return 0
	}
	slices.Sort(blocks)
	return blocks[len(blocks)/2]
}

// worstOf is the longest single operation, each taken as the least of three replays.
func worstOf(t *trace, s side) (worst time.Duration) {
	var fastest []time.Duration
	for pass := range 3 {
		p := newPlay(t, s)
		p.open(s)
		runtime.GC()
		i := 0
		var began time.Time
		p.timed = func(begins bool) {
			if begins {
				began = time.Now()
				return
			}
			d := time.Since(began)
			switch {
			case pass == 0:
				fastest = append(fastest, d)
			default:
				fastest[i] = min(fastest[i], d)
			}
			i++
		}
		p.run(len(t.ops))
		p.drain()
	}
	for _, d := range fastest {
		worst = max(worst, d)
	}
	return worst
}
