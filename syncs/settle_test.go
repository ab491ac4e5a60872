package syncs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// lasting returns a function that reports true until the time for a stress run is over: a share of BIDE_STRESS, or of
// a second.
func lasting(share int) func() bool {
	d, err := time.ParseDuration(os.Getenv("BIDE_STRESS"))
	if err != nil {
		d = time.Second
		if testing.Short() {
			d /= 10
		}
	}
	end := time.Now().Add(d / time.Duration(share))
	return func() bool { return time.Now().Before(end) }
}

// seeded returns a source for goroutine g, of the seed that BIDE_SEED gives, or that is drawn and printed.
func seeded(t *testing.T) func(g int) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("BIDE_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("BIDE_SEED=%d", seed)
	return func(g int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(g))) }
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
