package syncs_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

func TestWaitGroupValues(t *testing.T) {
	bg := context.Background()
	var g syncs.WaitGroup
	if err := g.Wait(bg); err != nil {
		t.Errorf("when new: %v", err)
	}
	g.Add(5)
	g.Add(-3)
	g.Done()
	g.Add(0)
	g.Done()
	for range 2 {
		if err := g.Wait(bg); err != nil {
			t.Errorf("back at 0: %v", err)
		}
	}
	g.Add(0)
	if err := g.Wait(bg); err != nil {
		t.Errorf("0 and 0: %v", err)
	}
}

// A negative counter panics, changes nothing, and wakes nobody.
func TestBubbleWaitGroupNegative(t *testing.T) {
	const want = "bide/syncs: negative counter of a WaitGroup"
	synctest.Test(t, func(t *testing.T) {
		var g syncs.WaitGroup
		g.Add(2)
		count := waitFor(3, func() error { return g.Wait(context.Background()) })
		for _, n := range []int{-3, -1000, -1 << 31} {
			if got := panics(func() { g.Add(n) }); got != want {
				t.Errorf("Add of %d to 2: panic %q", n, got)
			}
		}
		if count() != 0 || g.Counter() != 2 {
			t.Errorf("the panics have released %d, and left a counter of %d", count(), g.Counter())
		}
		g.Done()
		if count() != 0 {
			t.Error("released at 1")
		}
		g.Done()
		if count() != 3 || g.Queued() {
			t.Errorf("released %d of 3", count())
		}
		if got := panics(g.Done); got != want {
			t.Errorf("Done of 0: panic %q", got)
		}
		if err := g.Wait(context.Background()); err != nil {
			t.Errorf("after the panic: %v", err)
		}
	})
}

// Used again at once, before those who were released have run: they go, who comes later waits for the later work.
func TestBubbleWaitGroupAgain(t *testing.T) {
	bg := context.Background()
	synctest.Test(t, func(t *testing.T) {
		var g syncs.WaitGroup
		var before, after func() int
		for range 3 {
			g.Add(1)
			before = waitFor(40, func() error { return g.Wait(bg) })
			g.Done()
			g.Add(1)
			after = waitFor(40, func() error { return g.Wait(bg) })
			if before() != 40 || after() != 0 {
				t.Errorf("%d who waited for the first were released, %d for the second", before(), after())
			}
			g.Done()
			if after() != 40 || g.Queued() {
				t.Errorf("%d who waited for the second were released", after())
			}
		}
	})
}

func TestBubbleWaitGroupCanceled(t *testing.T) {
	for _, c := range contexts {
		synctest.Test(t, func(t *testing.T) {
			var g syncs.WaitGroup
			g.Add(1)
			ctx, cancel := c.make(t)
			errs := make(chan error, 2)
			for range 2 {
				waitFor(1, func() error { errs <- g.Wait(ctx); return nil })
			}
			staying := waitFor(1, func() error { return g.Wait(context.Background()) })
			cancel()
			for range 2 {
				if err := <-errs; !c.want(err) {
					t.Errorf("%s: %v", c.name, err)
				}
			}
			if staying() != 0 || g.Counter() != 1 {
				t.Errorf("%s: the cancellation has released %d, the counter is %d", c.name, staying(), g.Counter())
			}
			g.Done()
			if staying() != 1 || g.Queued() {
				t.Errorf("%s: not released", c.name)
			}
		})
	}
}

// Go counts until f has returned, in whatever way.
func TestBubbleWaitGroupGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g syncs.WaitGroup
		var hold syncs.Event
		var returned atomic.Int64
		g.Go(func() {
			defer returned.Add(1)
			_ = hold.Wait(context.Background())
		})
		g.Go(func() {
			defer returned.Add(1)
			_ = hold.Wait(context.Background())
			runtime.Goexit()
		})
		if g.Counter() != 2 {
			t.Errorf("the counter is %d", g.Counter())
		}
		count := waitFor(1, func() error { return g.Wait(context.Background()) })
		if count() != 0 {
			t.Error("released while they run")
		}
		hold.Set()
		if count() != 1 || returned.Load() != 2 || g.Counter() != 0 {
			t.Errorf("released %d, returned %d, counter %d", count(), returned.Load(), g.Counter())
		}
	})
}

// A function that panics ends the program, with its own stack, and before anybody takes the group for done.
func TestWaitGroupGoPanics(t *testing.T) {
	if os.Getenv("BIDE_TEST_PANICS") != "" {
		var g syncs.WaitGroup
		g.Go(func() { explode() })
		_ = g.Wait(context.Background())
		os.Exit(0)
	}
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWaitGroupGoPanics$")
		cmd.Env = append(os.Environ(), "BIDE_TEST_PANICS=1")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: boom") || !strings.Contains(string(out), "syncs_test.explode") {
			t.Fatalf("%v, and this output:\n%.2000s", err, out)
		}
	}
}

// explode takes its time to die, so that who goes on too early does so before.
//
//go:noinline
func explode() { panic("boom" + strings.Repeat(" boom", 1<<20)) }

// What is done before Done is seen after Wait. The race detector watches.
func TestWaitGroupOrders(t *testing.T) {
	for range some(2000) {
		var g syncs.WaitGroup
		var v [4]int
		for i := range v {
			g.Go(func() { v[i] = i + 1 })
		}
		if err := g.Wait(context.Background()); err != nil || v != [4]int{1, 2, 3, 4} {
			t.Fatalf("%v, %v", v, err)
		}
	}
}

// The last Done races with the Wait, and with its cancellation: each says the truth.
func TestWaitGroupDoneOrCancel(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			released := 0
			for i := range some(2000) {
				var g syncs.WaitGroup
				g.Add(2)
				ctx, cancel := c.make(t)
				racers := race(g.Queued, inTurn(i, g.Done, cancel, g.Done)...)
				switch err := g.Wait(ctx); {
				case err == nil && g.Counter() != 0:
					t.Fatal("nil, and not done")
				case err == nil:
					released++
				case !c.want(err):
					t.Fatalf("error %v", err)
				}
				if racers.Wait(); g.Queued() {
					t.Fatal("somebody is left in the queue")
				}
			}
			t.Logf("released %d", released)
		})
	}
}
