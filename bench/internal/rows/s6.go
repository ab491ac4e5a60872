package rows

import (
	"runtime"
	"slices"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// S6: what a million items in a queue add to a cycle of the collector: beside each other, or each an object of its own,
// or such objects that nothing but the queue leads to. The wheel in a slab has no pointer from item to item. A queue.Item
// has room for every structure, twice the size of a service's entry, so this compares queues, and P7 is what users pay.
var s6 = pair.Row{
	Name: "S6", Title: "a million items in a queue: the collector", Procs: 2, Rounds: 5,
	Run:   runS6,
	Lines: linesS6(),
}

var collected = []string{"wheel", "wheel-slab", "heap4", "pairing"}

var layouts = []struct {
	name string
	make func(n int) []*queue.Item
	hold bool // somebody else has the items, too
}{
	{"in one array", func(n int) []*queue.Item {
		all, some := make([]*queue.Item, n), make([]queue.Item, n)
		for i := range all {
			all[i] = &some[i]
		}
		return all
	}, true},
	{"separate", separate, true},
	{"separate, in the queue alone", separate, false},
}

func separate(n int) []*queue.Item {
	all := make([]*queue.Item, n)
	for i := range all {
		all[i] = new(queue.Item)
	}
	return all
}

func linesS6() (lines []pair.Line) {
	for _, layout := range layouts {
		for _, other := range collected {
			if other != "wheel" {
				lines = append(lines, pair.Line{Case: layout.name, Ours: "wheel@" + layout.name, Rival: other + "@" + layout.name, Of: collecting})
			}
		}
	}
	return lines
}

func runS6(r *pair.Run) error {
	n := r.Scale(1_000_000)
	for r.Next() {
		for _, c := range queue.All() {
			if !slices.Contains(collected, c.Name) {
				continue
			}
			for _, layout := range layouts {
				pair.Settle()
				before, err := cycle(10)
				if err != nil {
					return err
				}
				q, items, rng := c.New(), layout.make(n), dice()
				for _, x := range items {
					q.Schedule(x, 1+clock.Instant(rng.Int64N(int64(time.Minute))))
				}
				if !layout.hold {
					items = nil
				}
				after, err := cycle(10)
				if err != nil {
					return err
				}
				r.Record(c.Name+"@"+layout.name, pair.Figures{collecting: max(0, float64(after-before))})
				runtime.KeepAlive(items)
				runtime.KeepAlive(q)
			}
		}
	}
	return nil
}
