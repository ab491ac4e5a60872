package syncs_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// The last token: all threads move the count, and somebody waits for the last of them, and may just be registering when
// it comes. A protocol that stores and loads in the wrong order, or with too little of sync/atomic, loses one in some
// thousand rounds; here nobody may be lost. The pauses make the two sides meet at every step of each other. Up to 20 000
// rounds, or, with BIDE_STRESS, 200 000 as often as there is time for.
func TestLitmusLastToken(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	for _, x := range []struct {
		name string
		make func() lastTokenOf
	}{
		{"Sequencer", func() lastTokenOf {
			s := new(syncs.Sequencer)
			return lastTokenOf{func(int) {}, s.Increment, s.Wait}
		}},
		{"Futex", func() lastTokenOf {
			f := new(syncs.Futex)
			return lastTokenOf{func(int) {}, f.Post, f.Wait}
		}},
		{"WaitGroup", func() lastTokenOf {
			g := new(syncs.WaitGroup)
			return lastTokenOf{g.Add, g.Done, func(ctx context.Context, _ uint64) error { return g.Wait(ctx) }}
		}},
	} {
		for _, threads := range []uint64{1, 4} {
			t.Run(fmt.Sprintf("%s/%d", x.name, threads), func(t *testing.T) {
				if os.Getenv("BIDE_STRESS") == "" {
					x.make().run(t, threads, uint64(some(20_000)), stress.Lasting(t, 8))
					return
				}
				ever := func() bool { return true }
				for more, again := stress.Lasting(t, 6), true; again; again = more() {
					x.make().run(t, threads, 200_000, ever)
				}
			})
		}
	}
}

// A lastTokenOf is something that counts: how a round of n moves begins, one of them, and the wait for the n-th in all.
type lastTokenOf struct {
	begin func(n int)
	move  func()
	wait  func(ctx context.Context, n uint64) error
}

func (x lastTokenOf) run(t *testing.T, threads, rounds uint64, more func() bool) {
	// One alone is patient, so that who waits, whom it has woken, goes to another processor, and they run side by side.
	patience := 50_000
	if threads > 1 {
		patience = 500
	}
	var round atomic.Uint64
	var over atomic.Bool
	var group sync.WaitGroup
	for g := range threads {
		group.Go(func() {
			for r := uint64(1); ; r++ {
				for spins := 0; round.Load() < r; spins++ { // together, and on all processors
					if over.Load() {
						return
					}
					if spins > patience {
						yield()
					}
				}
				pause(r * 7 % (61 + g))
				x.move()
			}
		})
	}
	for r := uint64(1); r <= rounds && (r%64 != 0 || more()); r++ {
		x.begin(int(threads))
		round.Store(r)
		pause(r * 5 % 53)
		err := bide.FailAfter(context.Background(), time.Minute, func(ctx context.Context) error { return x.wait(ctx, threads*r) })
		if err != nil {
			t.Errorf("lost in round %d: %v", r, err)
			break
		}
	}
	over.Store(true)
	group.Wait()
}

var paused atomic.Uint64

// pause is n rounds of a loop that is not optimized away.
func pause(n uint64) {
	for range n * 4 {
		paused.Load()
	}
}
