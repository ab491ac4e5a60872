package bidetest_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

func TestBubble(t *testing.T) {
	var was context.Context
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		was = ctx
		began := time.Now()
		if !clock.InBubble() || bide.Sleep(ctx, time.Hour) != nil || time.Since(began) != time.Hour {
			t.Error("no fake time")
		}
		t.Cleanup(func() {
			if ctx.Err() != nil {
				t.Error("closed before the cleanups of the test")
			}
		})
		_, c := bidetest.Virtual(t) // one more clock
		c.Advance(1)
	})
	if was.Err() == nil {
		t.Error("not closed")
	}
}

// failed reports whether a test of f in a bubble fails.
func failed(f func(t *testing.T, ctx context.Context)) bool {
	t := new(testing.T)
	done := make(chan struct{})
	go func() { // a test that has failed ends its goroutine
		defer close(done)
		bidetest.Bubble(t, f)
	}()
	<-done
	return t.Failed()
}

func TestBubbleFails(t *testing.T) {
	if failed(func(*testing.T, context.Context) {}) {
		t.Error("with nothing left")
	}
	if !failed(func(_ *testing.T, ctx context.Context) { closeLate(ctx) }) {
		t.Error("it does not fail although a scope is left")
	}
	ended := false
	if !failed(func(_ *testing.T, ctx context.Context) {
		go func() {
			new(syncs.Event).Wait(ctx)
			ended = true
		}()
	}) || !ended {
		t.Error("it does not fail, or not end, although somebody waits")
	}
	if !failed(func(t *testing.T, ctx context.Context) { t.Error("the test's") }) {
		t.Error("it does not fail although the test has")
	}
}

func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e syncs.Event
		begun, ended := 0, make([]bool, 10)
		for i := range ended {
			go func() {
				begun++ // each after the last one: Settle orders them
				e.Wait(context.Background())
				ended[i] = true
			}()
			bidetest.Settle(t)
		}
		if begun != 10 || slices.Contains(ended, true) {
			t.Errorf("%d have begun; ended: %v", begun, ended)
		}
		e.Set()
		if bidetest.Settle(t); slices.Contains(ended, false) {
			t.Errorf("ended: %v", ended)
		}
	})
	complains(t, new(fake).run(func(t bidetest.TB) { bidetest.Settle(t) }), "fatal: bidetest: Settle outside of a synctest bubble")
}

func TestJumpUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := bidetest.Virtual(t)
		var at []time.Duration
		done := false
		go func() {
			for range 3 {
				bide.Sleep(ctx, time.Hour)
				at = append(at, c.Now().Sub(0))
			}
			done = true
		}()
		bidetest.JumpUntil(t, c, func() bool { return done })
		if len(at) != 3 || at[0] != time.Hour || at[2] != 3*time.Hour || c.Now().Sub(0) != 3*time.Hour {
			t.Errorf("woken at %v, the clock is at %v", at, c.Now())
		}
		bidetest.JumpUntil(t, c, func() bool { return true })
		if c.Now().Sub(0) != 3*time.Hour {
			t.Errorf("it has jumped, to %v, although it was done", c.Now())
		}
	})
}

func TestJumpUntilFails(t *testing.T) {
	never := func() bool { return false }
	complains(t, new(fake).run(func(t bidetest.TB) { bidetest.JumpUntil(t, clock.NewVirtual(), never) }),
		"fatal: bidetest: JumpUntil outside of a synctest bubble")
	synctest.Test(t, func(t *testing.T) {
		complains(t, new(fake).run(func(t bidetest.TB) {
			ctx, c := bidetest.Virtual(t)
			c.Advance(time.Minute)
			s := bide.Open(ctx)
			go bide.Sleep(s, time.Duration(clock.Forever))
			bidetest.JumpUntil(t, c, never)
		}), "fatal: bidetest: JumpUntil: at 1m0s everybody is parked")
		synctest.Wait()

		defer bidetest.MostJumps(100)()
		complains(t, new(fake).run(func(t bidetest.TB) {
			_, c := bidetest.Virtual(t)
			tm := timer.Every(time.Second, func(clock.Instant, int) {}, timer.On(c), timer.Inline())
			defer tm.Stop()
			bidetest.JumpUntil(t, c, never)
		}), "fatal: bidetest: JumpUntil: not done after 100 jumps, at 1m40s")
	})
}

// Somebody who waits for the world outside is busy, and the clock stands still for him.
func TestJumpUntilBusyRealTime(t *testing.T) {
	here, there := net.Pipe() // outside of the bubble: not durable
	go there.Write([]byte{1})
	synctest.Test(t, func(t *testing.T) {
		ctx, c := bidetest.Virtual(t)
		done := false
		go func() {
			bide.Sleep(ctx, time.Second)
			b := make([]byte, 1)
			here.Read(b)
			if at := c.Now().Sub(0); at != time.Second {
				t.Errorf("the clock went on to %v", at)
			}
			done = true
		}()
		s := bide.Open(ctx, bide.Timeout(time.Hour))
		s.Done()
		bidetest.JumpUntil(t, c, func() bool { return done })
		s.Close(nil)
	})
}
