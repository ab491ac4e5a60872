package bidetest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

func TestVirtual(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		var ctx context.Context
		text := new(fake).run(func(t bidetest.TB) {
			var c *clock.Virtual
			ctx, c = bidetest.Virtual(t)
			s := bide.Open(ctx, bide.Timeout(time.Hour))
			tm := timer.AfterFunc(time.Hour, func() {}, timer.On(c))
			c.Advance(time.Hour - 1)
			if s.Err() != nil {
				t.Errorf("expired early")
			}
			c.Advance(1)
			if s.Err() == nil || c.Now() != clock.Instant(time.Hour) {
				t.Errorf("%v at %v", s, c.Now())
			}
			s.Close(nil)
			tm.StopWait()
			if ctx.Err() != nil {
				t.Errorf("closed: %v", ctx)
			}
		})
		complains(t, text)
		if ctx.Err() == nil {
			t.Error("the scope is not closed at the end")
		}
	})
}

// closeLate opens a scope that somebody has to close.
func closeLate(ctx context.Context) *bide.Scope { return bide.Open(ctx, bide.Name("forgotten")) }

func TestVirtualScopeIsLeft(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	everywhere(t, func(t *testing.T) {
		text := new(fake).run(func(t bidetest.TB) {
			ctx, _ := bidetest.Virtual(t)
			bide.Open(ctx).Close(nil)
			closeLate(ctx)
		})
		complains(t, text, "under the context of Virtual", "bide.Scope forgotten (active)", "by bidetest_test.closeLate at ", "virtual_test.go:")
		if strings.Count(text, "bide.Scope") != 1 {
			t.Errorf("it speaks of others: %s", text)
		}

		// Scopes that nobody has looked at, shields, children with options, scopes of nurseries, below what was closed,
		// and below contexts of other kinds.
		var s *bide.Scope
		text = new(fake).run(func(t bidetest.TB) {
			ctx, _ := bidetest.Virtual(t)
			outer := bide.Open(ctx)
			bide.Shield(outer, time.Hour, func(ctx context.Context) error { closeLate(ctx); return nil })
			bide.WithNursery(outer, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(func(ctx context.Context) error { closeLate(ctx); return nil }, bide.Timeout(time.Hour))
				return nil
			})
			std, stop := context.WithCancel(outer)
			defer stop()
			s = bide.Open(std)
			outer.Close(nil)
		})
		complains(t, text, "forgotten")
		if n := strings.Count(text, "forgotten"); n != 2 || strings.Count(text, "bide.Scope") != 3 {
			t.Errorf("%d are forgotten in %s", n, text)
		}
		s.Close(nil) // too late, but harmless
	})
}

// Who owns what is left is who has it below his scope.
func TestVirtualBeside(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	everywhere(t, func(t *testing.T) {
		a, b := new(fake), new(fake)
		ctx, _ := bidetest.Virtual(a)
		beside, _ := bidetest.Virtual(b)
		bide.Open(ctx, bide.Name("a's"))
		s := bide.Open(beside, bide.Name("b's"))
		free := bide.Open(context.Background(), bide.Name("nobody's"))
		defer free.Close(nil)
		a.end()
		complains(t, a.text(), "a's")
		if strings.Contains(a.text(), "b's") || strings.Contains(a.text(), "nobody") {
			t.Error(a.text())
		}
		s.Close(nil)
		b.end()
		complains(t, b.text())
	})
}

func TestVirtualWaitIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int64
		text := new(fake).run(func(t bidetest.TB) {
			ctx, c := bidetest.Virtual(t)
			wait := func(ctx context.Context) {
				go func() {
					new(syncs.Event).Wait(ctx)
					ended.Add(1)
				}()
			}
			wait(ctx)
			wait(ctx)
			parkedNow(func() { bide.Sleep(ctx, time.Hour) })
			s := bide.Open(ctx)
			wait(s)
			synctest.Wait()
			c.Advance(time.Hour)
		})
		complains(t, text, "\tthe scope of the test; waiting under it: 2 event\n", "\tbide.Scope (active), opened by ", "; waiting under it: event")
		synctest.Wait()
		if ended.Load() != 3 {
			t.Errorf("%d waits have ended with the scope", ended.Load())
		}
	})
}

func TestVirtualTimerIsLeft(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	everywhere(t, func(t *testing.T) {
		text := new(fake).run(func(t bidetest.TB) {
			_, c := bidetest.Virtual(t)
			timer.AfterFunc(2*time.Hour, func() {}, timer.On(c))
			timer.AfterFunc(time.Hour, func() {}, timer.On(c))
			c.Advance(90 * time.Minute)
		})
		complains(t, text, "1 pending on the virtual clock", "at 1h30m0s")
	})
}

// Outside of a bubble those who are about to end are waited for.
func TestVirtualWaitsRealTime(t *testing.T) {
	for range 50 {
		text := new(fake).run(func(t bidetest.TB) {
			ctx, _ := bidetest.Virtual(t)
			s := bide.Open(ctx)
			go s.Close(nil)
		})
		complains(t, text)
	}
}

func TestVirtualWrongTest(t *testing.T) {
	for _, call := range []func(t bidetest.TB){
		func(t bidetest.TB) { bidetest.Virtual(t) },
		func(t bidetest.TB) { bidetest.NoLeaks(t) },
	} {
		outer := new(fake)
		synctest.Test(t, func(*testing.T) { call(outer) })
		outer.end()
		complains(t, outer.text(), "was called in a bubble with the t of outside")
	}
}

// Somebody else is in the registry's slot.
func TestSlotIsTaken(t *testing.T) {
	leave, ok := registry.Observe(deaf{})
	if !ok {
		t.Fatal("the slot is not free: an earlier test has not left it")
	}
	for _, call := range []func(t bidetest.TB){
		func(t bidetest.TB) { bidetest.Virtual(t) },
		func(t bidetest.TB) { bidetest.NoLeaks(t) },
	} {
		complains(t, new(fake).run(call), "fatal: bidetest: somebody else watches the scopes")
	}
	leave()
	complains(t, new(fake).run(func(t bidetest.TB) { bidetest.Virtual(t) }))
	if registry.On() {
		t.Error("the slot is not left at the end")
	}
}

type deaf struct{}

func (deaf) Opened(s, above registry.Scope) {}
func (deaf) Closed(s registry.Scope)        {}
func (deaf) Timer(any, bool)                {}
