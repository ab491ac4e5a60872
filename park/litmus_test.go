package park_test

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// The litmus of the last token: all goroutines count one up, and then wait until all have. Whoever counts last wakes
// the others, who are just about to park: if one of them looks before the last count and parks after its wake-up, that
// one sleeps for good. Nothing else would wake it: the round is over only when all are awake.
//
// It runs outside of a bubble, on all processors there are, with a deadline that only a lost wake-up comes to.
type litmus interface {
	// await waits until the count is n, or deadline.
	await(me int, n int64, deadline clock.Instant) park.Outcome
	// increment counts, and wakes those who wait for that.
	increment()
}

// rounds is n, or its share in a run that has not the time for all, unless BIDE_STRESS is set.
func rounds(n int) int {
	switch {
	case os.Getenv("BIDE_STRESS") != "":
		return n
	case step.On:
		return n / 200
	case testing.Short(), invariant.On:
		return n / 20
	}
	return n
}

// run reports how many waits were woken, and how many wake-ups were lost; it gives up when it has seen a few.
func run(l litmus, goroutines, rounds int, patience time.Duration) (woken, lost int64) {
	var group sync.WaitGroup
	var n, w atomic.Int64
	for me := range goroutines {
		group.Go(func() {
			for r := 1; r <= rounds && n.Load() < 10; r++ {
				l.increment()
				target := int64(goroutines) * int64(r)
				switch l.await(me, target, clock.After(patience)) {
				case park.Woken:
					w.Add(1)
				case park.Expired:
					n.Add(1)
				}
			}
		})
	}
	group.Wait()
	return w.Load(), n.Load()
}

// inLotLitmus waits in a lot, under the address of the count.
type inLotLitmus struct {
	lot     park.Lot
	n       atomic.Int64
	of      int64
	unsound bool // validate is asked before, and not under the lock
}

func (l *inLotLitmus) await(_ int, n int64, deadline clock.Instant) park.Outcome {
	validate := func() bool { return l.n.Load() < n }
	if l.unsound {
		if !validate() {
			return park.Self
		}
		runtime.Gosched()
		validate = nil
	}
	return l.lot.Park(context.Background(), &l.n, deadline, park.KindUser, validate)
}

func (l *inLotLitmus) increment() {
	if l.n.Add(1)%l.of == 0 {
		l.lot.Wake(&l.n, park.All, park.Woken, nil)
	}
}

// inListLitmus waits in a list.
type inListLitmus struct {
	mu      sync.Mutex
	n       int64
	of      int64
	list    park.List
	kept    []*park.Waiter
	unsound bool // the look is not under the lock that publishes
}

func (l *inListLitmus) await(me int, n int64, deadline clock.Instant) park.Outcome {
	w := l.kept[me]
	node := &w.Nodes(1)[0]
	tok := w.Arm(deadline)
	l.mu.Lock()
	if l.unsound {
		reached := l.n >= n
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
		if !reached {
			n = l.n + 1
		}
	}
	if l.n >= n {
		l.mu.Unlock()
		w.Withdraw(tok)
		return park.Self
	}
	l.list.PushBack(node, w, tok, park.Woken)
	l.mu.Unlock()
	o := w.Wait(context.Background(), tok, park.KindUser)
	if o != park.Woken {
		l.mu.Lock()
		l.list.Remove(node)
		l.mu.Unlock()
	}
	return o
}

func (l *inListLitmus) increment() {
	var all park.Batch
	l.mu.Lock()
	if l.n++; l.n%l.of == 0 {
		all.Resolve(&l.list, park.All)
	}
	l.mu.Unlock()
	all.Unpark()
}

func litmusKinds(t *testing.T, goroutines int, unsound bool) map[string]litmus {
	list := &inListLitmus{of: int64(goroutines), unsound: unsound}
	for range goroutines {
		w := park.New(nil)
		t.Cleanup(w.Release)
		list.kept = append(list.kept, w)
	}
	return map[string]litmus{
		"Lot":  &inLotLitmus{of: int64(goroutines), unsound: unsound},
		"List": list,
	}
}

func TestStressLastTokenRealTime(t *testing.T) {
	const goroutines = 4
	for name, l := range litmusKinds(t, goroutines, false) {
		t.Run(name, func(t *testing.T) {
			n := rounds(200_000)
			woken, lost := run(l, goroutines, n, time.Minute)
			if lost != 0 || woken == 0 {
				t.Errorf("%d wake-ups of %d rounds were lost, %d were not", lost, n, woken)
			}
			t.Logf("of %d waits %d were woken", goroutines*n, woken)
		})
	}
}

// The litmus can fail: who looks before it publishes loses wake-ups, and is found.
func TestLastTokenNeedsTheLockRealTime(t *testing.T) {
	const goroutines = 4
	for name, l := range litmusKinds(t, goroutines, true) {
		t.Run(name, func(t *testing.T) {
			if _, lost := run(l, goroutines, 200, time.Millisecond); lost == 0 {
				t.Error("nothing was lost")
			}
		})
	}
}
