package bench_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// These tests are in this module because the root module does without golang.org/x/sync.

var failure = errors.New("failure")

// block waits until ctx ends.
func block(ctx context.Context) error { return new(syncs.Event).Wait(ctx) }

// blockStd is block for code that knows nothing of this module.
func blockStd(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// An errgroup under a scope ends with the scope: at once, with the scope's error, and all its goroutines.
func TestErrgroupUnderScope(t *testing.T) {
	for _, ending := range []struct {
		name string
		end  func(s *bide.Scope, vc *clock.Virtual)
		late bool
	}{
		{"Cancel", func(s *bide.Scope, _ *clock.Virtual) { s.Cancel(failure) }, false},
		{"deadline", func(_ *bide.Scope, vc *clock.Virtual) { vc.Advance(time.Minute) }, true},
	} {
		for name, wait := range map[string]func(context.Context) error{"ours": block, "std": blockStd} {
			t.Run(ending.name+"/"+name, func(t *testing.T) {
				bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
					root, vc := bidetest.Virtual(t)
					err := bide.Run(root, func(s *bide.Scope) error {
						g, ctx := errgroup.WithContext(s)
						for range 10 {
							g.Go(func() error { return wait(ctx) })
						}
						bidetest.Settle(t)
						ending.end(s, vc)
						if context.Cause(ctx) != s.Cause() {
							t.Errorf("the group's cause is %v, want %v", context.Cause(ctx), s.Cause())
						}
						err := g.Wait()
						if !errors.Is(err, s.Err()) {
							t.Errorf("Wait: %v, want %v", err, s.Err())
						}
						if name == "ours" && err != s.Cause() {
							t.Errorf("Wait: %v (%T), want %v", err, err, s.Cause())
						}
						return err
					}, bide.Timeout(time.Minute), bide.Name("group"))
					var late *bide.TimeoutError
					if errors.As(err, &late) != ending.late || !ending.late && err != nil {
						t.Errorf("the scope: %v (%T)", err, err)
					}
				})
			})
		}
	}
}

// A goroutine of an errgroup that fails ends the waits of its siblings, in scopes or not. The scope around is live, and
// passes on the error.
func TestErrgroupFails(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, root context.Context) {
		var seen [3]error
		err := bide.Run(root, func(s *bide.Scope) error {
			g, ctx := errgroup.WithContext(s)
			g.Go(func() error { seen[0] = block(ctx); return seen[0] })
			g.Go(func() error { seen[1] = bide.FailAfter(ctx, time.Hour, block); return seen[1] })
			g.Go(func() error {
				seen[2] = bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error { n.Go(block); return nil })
				return seen[2]
			})
			bidetest.Settle(t)
			g.Go(func() error { return failure })
			err := g.Wait()
			if s.Err() != nil {
				t.Errorf("the scope around has ended: %v", s.Cause())
			}
			return err
		})
		if err != failure {
			t.Errorf("Run: %v (%T)", err, err)
		}
		// Without a scope of its own a wait says what the context says; a scope also knows the cause.
		if seen[0] != context.Canceled {
			t.Errorf("the sibling without a scope: %v (%T)", seen[0], seen[0])
		}
		for i, err := range seen[1:] {
			var c *bide.Canceled
			if !errors.As(err, &c) || c.Source != bide.ByContext || c.Reason != failure || !errors.Is(err, context.Canceled) {
				t.Errorf("sibling %d with a scope: %v (%T), want a cancellation by the group's context", i, err, err)
			}
		}
	})
}

// A nursery under an errgroup's context ends with the group; and its own failure ends the group.
func TestNurseryUnderErrgroup(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, root context.Context) {
		g, ctx := errgroup.WithContext(root)
		var ended atomic.Int32
		g.Go(func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(func(context.Context) error { return failure })
				n.Go(block)
				err := block(ctx)
				ended.Add(1)
				return err
			})
		})
		g.Go(func() error { defer func() { ended.Add(1) }(); return blockStd(ctx) })
		g.Go(func() error { defer func() { ended.Add(1) }(); return block(ctx) })
		if err := g.Wait(); err != failure || ended.Load() != 3 {
			t.Errorf("%v, %d have ended", err, ended.Load())
		}
		if context.Cause(ctx) != failure {
			t.Errorf("the group's cause is %v", context.Cause(ctx))
		}
	})
}

// A limit of an errgroup is no bound on waiting for it: Go blocks, whatever the scope says. A nursery's Go does as well, but
// there the others are canceled with the scope, and make room.
func TestErrgroupLimitObeysNoScope(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, root context.Context) {
		release := make(chan bool)
		err := bide.Run(root, func(s *bide.Scope) error {
			g, _ := errgroup.WithContext(s)
			g.SetLimit(1)
			g.Go(func() error { <-release; return nil }) // looks at no context
			went := false
			go func() {
				g.Go(func() error { return nil })
				went = true
			}()
			s.Cancel(failure)
			bidetest.Settle(t)
			if went {
				t.Error("Go did not wait for room")
			}
			close(release)
			bidetest.Settle(t)
			if !went {
				t.Error("Go still waits")
			}
			return g.Wait()
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A semaphore of x/sync is one of those that know contexts, and so obey.
func TestSemaphoreUnderScope(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, root context.Context) {
		sem := semaphore.NewWeighted(1)
		if !sem.TryAcquire(1) {
			t.Fatal("taken")
		}
		err := bide.FailAfter(root, time.Minute, func(ctx context.Context) error { return sem.Acquire(ctx, 1) }, bide.Name("wait"))
		var late *bide.TimeoutError
		if !errors.As(err, &late) || late.Elapsed != time.Minute {
			t.Errorf("%v (%T)", err, err)
		}
		sem.Release(1)
		if !sem.TryAcquire(1) {
			t.Error("a permit is lost")
		}
	})
}
