package rows

import (
	"context"
	"runtime"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// P7: what a million pending timeouts cost in memory, and the collector in each of its cycles. The slice that holds
// on to them is made before and not counted. Each round has a process of its own, since both services keep what they
// once needed; ours that keeps most, AfterFunc, is the last.
var p7 = pair.Row{
	Name: "P7", Title: "a million pending timeouts: memory, and the collector", Procs: 2, Fresh: true,
	Run: runP7,
	Lines: []pair.Line{
		{Case: "an entry and its deadline, in chunks", Ours: entries, Of: pair.Bytes, Target: pair.AtMost(56)},
		{Case: "an entry and its deadline, in chunks", Ours: entries, Rival: "time.AfterFunc", Of: pair.Bytes},
		{Case: "an entry and its deadline, in chunks", Ours: entries, Rival: "time.AfterFunc", Of: collecting, Target: pair.Within(0.4)},
		{Case: "timer.AfterFunc", Ours: "timer.AfterFunc", Rival: "time.AfterFunc", Of: pair.Bytes},
		{Case: "timer.AfterFunc", Ours: "timer.AfterFunc", Rival: "time.AfterFunc", Of: collecting},
		{Case: "a scope, observed", Ours: "Scope", Of: pair.Bytes, Target: pair.AtMost(152)},
		{Case: "a scope, observed", Ours: "Scope", Rival: "WithTimeout", Of: pair.Bytes},
		{Case: "a scope, observed", Ours: "Scope", Rival: "WithTimeout", Of: collecting},
	},
}

const entries = "entries"

// collecting is the processor's time for a cycle of the collector, beyond that of the same process before.
var collecting = pair.Metric{Name: "gc-cpu-ns", Unit: pair.Time, Of: "CPU a cycle"}

func runP7(r *pair.Run) error {
	n := r.Scale(1_000_000)
	for r.Next() {
		for _, side := range []struct {
			name string
			many func(n int) (start, stop func())
		}{{entries, manyEntries}, {"Scope", manyScopes}, {"time.AfterFunc", manyStd}, {"WithTimeout", manyContexts}, {"timer.AfterFunc", manyOurs}} {
			start, stop := side.many(n)
			f, err := weigh(n, start)
			if err != nil {
				return err
			}
			r.Record(side.name, f)
			stop()
			pair.Settle()
		}
	}
	return nil
}

func manyEntries(n int) (start, stop func()) {
	s, rng := timer.Default(), dice()
	var all [][]timeout
	start = func() {
		all = chunks(n)
		each(all, func(t *timeout) {
			t.due = clock.After(far(rng))
			s.Schedule(&t.Entry, t.due)
		})
	}
	return start, func() { each(all, func(t *timeout) { s.Cancel(&t.Entry) }) }
}

func manyScopes(n int) (start, stop func()) {
	rng, all := dice(), make([]*bide.Scope, n)
	start = func() {
		for i := range all {
			all[i] = bide.Open(context.Background(), bide.Timeout(far(rng)))
			_ = all[i].Err()
			_ = all[i].Err() // the second look observes it
		}
	}
	return start, func() {
		for _, s := range all {
			s.Close(nil)
		}
	}
}

func manyStd(n int) (start, stop func()) {
	rng, all := dice(), make([]*time.Timer, n)
	start = func() {
		for i := range all {
			all[i] = time.AfterFunc(far(rng), nothing)
		}
	}
	return start, func() {
		for _, t := range all {
			t.Stop()
		}
	}
}

func manyContexts(n int) (start, stop func()) {
	rng, all := dice(), make([]context.CancelFunc, n)
	start = func() {
		for i := range all {
			_, all[i] = context.WithTimeout(context.Background(), far(rng))
		}
	}
	return start, func() {
		for _, cancel := range all {
			cancel()
		}
	}
}

func manyOurs(n int) (start, stop func()) {
	rng, all := dice(), make([]*timer.Timer, n)
	start = func() {
		for i := range all {
			all[i] = timer.AfterFunc(far(rng), nothing)
		}
	}
	return start, func() {
		for _, t := range all {
			t.Stop()
		}
	}
}

// weigh is what each of n cost while they are pending.
func weigh(n int, start func()) (pair.Figures, error) {
	pair.Settle()
	cpu, err := cycle(10)
	if err != nil {
		return nil, err
	}
	heap := pair.Heap()
	start()
	heap2 := pair.Heap()
	cpu2, err := cycle(10)
	return pair.Figures{
		pair.Bytes: (float64(heap2) - float64(heap)) / float64(n),
		collecting: max(0, float64(cpu2-cpu)),
	}, err
}

// cycle is the processor's time for one cycle of the collector, its sweep included: the mean of so many.
func cycle(cycles int) (time.Duration, error) {
	before, err := pair.CPUTime()
	if err != nil {
		return 0, err
	}
	for range cycles {
		runtime.GC()
	}
	after, err := pair.CPUTime()
	return (after - before) / time.Duration(cycles), err
}
