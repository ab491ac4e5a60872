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
	begin func() crowding

	// pushed is the side whose start and cancel is measured among them, if there is one.
	pushed string
	push   func(n int)
}

// A crowding is a growth under way.
type crowding struct {
	room func(n int) // makes place for n more: what holds on to them is not counted
	more func(n int)
	stop func()
}

var growths = []growth{
	{entries, sizes[len(sizes)-1].n, growEntries, relative, pushEntry},
	{stdExpires, sizes[len(sizes)-1].n, grow(func(d time.Duration) *time.Timer {
		return time.AfterFunc(d, nothing)
	}, func(t *time.Timer) { t.Stop() }), stdReset, pushStd},
	{"WithTimeout", mostContexts, grow(func(d time.Duration) context.CancelFunc {
		_, cancel := context.WithTimeout(context.Background(), d)
		return cancel
	}, func(cancel context.CancelFunc) { cancel() }), "", nil},
	{"timer.AfterFunc", sizes[len(sizes)-1].n, grow(func(d time.Duration) *timer.Timer {
		return timer.AfterFunc(d, nothing)
	}, func(t *timer.Timer) { t.Stop() }), "", nil},
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
	c := g.begin()
	defer c.stop()
	cpu, err := cycle(30)
	if err != nil {
		return err
	}
	bytes, pending := 0.0, 0
	for _, s := range sizes {
		if s.n > g.most || s.n > 1_000_000 && r.Quick() {
			break
		}
		n := r.Scale(s.n)
		c.room(n - pending)
		heap, start := pair.Heap(), time.Now()
		c.more(n - pending)
		took := time.Since(start)
		bytes += float64(pair.Heap()) - float64(heap)
		f := pair.Figures{
			pair.Ns:    float64(took) / float64(max(n-pending, 1)),
			pair.Bytes: bytes / float64(n),
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

func growEntries() crowding {
	s, rng := timer.Default(), dice()
	var all [][]timeout
	return crowding{func(int) {}, func(n int) {
		some := chunks(n)
		each(some, func(t *timeout) {
			t.due = clock.After(far(rng))
			s.Schedule(&t.Entry, t.due)
		})
		all = append(all, some...)
	}, func() { each(all, func(t *timeout) { s.Cancel(&t.Entry) }) }}
}

// grow is for timeouts that are objects of their own.
func grow[T any](start func(time.Duration) T, end func(T)) func() crowding {
	return func() crowding {
		var all [][]T
		rng := dice()
		return crowding{func(n int) { all = append(all, make([]T, n)) }, func(n int) {
			last := all[len(all)-1]
			for i := range n {
				last[i] = start(far(rng))
			}
		}, func() {
			for _, some := range all {
				for _, t := range some {
					end(t)
				}
			}
		}}
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
