package rows

import (
	"context"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// S1: more and more timeouts are pending. A side's crowd grows from size to size, so that what a service keeps is not
// counted twice. Each round has a process of its own, and timer.AfterFunc, which leaves most behind, comes last.
var s1 = pair.Row{
	Name: "S1", Title: "1 thousand to 10 million pending: memory, cost, the collector", Procs: 2, Fresh: true, Rounds: 3,
	Run:   runS1,
	Lines: linesS1(),
}

var sizes = []struct {
	n    int
	text string
}{{1_000, "1k pending"}, {10_000, "10k pending"}, {100_000, "100k pending"}, {1_000_000, "1M pending"}, {10_000_000, "10M pending"}}

func linesS1() (lines []pair.Line) {
	add := func(what, ours, rival, at string, of pair.Metric) {
		lines = append(lines, pair.Line{Case: what + ", " + at, Ours: ours + "@" + at, Rival: rival + "@" + at, Of: of})
	}
	for _, s := range sizes {
		add("an entry and its deadline", entries, stdExpires, s.text, pair.Bytes)
		if s.n >= leastCollected {
			add("an entry and its deadline", entries, stdExpires, s.text, collecting)
			add("timer.AfterFunc", "timer.AfterFunc", stdExpires, s.text, collecting)
		}
		add("start one more", entries, stdExpires, s.text, pair.Ns)
		add("start and cancel one more, relative", relative, stdReset, s.text, pair.Ns)
		add("timer.AfterFunc", "timer.AfterFunc", stdExpires, s.text, pair.Bytes)
		add("timer.AfterFunc", "timer.AfterFunc", stdExpires, s.text, pair.Ns)
		if s.n <= mostContexts {
			add("an entry and its deadline", entries, "WithTimeout", s.text, pair.Bytes)
		}
	}
	return lines
}

const (
	// Ten million timeouts of package context would be more than three gigabytes.
	mostContexts = 1_000_000
	// What fewer add to a cycle of the collector is less than cycles differ.
	leastCollected = 100_000
)

// A growth is one way to have more and more timeouts pending.
type growth struct {
	name  string
	most  int
	begin func(most int) (more func(n int), stop func())

	// pushed is the side whose start and cancel is measured among them, if there is one.
	pushed string
	push   func(n int)
}

var growths = []growth{
	{entries, sizes[len(sizes)-1].n, growEntries, relative, pushEntry},
	{stdExpires, sizes[len(sizes)-1].n, growStd, stdReset, pushStd},
	{"WithTimeout", mostContexts, growContexts, "", nil},
	{"timer.AfterFunc", sizes[len(sizes)-1].n, growOurs, "", nil},
}

func runS1(r *pair.Run) error {
	for r.Next() {
		for _, g := range growths {
			if err := g.measure(r); err != nil {
				return err
			}
			for range 10 { // a million timers that were stopped leave the runtime's heaps when its scheduler sees to it
				pair.Settle()
			}
		}
	}
	return nil
}

func (g growth) measure(r *pair.Run) error {
	more, stop := g.begin(r.Scale(g.most))
	defer stop()
	pair.Settle()
	cpu, err := cycle(30)
	if err != nil {
		return err
	}
	heap, pending := pair.Heap(), 0
	for _, s := range sizes {
		if s.n > g.most || s.n > 1_000_000 && r.Quick() {
			break
		}
		n := r.Scale(s.n)
		start := time.Now()
		more(n - pending)
		took := time.Since(start)
		f := pair.Figures{
			pair.Ns:    float64(took) / float64(max(n-pending, 1)),
			pair.Bytes: (float64(pair.Heap()) - float64(heap)) / float64(n),
		}
		pending = n
		if s.n >= leastCollected {
			now, err := cycle(4)
			if err != nil {
				return err
			}
			f[collecting] = max(0, float64(now-cpu))
		}
		r.Record(g.name+"@"+s.text, f)
		if g.push != nil {
			n := r.Scale(200_000)
			start := time.Now()
			g.push(n)
			r.Record(g.pushed+"@"+s.text, pair.Figures{pair.Ns: float64(time.Since(start)) / float64(n)})
		}
	}
	return nil
}

func growEntries(int) (more func(n int), stop func()) {
	s, rng := timer.Default(), dice()
	var all [][]timeout
	more = func(n int) {
		some := chunks(n)
		each(some, func(t *timeout) {
			t.due = clock.After(far(rng))
			s.Schedule(&t.Entry, t.due)
		})
		all = append(all, some...)
	}
	return more, func() { each(all, func(t *timeout) { s.Cancel(&t.Entry) }) }
}

func growStd(most int) (more func(n int), stop func()) {
	rng, all := dice(), make([]*time.Timer, 0, most)
	more = func(n int) {
		for range n {
			all = append(all, time.AfterFunc(far(rng), nothing))
		}
	}
	return more, func() {
		for _, t := range all {
			t.Stop()
		}
	}
}

func growContexts(most int) (more func(n int), stop func()) {
	rng, all := dice(), make([]context.CancelFunc, 0, most)
	more = func(n int) {
		for range n {
			_, cancel := context.WithTimeout(context.Background(), far(rng))
			all = append(all, cancel)
		}
	}
	return more, func() {
		for _, cancel := range all {
			cancel()
		}
	}
}

func growOurs(most int) (more func(n int), stop func()) {
	rng, all := dice(), make([]*timer.Timer, 0, most)
	more = func(n int) {
		for range n {
			all = append(all, timer.AfterFunc(far(rng), nothing))
		}
	}
	return more, func() {
		for _, t := range all {
			t.Stop()
		}
	}
}

func pushEntry(n int) {
	s, k := timer.Default(), newKept()
	for range n {
		k.resolve(k.arm(s, clock.After(minute)))
	}
	s.Cancel(&k.Entry)
}

func pushStd(n int) {
	t := time.AfterFunc(minute, nothing)
	for range n {
		t.Reset(minute)
		t.Stop()
	}
}
