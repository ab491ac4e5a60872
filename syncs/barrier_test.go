package syncs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// Rounds, by as many as there are parties, and one of them is the last.
func TestBubbleBarrierRounds(t *testing.T) {
	for _, n := range []int{1, 2, 3, 33, 100} {
		synctest.Test(t, func(t *testing.T) {
			b := syncs.NewBarrier(n)
			var lasts atomic.Int64
			party := func() error {
				last, err := b.Wait(context.Background())
				if last {
					lasts.Add(1)
				}
				return err
			}
			for round := range int64(3) {
				count := waitFor(n-1, party)
				if got := count(); got != 0 || lasts.Load() != round {
					t.Fatalf("%d of %d parties went on without the last", got, n)
				}
				if last, err := b.Wait(context.Background()); !last || err != nil {
					t.Errorf("the last of %d: %v, %v", n, last, err)
				}
				lasts.Add(1)
				if got := count(); got != n-1 || lasts.Load() != round+1 || b.Arrived() != 0 {
					t.Fatalf("%d of %d went on, %d were the last", got, n-1, lasts.Load())
				}
			}
		})
	}
}

// The zero Barrier is for one.
func TestBarrierZero(t *testing.T) {
	var b syncs.Barrier
	for range 2 {
		if last, err := b.Wait(context.Background()); !last || err != nil {
			t.Errorf("%v, %v", last, err)
		}
	}
}

// More who come than there are parties: they make rounds.
func TestBubbleBarrierMoreThanParties(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := syncs.NewBarrier(3)
		count := waitFor(10, func() error { _, err := b.Wait(context.Background()); return err })
		if got := count(); got != 9 || b.Arrived() != 1 {
			t.Errorf("%d of 10 went on, %d are there", got, b.Arrived())
		}
		waitFor(2, func() error { _, err := b.Wait(context.Background()); return err })
		if got := count(); got != 10 || b.Arrived() != 0 {
			t.Errorf("%d of 10 went on, %d are there", got, b.Arrived())
		}
	})
}

// A party that leaves takes its arrival back; the others go on waiting until another has come.
func TestBubbleBarrierPartyLeaves(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bg := context.Background()
				b := syncs.NewBarrier(4)
				ctx, cancel := c.make(t)
				errs := make(chan error, 2)
				wait := func() error { _, err := b.Wait(bg); return err }
				first := waitFor(1, wait)
				for range 2 {
					waitFor(1, func() error { _, err := b.Wait(ctx); errs <- err; return nil })
				}
				cancel()
				for range 2 {
					if err := <-errs; !c.want(err) {
						t.Errorf("error %v", err)
					}
				}
				if first() != 0 || b.Arrived() != 1 {
					t.Errorf("%d went on, %d are there", first(), b.Arrived())
				}
				second := waitFor(2, wait)
				if first() != 0 || second() != 0 || b.Arrived() != 3 {
					t.Errorf("those who left were counted: %d, %d", first(), second())
				}
				if last, err := b.Wait(bg); !last || err != nil {
					t.Errorf("the last: %v, %v", last, err)
				}
				if first() != 1 || second() != 2 || b.Arrived() != 0 {
					t.Errorf("%d and %d went on", first(), second())
				}
				// Under a canceled context nobody arrives, not even the last.
				waitFor(3, wait)
				if last, err := b.Wait(ctx); last || !c.want(err) || b.Arrived() != 3 {
					t.Errorf("canceled: %v, %v; %d are there", last, err, b.Arrived())
				}
				if last, err := b.Wait(bg); !last || err != nil {
					t.Errorf("the last: %v, %v", last, err)
				}
			})
		})
	}
}

