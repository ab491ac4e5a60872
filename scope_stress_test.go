package bide_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// BIDE_STRESS says how long a stress run lasts; BIDE_SEED replays one.
func stressed(t *testing.T) (until time.Time, seed uint64) {
	return time.Now().Add(stress.Time(t)), stress.Seed(t)
}

var errStop = errors.New("stop")

// A lock that is fought for under scopes that expire, under every kind of context: whoever is told that he holds it
// does, alone, and in the end it is free.
func TestStressLockRealTime(t *testing.T) {
	until, seed := stressed(t)
	var mu syncs.Mutex
	inside := 0
	var held, refused atomic.Int64
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		for g := range uint64(16) {
			n.Go(func(ctx context.Context) error {
				r := rand.New(rand.NewPCG(seed, g))
				for time.Now().Before(until) || held.Load() == 0 {
					_, err := bide.MoveOnAfter(ctx, time.Duration(r.IntN(1500))*time.Microsecond, func(ctx context.Context) error {
						switch r.IntN(3) {
						case 1:
							ctx = context.WithValue(ctx, valueKey{}, 1)
						case 2:
							child, stop := context.WithCancel(ctx)
							defer stop()
							ctx = child
						}
						if err := mu.Lock(ctx); err != nil {
							refused.Add(1)
							return fmt.Errorf("lock: %w", err)
						}
						defer mu.Unlock()
						if inside++; inside != 1 {
							t.Error("two hold the lock")
						}
						for range r.IntN(50) {
							runtime.Gosched()
						}
						inside--
						held.Add(1)
						return nil
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		return nil
	})
	if err != nil || !mu.TryLock() || held.Load() == 0 {
		t.Fatal(err, held.Load())
	}
	t.Logf("held %d times, refused %d", held.Load(), refused.Load())
}
