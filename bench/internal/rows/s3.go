package rows

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// S3: as many goroutines as there are processors start and cancel timeouts, each its own. The time is the clock's for
// all of them together, so what scales halves it from column to column, as long as the machine has so many cores.
var s3 = pair.Row{
	Name: "S3", Title: "start and cancel on all processors at once, GOMAXPROCS 1 to 8", Procs: 8, // shards are made for that
	Run:   runS3,
	Lines: linesS3(),
}

var processors = []int{1, 2, 4, 8}

func onProcs(p int) string { return fmt.Sprintf("@GOMAXPROCS %d", p) }

func linesS3() (lines []pair.Line) {
	for _, p := range processors {
		at := onProcs(p)
		add := func(ours, rival string) {
			lines = append(lines, pair.Line{Case: ours + ", " + at[1:], Ours: ours + at, Rival: rival + at, Of: pair.Ns})
		}
		add(relative, stdAfterFunc)
		add(relative, stdReset)
		add(eager, stdReset)
		add(afterFunc, stdAfterFunc)
	}
	return lines
}

func runS3(r *pair.Run) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s := timer.Default()
	sides := []struct {
		name string
		many func(n int)
	}{
		{stdAfterFunc, func(n int) {
			for range n {
				time.AfterFunc(minute, nothing).Stop()
			}
		}},
		{relative, func(n int) {
			k := newKept()
			for range n {
				k.resolve(k.arm(s, clock.After(minute)))
			}
			s.Cancel(&k.Entry)
		}},
		{stdReset, pushStd},
		{eager, func(n int) {
			k := newKept()
			for range n {
				s.Schedule(&k.Entry, clock.After(minute))
				s.Cancel(&k.Entry)
			}
		}},
		{afterFunc, func(n int) {
			for range n {
				timer.AfterFunc(minute, nothing).Stop()
			}
		}},
	}
	for _, p := range processors {
		runtime.GOMAXPROCS(p)
		for r.Next() {
			for _, side := range sides {
				r.Op(side.name+onProcs(p), func(n int) { together(p, n, side.many) })
			}
		}
	}
	return nil
}

// together divides n among g goroutines, and waits for them.
func together(g, n int, many func(n int)) {
	var group sync.WaitGroup
	for i := range g {
		part := n / g
		if i < n%g {
			part++
		}
		group.Go(func() { many(part) })
	}
	group.Wait()
}
