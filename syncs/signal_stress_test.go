package syncs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// Waits for numbers near and far, in all ways, while the count goes on, and now and then everybody is sent away: a nil
// means that the number is reached, an error that nothing is left, and nobody who waits for what is reached sleeps on.
func TestStressSequencer(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const workers, movers = 6, 2
		more := stress.Lasting(t, 2*len(procs))
		var s syncs.Sequencer
		var other syncs.Event
		end := open(t, context.Background())
		var reached, closed, failed atomic.Int64
		var group, moving sync.WaitGroup
		for g := range movers {
			moving.Go(func() {
				r := source(workers + g)
				for more() {
					switch n := r.IntN(64); {
					case n == 0:
						s.CancelWaiters()
					case n < 8:
						s.Advance(s.Get() + uint64(r.IntN(4)))
					default:
						s.Increment()
					}
					for range r.IntN(8) {
						yield()
					}
				}
			})
		}
		for g := range workers {
			group.Go(func() {
				r := source(g)
				for end.Err() == nil {
					n := s.Get() + uint64(r.IntN(6))
					if r.IntN(16) == 0 {
						n += 1 << 40
					}
					ok := false
					err := underAlways(r, end, func(ctx context.Context) (err error) {
						switch r.IntN(4) {
						case 0:
							i := 0
							i, err = syncs.WaitAny(ctx, &other, s.At(n), s.At(n+1))
							if i == 0 {
								t.Error("named an event that was never set")
							}
						case 1:
							err = syncs.WaitAll(ctx, s.At(n), s.At(n/2))
						default:
							err = s.Wait(ctx, n)
						}
						ok = err == nil
						return err
					})
					switch {
					case ok && s.Get() < n:
						t.Errorf("reached %d at %d", n, s.Get())
					case ok:
						reached.Add(1)
					case err == syncs.ErrClosed:
						closed.Add(1)
					default:
						if failed.Add(1); err == nil {
							t.Error("failed, but not with an error")
						}
					}
				}
			})
		}
		moving.Wait()
		s.Advance(1 << 39) // whoever it has reached is woken when it returns
		if lowest := s.Lowest(); lowest != 0 && lowest <= 1<<39 {
			t.Errorf("%d is reached, and somebody waits for it", lowest)
		}
		end.Cancel(nil)
		group.Wait()
		if s.Queued() || other.Queued() {
			t.Error("somebody is left")
		}
		t.Logf("reached %d, closed %d, failed %d", reached.Load(), closed.Load(), failed.Load())
	})
}

// An AutoEvent that is set is a lock that is free: it is handed around among many who come and go, and it is neither
// lost nor doubled.
func TestStressAutoEvent(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const workers = 8
		more := stress.Lasting(t, 2*len(procs))
		var e syncs.AutoEvent
		var inside, held, failed atomic.Int64
		counter := int64(0) // the race detector watches
		e.Set()
		var group sync.WaitGroup
		for g := range workers {
			group.Go(func() {
				r := source(g)
				for more() {
					ok := false
					var err error
					if r.IntN(8) == 0 {
						if ok = e.TryWait(); !ok {
							continue
						}
					} else {
						err = under(r, func(ctx context.Context) error {
							err := e.Wait(ctx)
							ok = err == nil
							return err
						})
					}
					if !ok {
						if failed.Add(1); err == nil {
							t.Error("failed, but not with an error")
						}
						continue
					}
					if inside.Add(1) != 1 {
						t.Error("not alone")
					}
					counter++
					for range r.IntN(16) {
						yield()
					}
					inside.Add(-1)
					held.Add(1)
					e.Set()
				}
			})
		}
		group.Wait()
		if !e.TryWait() || e.TryWait() || e.Queued() || counter != held.Load() {
			t.Errorf("it is gone, or doubled; counted %d, held %d times", counter, held.Load())
		}
		t.Logf("held %d, failed %d", held.Load(), failed.Load())
	})
}

