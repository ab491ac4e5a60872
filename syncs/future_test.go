package syncs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

func TestFuture(t *testing.T) {
	bg := context.Background()
	errFailed := errors.New("failed")

	var f syncs.Future[int]
	if v, ok, err := f.Poll(); v != 0 || ok || err != nil {
		t.Errorf("open: Poll = %v, %v, %v", v, ok, err)
	}
	if !f.Set(7) {
		t.Error("the first Set lost")
	}
	if f.Set(8) || f.Fail(errFailed) {
		t.Error("a second one won")
	}
	for range 2 {
		if v, ok, err := f.Poll(); v != 7 || !ok || err != nil {
			t.Errorf("set: Poll = %v, %v, %v", v, ok, err)
		}
		if v, err := f.Wait(bg); v != 7 || err != nil {
			t.Errorf("set: Wait = %v, %v", v, err)
		}
	}

	var g syncs.Future[int]
	if !g.Fail(errFailed) || g.Set(1) || g.Fail(errors.New("another")) {
		t.Error("Fail, and then others")
	}
	for range 2 {
		if v, ok, err := g.Poll(); v != 0 || !ok || err != errFailed {
			t.Errorf("failed: Poll = %v, %v, %v", v, ok, err)
		}
		if v, err := g.Wait(bg); v != 0 || err != errFailed {
			t.Errorf("failed: Wait = %v, %v", v, err)
		}
	}

	var zero syncs.Future[struct{}]
	if !zero.Set(struct{}{}) {
		t.Error("a value without size")
	}
	if _, err := zero.Wait(bg); err != nil {
		t.Error(err)
	}
}

func TestFutureFailNil(t *testing.T) {
	var f syncs.Future[int]
	if got := panics(func() { f.Fail(nil) }); got != "bide/syncs: Fail of a Future with a nil error" {
		t.Errorf("panic %q", got)
	}
	if _, ok, _ := f.Poll(); ok || !f.Set(1) {
		t.Error("the panic has completed it")
	}
	if got := panics(func() { f.Fail(nil) }); got == "" {
		t.Error("no panic when it was complete")
	}
}

// The error of the context is not taken for the future's, and completes nothing.
func TestFutureCanceledWait(t *testing.T) {
	var f syncs.Future[int]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if v, err := f.Wait(ctx); v != 0 || err != context.Canceled {
		t.Errorf("Wait = %v, %v", v, err)
	}
	f.Set(1)
	if v, err := f.Wait(ctx); v != 0 || err != context.Canceled {
		t.Errorf("complete, under a canceled context: Wait = %v, %v", v, err)
	}
	if v, err := f.Wait(context.Background()); v != 1 || err != nil {
		t.Errorf("Wait = %v, %v", v, err)
	}
}

func TestBubbleFutureHundredGetters(t *testing.T) {
	for _, fail := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var f syncs.Future[*int]
			want := new(int)
			count := waitFor(100, func() error {
				v, err := f.Wait(context.Background())
				if fail && (v != nil || err != errBecause) || !fail && (v != want || *v != 5 || err != nil) {
					t.Errorf("Wait = %v, %v", v, err)
				}
				return nil
			})
			if got := count(); got != 0 {
				t.Fatalf("%d got something before there was anything", got)
			}
			if fail {
				f.Fail(errBecause)
			} else {
				*want = 5
				f.Set(want)
			}
			if got := count(); got != 100 {
				t.Errorf("%d of 100 got it", got)
			}
		})
	}
}

// Completion races with completion and with cancellation: one writer wins, its value is the one that is seen.
func TestFutureRaces(t *testing.T) {
	for _, c := range contexts[:4] {
		t.Run(c.name, func(t *testing.T) {
			seen := map[int]int{}
			for i := range some(10_000) {
				var f syncs.Future[int]
				ctx, cancel := c.make(t)
				var won [3]bool
				one, two := func() { won[1] = f.Set(1) }, func() { won[2] = f.Set(2) }
				racers := race(f.Queued, inTurn(i, one, cancel, two)...)
				v, err := f.Wait(ctx)
				racers.Wait()
				if won[1] == won[2] {
					t.Fatalf("winners: %v", won)
				}
				final, ok, _ := f.Poll()
				if !ok || !won[final] {
					t.Fatalf("the value is %d, the winners %v", final, won)
				}
				if err == nil && v != final || err != nil && (v != 0 || !c.want(err)) {
					t.Fatalf("Wait = %d, %v, the value is %d", v, err, final)
				}
				if f.Queued() {
					t.Fatal("somebody is left in the queue")
				}
				seen[v]++
			}
			t.Logf("canceled, 1, 2: %v", seen)
		})
	}
}