// A party is canceled, and the last comes at the same time: either it was in time, with all others, or it has left and
// the last one waits.
func TestBubbleBarrierCanceledAndComplete(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			complete := 0
			for range 20 {
				synctest.Test(t, func(t *testing.T) {
					bg := context.Background()
					b := syncs.NewBarrier(3)
					ctx, cancel := c.make(t)
					leaving := make(chan error, 1)
					waitFor(1, func() error { _, err := b.Wait(ctx); leaving <- err; return nil })
					staying := waitFor(1, func() error { _, err := b.Wait(bg); return err })
					cancel()
					err := bide.FailAfter(bg, time.Second, func(ctx context.Context) error {
						last, err := b.Wait(ctx)
						if last != (err == nil) {
							t.Errorf("%v, %v", last, err)
						}
						return err
					})
					left := <-leaving
					if err == nil {
						complete++
					}
					if (left == nil) != (err == nil) || staying() == 1 != (err == nil) || left != nil && !c.want(left) {
						t.Errorf("the last got %v, the one that was canceled %v, the other went on: %d", err, left, staying())
					}
					if err != nil {
						waitFor(1, func() error { _, err := b.Wait(bg); return err })
						_, _ = b.Wait(bg)
					}
					if staying() != 1 || b.Arrived() != 0 {
						t.Error("somebody is left")
					}
				})
			}
			t.Logf("complete %d of 20", complete)
		})
	}
}

// A context that panics takes the arrival back, too.
func TestBubbleBarrierPanic(t *testing.T) {
	for _, in := range []string{"Done", "Value"} {
		synctest.Test(t, func(t *testing.T) {
			b := syncs.NewBarrier(2)
			s := open(t, context.Background())
			defer s.Cancel(nil)
			x := &brittle{context.WithoutCancel(s), in, func() {}}
			if got := panics(func() { _, _ = b.Wait(x) }); got != "brittle" || b.Arrived() != 0 {
				t.Errorf("panic %q, %d are there", got, b.Arrived())
			}
			count := waitFor(1, func() error { _, err := b.Wait(context.Background()); return err })
			x.first = func() { _, _ = b.Wait(context.Background()) } // is the last, and completes the round
			if count() != 0 {
				t.Error("went on with one who has gone")
			}
			_, _ = b.Wait(context.Background())
			if count() != 1 {
				t.Error("does not go on")
			}
			if got := panics(func() { _, _ = b.Wait(x) }); got != "brittle" || b.Arrived() != 0 {
				t.Errorf("complete: panic %q, %d are there", got, b.Arrived())
			}
		})
	}
}

// What a party did before its Wait is seen by the others after theirs. The race detector watches.
func TestBarrierOrders(t *testing.T) {
	const n = 4
	b := syncs.NewBarrier(n)
	var v [n]int
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			for round := range some(1000) {
				v[i] = round
				_, _ = b.Wait(context.Background())
				for k := range v {
					if v[k] != round {
						t.Errorf("round %d: party %d is in %d", round, k, v[k])
					}
				}
				_, _ = b.Wait(context.Background())
			}
		})
	}
	group.Wait()
}

// Parties that come and go: as many go on as make whole rounds, each with one last, and at the end nobody is counted.
func TestStressBarrier(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const workers, parties = 8, 7
		more := stress.Lasting(t, 2*len(procs))
		b := syncs.NewBarrier(parties)
		end := open(t, context.Background())
		var through, lasts, failed atomic.Int64
		var group, over sync.WaitGroup
		for g := range workers {
			group.Go(func() {
				r := source(g)
				for more() {
					passed, last := false, false
					wait := func(ctx context.Context) (err error) {
						last, err = b.Wait(ctx)
						passed = err == nil
						return err
					}
					err := underAlways(r, end, wait)
					switch {
					case passed && last:
						lasts.Add(1)
						fallthrough
					case passed:
						through.Add(1)
					case err == nil || last:
						t.Errorf("%v, last %v", err, last)
					default:
						failed.Add(1)
					}
				}
			})
		}
		over.Go(func() {
			for more() {
				yield()
			}
			end.Cancel(nil)
		})
		group.Wait()
		over.Wait()
		if through.Load() != parties*lasts.Load() || b.Arrived() != 0 {
			t.Errorf("%d went on in %d rounds of %d; %d are there", through.Load(), lasts.Load(), parties, b.Arrived())
		}
		t.Logf("%d rounds, %d left", lasts.Load(), failed.Load())
	})
}

// Bounded by a scope, as all parties of a phase.
func TestBubbleBarrierScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := syncs.NewBarrier(3)
		s := open(t, context.Background())
		count := waitFor(2, func() error {
			_, err := b.Wait(s)
			if err != bide.Check(s) {
				t.Errorf("error %v", err)
			}
			return nil
		})
		s.Cancel(errBecause)
		if count() != 2 || b.Arrived() != 0 {
			t.Error("not released by the cancellation")
		}
	})
}
