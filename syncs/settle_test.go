package syncs_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
)

func yield() { runtime.Gosched() }

// some is n, or as much of it as a short run or a slow build has time for.
func some(n int) int {
	switch {
	case step.On:
		return n / 50
	case testing.Short() || invariant.On:
		return n / 5
	}
	return n
}

// yieldToSteps is for the n-th round of a goroutine that never yields, where steps are scheduled: somebody who rests there
// yields some hundred times, and beside such goroutines, on one processor, each of these takes 10 ms.
func yieldToSteps(n int) {
	if step.On && n%1000 == 0 {
		yield()
	}
}

// race runs fs at the same time, from the moment at which ready reports true. The caller waits for them.
func race(ready func() bool, fs ...func()) *sync.WaitGroup {
	var group sync.WaitGroup
	var start atomic.Bool
	for _, f := range fs {
		group.Go(func() {
			for !start.Load() { // not parked, so that they run on all processors when it starts
				yield()
			}
			f()
		})
	}
	group.Go(func() {
		for !ready() {
			yield()
		}
		start.Store(true)
	})
	return &group
}

// inTurn is fs, from the i-th on, and then the others: who is started last usually runs first.
func inTurn(i int, fs ...func()) []func() {
	i %= len(fs)
	return append(fs[i:len(fs):len(fs)], fs[:i]...)
}

// procs are the numbers of processors that matter: one, a few, more than there are.
var procs = []int{1, 2, 8}

// atProcs runs f with each of them.
func atProcs(t *testing.T, f func(t *testing.T)) {
	for _, n := range procs {
		t.Run(fmt.Sprintf("procs=%d", n), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			f(t)
		})
	}
}