// Rounds of work that follow each other at once, while others wait, with bounds that come in between: who got nil has
// seen all of the round that ran when it began to wait.
func TestStressWaitGroup(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const waiters, workers = 5, 3
		more := stress.Lasting(t, 2*len(procs))
		var g syncs.WaitGroup
		var round atomic.Int64 // of the work that is going on, or is to begin
		var finished [1024]atomic.Int64
		var rounds, released, failed atomic.Int64
		var group sync.WaitGroup
		group.Go(func() {
			r := source(waiters)
			for more() {
				n := round.Load()
				done := &finished[n%int64(len(finished))]
				done.Store(0)
				g.Add(workers)
				round.Add(1)
				for range workers {
					pause := r.IntN(8)
					go func() {
						for range pause {
							yield()
						}
						done.Add(1)
						g.Done()
					}()
				}
				if err := g.Wait(context.Background()); err != nil || done.Load() != workers {
					t.Errorf("%d of %d have finished: %v", done.Load(), workers, err)
				}
			}
			rounds.Store(round.Swap(-1))
		})
		for w := range waiters {
			group.Go(func() {
				r := source(w)
				for {
					n := round.Load() // round n - 1 has begun, and perhaps others after it
					if n < 0 {
						return
					}
					ok := false
					err := under(r, func(ctx context.Context) error {
						err := g.Wait(ctx)
						ok = err == nil
						return err
					})
					if !ok {
						if failed.Add(1); err == nil {
							t.Error("failed, but not with an error")
						}
						continue
					}
					released.Add(1)
					yield()
					now := round.Load()
					if done := finished[max(n-1, 0)%int64(len(finished))].Load(); n > 0 && now >= 0 && now < n+100 && done != workers {
						t.Errorf("released when %d of %d of its round had finished", done, workers)
					}
				}
			})
		}
		group.Wait()
		if g.Counter() != 0 || g.Queued() {
			t.Errorf("the counter is %d, queued %v", g.Counter(), g.Queued())
		}
		t.Logf("%d rounds; released %d, failed %d", rounds.Load(), released.Load(), failed.Load())
	})
}

// A thousand who wait under one scope, each for its own number; the numbers come, and the scope is canceled in the midst
// of it: each resumes once, with one or the other.
func TestStressThousandUnderOneScope(t *testing.T) {
	const n = 1000
	for range some(20) {
		var s syncs.Sequencer
		var e syncs.AutoEvent
		scope := bide.Open(context.Background())
		var numbers, sets, canceled atomic.Int64
		var group sync.WaitGroup
		count := func(got *atomic.Int64, err error) {
			if err == nil {
				got.Add(1)
			} else if canceled.Add(1); bide.Check(scope) != err {
				t.Errorf("error %v", err)
			}
		}
		for i := range n {
			group.Go(func() {
				if i%2 == 0 {
					count(&numbers, s.Wait(scope, uint64(i/2+1)))
				} else {
					count(&sets, e.Wait(scope))
				}
			})
		}
		race(func() bool { return s.Lowest() == 1 && e.Queued() }, func() {
			for range n / 2 {
				s.Increment()
				e.Set()
			}
		}, func() {
			for s.Get() < n/4 {
				yield()
			}
			scope.Cancel(nil)
		}).Wait()
		group.Wait()
		scope.Close(nil)
		if total := numbers.Load() + sets.Load() + canceled.Load(); total != n || numbers.Load() > int64(s.Get()) || sets.Load() > n/2 {
			t.Errorf("%d and %d got theirs, %d were canceled, of %d", numbers.Load(), sets.Load(), canceled.Load(), n)
		}
		if s.Queued() || e.Queued() {
			t.Error("somebody is left in a queue")
		}
	}
}

// Futures that are used again and again by one pair, with functions: each round's value is seen once by each.
func TestStressFutureRounds(t *testing.T) {
	more := stress.Lasting(t, 4)
	var f, back syncs.Future[int]
	rounds := 0
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			v, err := f.Wait(context.Background())
			if err != nil {
				return
			}
			f.Reset()
			back.Set(v)
		}
	}()
	for ; more(); rounds++ {
		var called atomic.Bool
		back.OnDone(func(v int, err error) { called.Store(v == rounds+1 && err == nil) })
		f.Set(rounds + 1)
		if v, err := back.Wait(context.Background()); v != rounds+1 || err != nil {
			t.Fatalf("round %d: %d, %v", rounds, v, err)
		}
		for !called.Load() { // on the other side, after this one was woken
			yield()
		}
		back.Reset()
	}
	f.Fail(errBecause)
	<-over
	t.Logf("%d rounds", rounds)
}
