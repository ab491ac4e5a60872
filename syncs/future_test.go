package syncs_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
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

// Functions are called once, with the value or the error, when it is there: also if it is there already.
func TestFutureOnDone(t *testing.T) {
	errFailed := errors.New("failed")
	for _, c := range []struct {
		name     string
		complete func(f *syncs.Future[int]) bool
		v        int
		err      error
	}{
		{"Set", func(f *syncs.Future[int]) bool { return f.Set(7) }, 7, nil},
		{"Fail", func(f *syncs.Future[int]) bool { return f.Fail(errFailed) }, 0, errFailed},
	} {
		var f syncs.Future[int]
		var order []int
		on := func(i int) {
			f.OnDone(func(v int, err error) {
				order = append(order, i)
				if v != c.v || err != c.err {
					t.Errorf("%s: called with %d, %v", c.name, v, err)
				}
				if v, ok, err := f.Poll(); v != c.v || !ok || err != c.err {
					t.Errorf("%s: not complete when the function is called: %d, %v, %v", c.name, v, ok, err)
				}
			})
		}
		for i := range 40 {
			on(i)
		}
		if order != nil {
			t.Errorf("%s: called before: %v", c.name, order)
		}
		if !c.complete(&f) || c.complete(&f) {
			t.Errorf("%s: not complete, or twice", c.name)
		}
		for i := 40; i < 43; i++ {
			on(i)
			if len(order) != i+1 {
				t.Errorf("%s: complete, and not called at once", c.name)
			}
		}
		for i, got := range order {
			if got != i {
				t.Fatalf("%s: the order is %v", c.name, order)
			}
		}
	}
}

// A function may use the future: ask for more, and even begin the next round.
func TestFutureOnDoneUsesIt(t *testing.T) {
	var f syncs.Future[int]
	inner, next := 0, 0
	f.OnDone(func(int, error) {
		f.OnDone(func(v int, _ error) { inner = v })
		f.Reset()
		f.OnDone(func(v int, _ error) { next = v })
	})
	f.Set(1)
	if _, ok, _ := f.Poll(); inner != 1 || next != 0 || ok {
		t.Errorf("after the first: %d, %d, complete %v", inner, next, ok)
	}
	f.Set(2)
	if inner != 1 || next != 2 {
		t.Errorf("after the second: %d, %d", inner, next)
	}
}

// One that panics, or calls Goexit, takes nothing from the others: not from those who wait, not from the other functions.
func TestBubbleFutureOnDonePanics(t *testing.T) {
	for name, fault := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		for _, faults := range [][]int{{0}, {3}, {1, 2}, {0, 1, 2, 3}} {
			synctest.Test(t, func(t *testing.T) {
				var f syncs.Future[int]
				called := 0
				for i := range 4 {
					f.OnDone(func(v int, err error) {
						if called++; v != 7 || err != nil {
							t.Errorf("called with %d, %v", v, err)
						}
						if slices.Contains(faults, i) {
							fault()
						}
					})
				}
				count := waitFor(33, func() error { _, err := f.Wait(context.Background()); return err })
				over := make(chan string)
				go func() {
					text := "Goexit"
					defer func() { over <- text }()
					text = panics(func() { f.Set(7) })
				}()
				if text := <-over; text != map[string]string{"panic": "boom", "Goexit": "Goexit"}[name] {
					t.Errorf("%s of %v: ended with %q", name, faults, text)
				}
				if called != 4 || count() != 33 {
					t.Errorf("%s of %v: %d of 4 functions were called, %d of 33 released", name, faults, called, count())
				}
				if v, ok, err := f.Poll(); v != 7 || !ok || err != nil || f.Set(8) {
					t.Errorf("%s of %v: the value is %d, %v, %v", name, faults, v, ok, err)
				}
			})
		}
	}
}

// One that panics when it is called at once.
func TestFutureOnDonePanicsAtOnce(t *testing.T) {
	var f syncs.Future[int]
	f.Set(1)
	if got := panics(func() { f.OnDone(func(int, error) { panic("boom") }) }); got != "boom" {
		t.Errorf("panic %q", got)
	}
	f.Reset() // and no lock is held
}

// Set races with OnDone: each function is called once.
func TestFutureOnDoneOrSet(t *testing.T) {
	for i := range some(5000) {
		var f syncs.Future[int]
		var called [3]atomic.Int64
		on := func(k int) func() {
			return func() {
				f.OnDone(func(v int, err error) {
					called[k].Add(1)
					if v != 5 || err != nil {
						t.Errorf("called with %d, %v", v, err)
					}
				})
			}
		}
		ready := func() bool { return true }
		race(ready, inTurn(i, on(0), func() { f.Set(5) }, on(1), on(2))...).Wait()
		for k := range called {
			if n := called[k].Load(); n != 1 {
				t.Fatalf("called %d times", n)
			}
		}
	}
}

func TestBubbleFutureReset(t *testing.T) {
	const want = "bide/syncs: Reset of a Future that somebody waits for"
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var f syncs.Future[int]
		f.Reset() // open: nothing
		for round := range 3 {
			count := waitFor(40, func() error {
				v, err := f.Wait(bg)
				if v != round {
					t.Errorf("round %d: %d", round, v)
				}
				return err
			})
			for range 2 {
				if got := panics(f.Reset); got != want {
					t.Errorf("with waiters: panic %q", got)
				}
			}
			f.Set(round)
			if count() != 40 {
				t.Errorf("%d of 40 released", count())
			}
			f.Reset()
			if v, ok, err := f.Poll(); v != 0 || ok || err != nil {
				t.Errorf("after Reset: %d, %v, %v", v, ok, err)
			}
		}
		// WaitAny waits, too; and one that has left does not.
		s := open(t, bg)
		waitFor(1, func() error { _, err := syncs.WaitAny(s, new(syncs.Event), &f); return err })
		if got := panics(f.Reset); got != want {
			t.Errorf("with a WaitAny: panic %q", got)
		}
		s.Cancel(nil)
		synctest.Wait()
		f.Reset()
		// Functions of an open one stay.
		called := 0
		f.OnDone(func(v int, err error) { called = v })
		f.Reset()
		f.Set(9)
		f.Reset()
		if f.Set(10); called != 9 {
			t.Errorf("called with %d", called)
		}
		f.Reset()
		f.Fail(errBecause)
		f.Reset()
		f.Set(11)
		if v, err := f.Wait(bg); v != 11 || err != nil {
			t.Errorf("after a failure and Reset: %d, %v", v, err)
		}
	})
}

// A context that panics is no waiter any more.
func TestFutureResetAfterPanic(t *testing.T) {
	for _, in := range []string{"Done", "Value"} {
		var f syncs.Future[int]
		ctx, cancel := context.WithCancel(context.Background())
		b := &brittle{ctx, in, func() {}}
		if got := panics(func() { _, _ = f.Wait(b) }); got != "brittle" {
			t.Errorf("panic %q", got)
		}
		f.Reset()
		cancel()
	}
}
