package bide_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// BIDE_STRESS says how long a stress run lasts; BIDE_SEED replays one.
func stressed(t *testing.T) (until time.Time, seed uint64) {
	d, err := time.ParseDuration(os.Getenv("BIDE_STRESS"))
	if err != nil {
		d = 500 * time.Millisecond
	}
	seed, err = strconv.ParseUint(os.Getenv("BIDE_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("BIDE_SEED=%d", seed)
	return time.Now().Add(d), seed
}

var errStop = errors.New("stop")

// Trees of scopes that are opened, observed, canceled, bounded anew and closed by several goroutines at once, while
// others wait under them. In the end every wait has come back, everything below a canceled scope is canceled, and
// nothing is left in the timer service.
func TestStressTree(t *testing.T) {
	until, seed := stressed(t)
	v := clock.NewVirtual()
	service := timer.For(v)
	for round := uint64(0); time.Now().Before(until); round++ {
		r := rand.New(rand.NewPCG(seed, round))
		root := bide.Open(context.Background(), bide.Clock(v))
		scopes := []*bide.Scope{root}
		later := map[*bide.Scope]bool{} // below a standard context: told by a goroutine, but for those right below
		for range 2 + r.IntN(12) {
			var opts []bide.Option
			if r.IntN(2) == 0 {
				opts = append(opts, bide.Timeout(time.Duration(r.IntN(50))))
			}
			parent := scopes[r.IntN(len(scopes))]
			ctx, below := context.Context(parent), later[parent]
			switch r.IntN(6) {
			case 0:
				ctx = context.WithValue(parent, valueKey{}, 1)
			case 1:
				child, stop := context.WithCancel(parent)
				defer stop()
				ctx, below = child, true
			}
			s := bide.Open(ctx, opts...)
			scopes, later[s] = append(scopes, s), below
		}
		var never syncs.Event
		var group sync.WaitGroup
		var waiting atomic.Int64
		for g := range uint64(4) {
			group.Go(func() {
				r := rand.New(rand.NewPCG(seed+g+1, round))
				for range 12 {
					s := scopes[r.IntN(len(scopes))]
					switch r.IntN(8) {
					case 0, 1:
						waiting.Add(1)
						group.Go(func() {
							defer waiting.Add(-1)
							if err := never.Wait(s); err == nil {
								t.Error("woken by nobody")
							}
						})
					case 2:
						child, stop := context.WithCancel(s)
						s.Cancel(errStop)
						if s.Err() == nil || child.Err() == nil {
							t.Error("live after Cancel")
						}
						stop()
					case 3:
						if ok := s.SetTimeout(time.Duration(r.IntN(60))); !ok && s.Err() == nil {
							t.Error("SetTimeout refused by a live scope")
						}
					case 4:
						_ = s.Err()
					case 5:
						s.Done()
					case 6:
						v.Advance(time.Duration(r.IntN(10)))
					case 7:
						s.AfterFunc(func() {})()
					}
				}
			})
		}
		runtime.Gosched()
		root.Cancel(errStop)
		for i, s := range scopes {
			if later[s] {
				<-s.Done()
			}
			if s.Err() == nil {
				t.Errorf("scope %d is live below a canceled one: %v", i, s)
			}
		}
		group.Wait()
		for _, s := range scopes[1:] {
			group.Go(func() { s.Close(nil) })
		}
		group.Wait()
		root.Close(nil)
		if n := service.Stats().Pending; n != 0 || waiting.Load() != 0 {
			t.Errorf("%d deadlines pending, %d waiting", n, waiting.Load())
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

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
				for time.Now().Before(until) {
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
