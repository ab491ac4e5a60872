package syncs_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// Events that are set and reset all the time, waited for alone and with others: an error leaves nothing, a nil means
// that it was set after the call began, and a last Set releases everybody.
func TestStressEvents(t *testing.T) {
	const workers, setters, n = 6, 2, 10
	source, more := stress.Source(t), stress.Lasting(t, 1)
	var events [n]syncs.Event
	var sets [n]atomic.Int64 // counted before each Set
	var released, failed atomic.Int64
	var group, setting sync.WaitGroup
	for g := range setters {
		setting.Go(func() {
			r := source(workers + g)
			for more() {
				i := r.IntN(n)
				sets[i].Add(1)
				events[i].Set()
				for range r.IntN(8) {
					yield()
				}
				if r.IntN(4) != 0 {
					events[i].Reset()
				}
			}
			for i := range events {
				sets[i].Add(1)
				events[i].Set()
			}
		})
	}
	for g := range workers {
		group.Go(func() {
			r := source(g)
			for more() {
				first := r.IntN(n)
				some := make([]syncs.Waitable, 1+r.IntN(n))
				for i := range some {
					some[i] = &events[(first+i)%n]
				}
				index := -1
				err := under(r, func(ctx context.Context) (err error) {
					if len(some) == 1 {
						if err = events[first].Wait(ctx); err == nil {
							index = 0
						}
						return err
					}
					index, err = syncs.WaitAny(ctx, some...)
					return err
				})
				if index >= 0 {
					released.Add(1)
					if sets[(first+index)%n].Load() == 0 {
						t.Error("released by an event that was never set")
					}
				} else if failed.Add(1); err == nil {
					t.Error("failed, but not with an error")
				}
			}
		})
	}
	setting.Wait()
	group.Wait() // all are set: nobody can wait any more
	for i := range events {
		if events[i].Queued() {
			t.Errorf("somebody is left with event %d", i)
		}
	}
	t.Logf("released %d, failed %d", released.Load(), failed.Load())
}

// Futures that are completed once, by several, and waited for by many.
func TestStressFutures(t *testing.T) {
	const writers, readers = 3, 4
	source, more := stress.Source(t), stress.Lasting(t, 2)
	rounds, canceled := 0, 0
	for r := source(0); more(); rounds++ {
		var f syncs.Future[int]
		var other syncs.Event
		var won atomic.Int64
		var group sync.WaitGroup
		for w := range writers {
			pause := r.IntN(3)
			group.Go(func() {
				for range pause {
					yield()
				}
				if f.Set(w + 1) {
					won.Add(1)
				}
			})
		}
		var got [readers]int
		var errs [readers]error
		for i := range readers {
			seed := rand.New(rand.NewPCG(r.Uint64(), 0))
			group.Go(func() {
				errs[i] = under(seed, func(ctx context.Context) (err error) {
					if i%2 == 0 {
						if _, err = syncs.WaitAny(ctx, &other, &f); err == nil {
							got[i], _, err = f.Poll()
						}
						return err
					}
					got[i], err = f.Wait(ctx)
					return err
				})
			})
		}
		group.Wait()
		v, ok, _ := f.Poll()
		if won.Load() != 1 || !ok || v < 1 || v > writers {
			t.Fatalf("%d writers have won; the value is %d, %v", won.Load(), v, ok)
		}
		for i := range readers {
			if errs[i] != nil {
				canceled++
			} else if got[i] != v {
				t.Fatalf("reader %d got %d, the value is %d", i, got[i], v)
			}
		}
		if f.Queued() || other.Queued() {
			t.Fatal("somebody is left in a queue")
		}
	}
	t.Logf("%d rounds, %d reads canceled", rounds, canceled)
}
