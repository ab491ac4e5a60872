package timer_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// gate is a function that runs until it is let go.
type gate struct{ in, out chan struct{} }

func newGate() gate { return gate{make(chan struct{}), make(chan struct{})} }

func (g gate) f() {
	g.in <- struct{}{}
	<-g.out
}

// TestStopWaitWaitsBubble for a call that is running, on a virtual clock and in a bubble; nothing runs when it returns.
func TestStopWaitWaitsBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		for name, opts := range map[string][]timer.Option{"virtual": {timer.On(v)}, "bubble": nil} {
			g := newGate()
			var ended atomic.Bool
			tm := timer.AfterFunc(10, func() { g.f(); ended.Store(true) }, opts...)
			v.Advance(10)
			time.Sleep(10)
			<-g.in
			if tm.Stop() {
				t.Errorf("%s: Stop prevents a call that runs", name)
			}
			var waiters sync.WaitGroup
			var done atomic.Int32
			for range 3 {
				waiters.Go(func() {
					if !tm.StopWait() || !ended.Load() {
						t.Errorf("%s: StopWait false, or before the end", name)
					}
					done.Add(1)
				})
			}
			synctest.Wait()
			if done.Load() != 0 {
				t.Errorf("%s: StopWait did not wait", name)
			}
			close(g.out)
			waiters.Wait()
			if tm.Stop() || !tm.StopWait() {
				t.Errorf("%s: not stopped, or still running", name)
			}
		}
	})
}

func TestStopWaitRealTime(t *testing.T) {
	for range 100 {
		g := newGate()
		var ended atomic.Bool
		tm := timer.AfterFunc(0, func() { g.f(); ended.Store(true) })
		<-g.in
		go close(g.out)
		if !tm.StopWait() || !ended.Load() {
			t.Fatal("StopWait returned before the call did")
		}
	}
}

// TestStopWaitDoesNotWait where nothing runs.
func TestStopWaitDoesNotWait(t *testing.T) {
	v := clock.NewVirtual()
	n, f, on, inline := count(v)
	tm := timer.AfterFunc(10, f, on, inline)
	if !tm.StopWait() || !tm.StopWait() {
		t.Error("of an armed one, and of a stopped one: false")
	}
	tm.Reset(10)
	v.Advance(100)
	if !tm.StopWait() || *n != 1 {
		t.Errorf("of a fired one: false, or %d calls", *n)
	}
}

// TestStopWaitFromItselfBubble: false at once, and the timer is stopped, also if it armed itself before.
func TestStopWaitFromItselfBubble(t *testing.T) {
	for _, opts := range [][]timer.Option{nil, {timer.Inline()}} {
		synctest.Test(t, func(t *testing.T) {
			v := clock.NewVirtual()
			opts := append(opts, timer.On(v))
			n, ticks := 0, 0
			var tm, every *timer.Timer
			tm = timer.AfterFunc(10, func() {
				n++
				tm.Reset(10)
				if tm.StopWait() {
					t.Error("StopWait from within its function: true")
				}
			}, opts...)
			every = timer.Every(10, func(clock.Instant, int) {
				ticks++
				if every.StopWait() {
					t.Error("StopWait of a periodic one from within its function: true")
				}
			}, opts...)
			for range 10 {
				v.Advance(10)
				synctest.Wait()
			}
			if n != 1 || ticks != 1 || tm.Stop() || every.Stop() || timer.For(v).Stats().Pending != 0 {
				t.Errorf("%d calls, %d ticks, or not stopped", n, ticks)
			}
		})
	}
}

// TestStopWaitDeepDownRealTime: the function is found on the stack wherever it is, in a bubble too.
func TestStopWaitDeepDownRealTime(t *testing.T) {
	for _, depth := range []int{1, 50, 61, 62, 63, 64, 65, 66, 127, 128, 129, 1000} {
		done := make(chan bool)
		var tm *timer.Timer
		armed := make(chan struct{})
		tm = timer.AfterFunc(0, func() {
			<-armed
			done <- deep(depth, tm.StopWait)
		})
		close(armed)
		if <-done {
			t.Errorf("%d frames down StopWait does not see that its own function calls it", depth)
		}
	}
}

func deep(n int, f func() bool) bool {
	if n == 0 {
		return f()
	}
	return deep(n-1, f) && n > 0
}

// TestStopWaitFromAnotherBubble timer's function: it would have to wait, so it reports false; and if it need not wait, true.
func TestStopWaitFromAnotherBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		g := newGate()
		running := timer.AfterFunc(10, g.f, timer.On(v))
		idle := timer.AfterFunc(1000, func() { t.Error("it came") }, timer.On(v))
		var a, b bool
		timer.AfterFunc(20, func() { a, b = running.StopWait(), idle.StopWait() }, timer.On(v))
		v.Advance(10)
		<-g.in
		v.Advance(10)
		synctest.Wait()
		if a || !b {
			t.Errorf("of one that runs: %v, of one that does not: %v", a, b)
		}
		close(g.out)
		v.Advance(2000)
		synctest.Wait()
	})
}

// TestStopWaitFromItsGoroutineBubble: a goroutine that the function started is not the function, and waits.
func TestStopWaitFromItsGoroutineBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		g := newGate()
		var tm *timer.Timer
		var stopped atomic.Bool
		tm = timer.AfterFunc(10, func() {
			go func() { stopped.Store(tm.StopWait()) }()
			g.f()
		}, timer.On(v))
		v.Advance(10)
		<-g.in
		synctest.Wait()
		if stopped.Load() {
			t.Error("it did not wait")
		}
		close(g.out)
		synctest.Wait()
		if !stopped.Load() {
			t.Error("it does not report that the timer is stopped")
		}
	})
}

// TestStopWaitRearmedBubble: a function that arms its timer while StopWait waits: it ends stopped.
func TestStopWaitRearmedBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		for range 2 {
			g := newGate()
			n := 0
			var tm *timer.Timer
			tm = timer.AfterFunc(10, func() {
				n++
				g.f()
				tm.Reset(0) // at once: perhaps before StopWait comes back
			}, timer.On(v))
			v.Advance(10)
			<-g.in
			var done atomic.Bool
			go func() {
				if !tm.StopWait() {
					t.Error("StopWait: false")
				}
				done.Store(true)
			}()
			synctest.Wait()
			g.out <- struct{}{}
			synctest.Wait()
			for !done.Load() { // it was armed, and has run again
				<-g.in
				g.out <- struct{}{}
				synctest.Wait()
			}
			v.Advance(1000)
			synctest.Wait()
			if tm.Stop() || len(g.in) != 0 {
				t.Error("armed after StopWait")
			}
		}
	})
}

// TestStopWaitPeriodicRealTime: after it nothing runs, however short the period.
func TestStopWaitPeriodicRealTime(t *testing.T) {
	for range 50 {
		var inside atomic.Int32
		came := make(chan struct{}, 1)
		tm := timer.Every(1, func(clock.Instant, int) {
			inside.Add(1)
			select {
			case came <- struct{}{}:
			default:
			}
			inside.Add(-1)
		}, timer.Burst())
		<-came
		if !tm.StopWait() || inside.Load() != 0 {
			t.Fatal("it runs after StopWait")
		}
	}
}
