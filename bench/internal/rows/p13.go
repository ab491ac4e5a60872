package rows

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// P13: a lock whose wait is bounded; by one goroutine, and by several that want it all the time, with nothing inside and
// with a yield inside, so that the others must park.
var p13 = pair.Row{
	Name: "P13", Title: "lock and unlock a mutex", Quick: true, Procs: 2,
	Run:   runP13,
	Lines: linesP13(),
}

var crowds = []int{2, 4, 16, 64}

func linesP13() []pair.Line {
	lines := []pair.Line{
		{Case: "uncontended, scope", Ours: "scope", Rival: "sync.Mutex", Of: pair.Ns, Target: pair.Within(1.3)},
		{Case: "uncontended, Background", Ours: "Background", Rival: "sync.Mutex", Of: pair.Ns, Target: pair.Within(1.3)},
		{Case: "uncontended, standard context", Ours: "std", Rival: "sync.Mutex", Of: pair.Ns, Target: pair.Within(1.5)},
		{Case: "TryLock", Ours: "TryLock", Rival: "sync.Mutex.TryLock", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "LockUntil", Ours: "LockUntil", Rival: "sync.Mutex", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "uncontended, scope", Ours: "scope", Rival: "channel+NewTimer", Of: pair.Ns},
		{Case: "uncontended, scope", Ours: "scope", Rival: "semaphore+WithTimeout", Of: pair.Ns},
		{Case: "uncontended, scope", Ours: "scope", Of: pair.Bytes, Target: pair.AtMost(0)},
	}
	for _, g := range crowds {
		for _, inside := range []string{"", ", yield inside"} {
			at := fmt.Sprintf("@%d goroutines%s", g, inside)
			lines = append(lines,
				pair.Line{Case: at[1:], Ours: "scope" + at, Rival: "sync.Mutex" + at, Of: pair.Ns, Target: pair.Within(1)},
				pair.Line{Case: at[1:], Ours: "scope" + at, Rival: "channel+NewTimer" + at, Of: pair.Ns, Target: pair.AtLeast(3)})
		}
	}
	return lines
}

// A lock is one way to lock with a bound.
type lock struct {
	name         string
	lock, unlock func()
}

func runP13(r *pair.Run) error {
	scope := bide.Open(context.Background(), bide.Timeout(time.Hour))
	defer scope.Close(nil)
	scope.Err()
	scope.Err() // observed
	std, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	var m syncs.Mutex
	var rival sync.Mutex
	far := clock.After(time.Hour)
	sem := semaphore.NewWeighted(1)
	ch := make(chan struct{}, 1)
	for r.Next() {
		r.Op("sync.Mutex", func(n int) {
			for range n {
				rival.Lock()
				rival.Unlock() //nolint:staticcheck // nothing is the work
			}
		})
		for name, ctx := range map[string]context.Context{"scope": scope, "Background": context.Background(), "std": std} {
			r.Op(name, func(n int) {
				for range n {
					if m.Lock(ctx) == nil {
						m.Unlock()
					}
				}
			})
		}
		r.Op("sync.Mutex.TryLock", func(n int) {
			for range n {
				if rival.TryLock() {
					rival.Unlock()
				}
			}
		})
		r.Op("TryLock", func(n int) {
			for range n {
				if m.TryLock() {
					m.Unlock()
				}
			}
		})
		r.Op("LockUntil", func(n int) {
			for range n {
				if m.LockUntil(far) == nil {
					m.Unlock()
				}
			}
		})
		r.Op("semaphore+WithTimeout", func(n int) {
			for range n {
				ctx, cancel := context.WithTimeout(std, time.Hour)
				if sem.Acquire(ctx, 1) == nil {
					sem.Release(1)
				}
				cancel()
			}
		})
		r.Op("channel+NewTimer", func(n int) {
			for range n {
				lockChannel(ch)
				<-ch
			}
		})
	}
	locks := []lock{
		{"sync.Mutex", rival.Lock, rival.Unlock},
		{"scope", func() { _ = m.Lock(scope) }, m.Unlock},
		{"channel+NewTimer", func() { lockChannel(ch) }, func() { <-ch }},
	}
	for _, g := range crowds {
		for inside, work := range map[string]func(){"": nothing, ", yield inside": runtime.Gosched} {
			for r.Next() {
				for _, l := range locks {
					r.Op(fmt.Sprintf("%s@%d goroutines%s", l.name, g, inside), func(n int) { fight(g, n, l, work) })
				}
			}
		}
	}
	return nil
}

// lockChannel locks the channel that is a mutex, with a timeout, as users write it today.
func lockChannel(ch chan struct{}) {
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	select {
	case ch <- struct{}{}:
	case <-t.C:
	}
}

// fight divides n rounds among g goroutines.
func fight(g, n int, l lock, work func()) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range g {
		rounds := n / g
		if i < n%g {
			rounds++
		}
		group.Go(func() {
			<-start
			for range rounds {
				l.lock()
				work()
				l.unlock()
			}
		})
	}
	close(start)
	group.Wait()
}
