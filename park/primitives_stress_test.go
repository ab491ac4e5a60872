package park_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
)

// The examples are primitives that somebody will copy: they hold, too.

// exclusive runs workers that take a lock by take, which may fail, and checks that they are alone in it.
func exclusive(t *testing.T, take func(g, n int) bool, give func()) {
	const workers = 8
	more := stress.Lasting(t, 2)
	var group sync.WaitGroup
	var inside, failed atomic.Int64
	held, counter := [workers]int{}, 0 // counter: guarded by the lock, and watched by the race detector
	for g := range workers {
		group.Go(func() {
			for n := 0; more() || held[g] == 0; n++ { // once at least, also if it comes late
				if !take(g, n) {
					failed.Add(1)
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("not alone")
				}
				counter++
				held[g]++
				runtime.Gosched()
				inside.Add(-1)
				give()
			}
		})
	}
	group.Wait()
	sum := 0
	for _, n := range held {
		sum += n
	}
	if sum != counter {
		t.Errorf("counted %d, held %d times", counter, sum)
	}
	t.Logf("held %v, failed %d", held, failed.Load())
}

func TestStressCancelableMutex(t *testing.T) {
	source := stress.Source(t)
	var m CancelableMutex
	exclusive(t, func(g, n int) bool {
		return m.TryLockFor(time.Duration(source(g*1000+n).IntN(200)) * time.Microsecond)
	}, m.Unlock)
	if m.locked || !m.waiting.Empty() {
		t.Error("something is left")
	}
}

func TestStressWords(t *testing.T) {
	source := stress.Source(t)
	var words Words
	var w Word
	exclusive(t, func(g, n int) bool {
		ctx := context.Background()
		if g%2 == 0 {
			return words.Lock(ctx, &w) == nil
		}
		short := time.Duration(source(g*1000+n).IntN(200)) * time.Microsecond
		got := false
		_ = bide.FailAfter(ctx, short, func(ctx context.Context) error {
			got = words.Lock(ctx, &w) == nil
			return nil
		})
		return got
	}, func() { words.Unlock(&w) })
	if s := w.Load(); s&locked != 0 {
		t.Errorf("the word is %b", s)
	}
	if err := words.Lock(context.Background(), &w); err != nil {
		t.Error(err)
	}
	words.Unlock(&w)
	if s := w.Load(); s != 0 { // nobody was there: the Unlock has found that
		t.Errorf("the word is %b", s)
	}
}

// A producer and consumers, some of whom give up; the broadcast moves who waits, and whoever is moved and then canceled
// still has the lock when Wait returns.
func TestStressWordsCond(t *testing.T) {
	const consumers = 6
	source, more := stress.Source(t), stress.Lasting(t, 2)
	ctx := context.Background()
	var words Words
	var mu, cond Word
	var items, given, taken, failed int // guarded by mu
	over := false
	var group sync.WaitGroup
	for g := range consumers {
		group.Go(func() {
			r := source(g)
			_ = words.Lock(ctx, &mu)
			defer words.Unlock(&mu)
			for !over || items > 0 {
				if items > 0 {
					items--
					taken++
					continue
				}
				if g%2 == 0 {
					_ = words.Wait(ctx, &cond, &mu)
					continue
				}
				short := time.Duration(r.IntN(300)) * time.Microsecond
				if bide.FailAfter(ctx, short, func(ctx context.Context) error { return words.Wait(ctx, &cond, &mu) }) != nil {
					failed++
				}
			}
		})
	}
	for r := source(consumers); more() || given == 0; { // nobody else writes given
		_ = words.Lock(ctx, &mu)
		n := r.IntN(consumers)
		items, given = items+n, given+n
		words.Broadcast(&cond, &mu)
		words.Unlock(&mu)
		for range r.IntN(50) {
			runtime.Gosched()
		}
	}
	_ = words.Lock(ctx, &mu)
	over = true
	words.Broadcast(&cond, &mu)
	words.Unlock(&mu)
	group.Wait()
	if items != 0 || given != taken {
		t.Errorf("%d given, %d taken, %d left", given, taken, items)
	}
	t.Logf("%d given, %d waits gave up", given, failed)
}
