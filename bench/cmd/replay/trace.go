package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// A class is what a program uses a timer for.
type class uint8

const (
	timeout class = iota
	sleep
	classes
)

// An op is an operation, and which of the two traces it is of.
type op struct {
	queue.Op
	class class
}

// A trace is what is replayed, and what there is to say about it.
type trace struct {
	ops    []op
	counts [classes]counts
	most   int // were pending at a time
	peak   int // the operation that made it so many
}

type counts struct {
	ids                               int
	scheduled, moved, canceled, fired int
}

// add reads a file, and merges it with what is there.
func (t *trace) add(c class, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.read(c, f); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func (t *trace) read(c class, r io.Reader) error {
	in, err := queue.NewTraceReader(r)
	if err != nil {
		return err
	}
	n := &t.counts[c]
	for {
		o, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch o.Kind {
		case queue.Scheduled:
			n.scheduled++
			n.ids = max(n.ids, int(o.ID)+1)
		case queue.Moved:
			n.moved++
		case queue.Canceled:
			n.canceled++
		case queue.Fired:
			n.fired++
		}
		t.ops = append(t.ops, op{o, c})
	}
	slices.SortStableFunc(t.ops, func(a, b op) int { return cmp.Compare(a.Now, b.Now) })
	t.most, t.peak = 0, 0
	pending := 0
	for i, o := range t.ops {
		switch o.Kind {
		case queue.Scheduled:
			if pending++; pending > t.most {
				t.most, t.peak = pending, i
			}
		case queue.Canceled, queue.Fired:
			pending--
		}
	}
	return nil
}

// span is how long the program took.
func (t *trace) span() time.Duration {
	if len(t.ops) == 0 {
		return 0
	}
	return t.ops[len(t.ops)-1].Now.Sub(t.ops[0].Now)
}

// common is how many durations make up nine tenths of all deadlines, and how many different ones there are.
func (t *trace) common() (few, all int) {
	times := map[time.Duration]int{}
	total := 0
	for _, o := range t.ops {
		if (o.Kind == queue.Scheduled || o.Kind == queue.Moved) && o.At != clock.Forever {
			times[o.At.Sub(o.Now)]++
			total++
		}
	}
	var most []int
	for _, n := range times {
		most = append(most, n)
	}
	slices.SortFunc(most, func(a, b int) int { return b - a })
	for sum := 0; sum*10 < total*9; few++ {
		sum += most[few]
	}
	return few, len(most)
}
