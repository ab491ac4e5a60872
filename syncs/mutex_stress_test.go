package syncs_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// Mutual exclusion, under all kinds of contexts and bounds: who got nil holds it, alone, and at the end nothing is left.
func TestStressMutex(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const workers = 8
		more := stress.Lasting(t, len(procs))
		var m syncs.Mutex
		var inside, held, failed atomic.Int64
		counter := int64(0) // guarded by m; the race detector watches
		hold := func(r *rand.Rand) {
			if inside.Add(1) != 1 {
				t.Error("not alone")
			}
			counter++
			for range r.IntN(16) {
				yield()
			}
			inside.Add(-1)
			m.Unlock()
			held.Add(1)
		}
		var group sync.WaitGroup
		for g := range workers {
			group.Go(func() {
				r := source(g)
				for more() {
					switch r.IntN(10) {
					case 0:
						if m.TryLock() {
							hold(r)
						}
					case 1, 2:
						if err := m.LockUntil(clock.After(time.Duration(r.IntN(1000)-100) * time.Microsecond)); err == nil {
							hold(r)
						} else if failed.Add(1); err != os.ErrDeadlineExceeded {
							t.Error(err)
						}
					default:
						ok := false
						err := under(r, func(ctx context.Context) error {
							err := m.Lock(ctx)
							ok = err == nil
							return err
						})
						if ok {
							hold(r)
						} else if failed.Add(1); err == nil {
							t.Error("Lock failed, but not with an error")
						}
					}
				}
			})
		}
		group.Wait()
		if !m.Idle() {
			t.Error("something is left")
		}
		if counter != held.Load() {
			t.Errorf("counted %d, held %d times", counter, held.Load())
		}
		t.Logf("held %d, failed %d", held.Load(), failed.Load())
	})
}

// Many short bounds, and nothing to get: all of them end, each with the error of its bound, and when the lock is
// released somebody gets it.
func TestStressTimeoutStorm(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const workers = 16
		more := stress.Lasting(t, 2*len(procs))
		var m syncs.Mutex
		m.TryLock()
		var attempts [workers]int
		var group sync.WaitGroup
		for g := range workers {
			group.Go(func() {
				r := source(g)
				for more() {
					attempts[g]++
					short := time.Duration(r.IntN(100)) * time.Microsecond
					if r.IntN(2) == 0 {
						if err := m.LockUntil(clock.After(short)); err != os.ErrDeadlineExceeded {
							t.Error(err)
						}
						continue
					}
					err := bide.FailAfter(context.Background(), short, m.Lock)
					var timeout *bide.TimeoutError
					if !errors.As(err, &timeout) {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if m.Queued() {
			t.Error("somebody is left in the queue")
		}
		m.Unlock()
		if err := m.LockUntil(clock.Now()); err != nil {
			t.Error(err)
		}
		m.Unlock()
		if !m.Idle() {
			t.Error("something is left")
		}
		t.Logf("attempts: %v", attempts)
	})
}

// The same with a holder that releases now and then: who asks for long enough gets it, while the storm goes on. If it
// does not, this hangs.
func TestStressTimeoutStormWithProgress(t *testing.T) {
	const workers = 8
	source, more := stress.Source(t), stress.Lasting(t, 2)
	var m syncs.Mutex
	var got atomic.Int64
	var storm, patient sync.WaitGroup
	for g := range workers {
		storm.Go(func() {
			r := source(g)
			for more() || got.Load() == 0 {
				if m.LockUntil(clock.After(time.Duration(r.IntN(50))*time.Microsecond)) == nil {
					m.Unlock()
				}
			}
		})
	}
	patient.Go(func() {
		for more() || got.Load() == 0 { // it may come late
			if err := m.Lock(context.Background()); err != nil {
				t.Error(err)
			}
			got.Add(1)
			m.Unlock()
		}
	})
	storm.Wait()
	patient.Wait()
	if !m.Idle() {
		t.Error("something is left")
	}
	t.Logf("the patient one got it %d times", got.Load())
}
