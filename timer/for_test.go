package timer_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

func TestForIsShared(t *testing.T) {
	a, b := clock.NewVirtual(), clock.NewVirtual()
	if timer.For(a) != timer.For(a) || timer.For(a) == timer.For(b) || timer.NewService(a) == timer.For(a) {
		t.Error("one service a clock")
	}
	if timer.For(clock.Monotonic()) != timer.Default() || timer.Default().Clock() != clock.Monotonic() {
		t.Error("the monotonic clock's is the default one")
	}
	if timer.For(a).Clock() != clock.Clock(a) {
		t.Error("it is on another clock")
	}
	runtime.KeepAlive(timer.For(a))
}

// TestForOrder: timers on one clock, whoever made them, come in one order.
func TestForOrder(t *testing.T) {
	v := clock.NewVirtual()
	var got []int
	for i := range 20 {
		if i%2 == 0 {
			timer.AfterFunc(10, func() { got = append(got, i) }, timer.On(v), timer.Inline())
			continue
		}
		o := newOwner()
		o.fire = func(clock.Instant) { got = append(got, i) }
		o.schedule(timer.For(v), 10)
	}
	v.Advance(10)
	for i := range got {
		if got[i] != i || len(got) != 20 {
			t.Fatalf("order %v", got)
		}
	}
}

// TestForTogether: many ask for the service of a new clock at once, and all get the same.
func TestForTogether(t *testing.T) {
	for range 50 {
		v := clock.NewVirtual()
		got := make([]*timer.Service, 8)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i] = timer.For(v) })
		}
		wg.Wait()
		for _, s := range got {
			if s != got[0] {
				t.Fatal("two services for one clock")
			}
		}
	}
}

// collected runs the collector until done, for a minute at most: a sync.Pool keeps what it has for two rounds, and cleanups
// run on a goroutine of their own, which a busy machine may keep from running.
func collected(done <-chan struct{}) bool {
	for start := time.Now(); time.Since(start) < time.Minute; runtime.Gosched() {
		runtime.GC()
		select {
		case <-done:
			return true
		default:
		}
	}
	return false
}

// TestForIsCollected: a service that nobody uses goes, and so does its clock; the clock may get a new one.
func TestForIsCollected(t *testing.T) {
	v := clock.NewVirtual()
	done := make(chan struct{})
	func() {
		s := timer.For(v)
		timer.AfterFunc(10, func() {}, timer.On(v)).Stop()
		runtime.AddCleanup(s, func(done chan struct{}) { close(done) }, done)
	}()
	v.Advance(10) // the alarm was set, and would keep it
	if !collected(done) {
		t.Fatal("the service of a clock that is in use is kept, though nothing is pending")
	}
	n, f, on, inline := count(v)
	timer.AfterFunc(10, f, on, inline)
	if v.Advance(10); *n != 1 {
		t.Error("the clock's next service does not work")
	}

	gone := make(chan struct{})
	func() {
		v := clock.NewVirtual()
		timer.AfterFunc(time.Hour, func() {}, timer.On(v)) // pending for ever
		runtime.AddCleanup(v, func(gone chan struct{}) { close(gone) }, gone)
	}()
	if !collected(gone) {
		t.Error("a clock that nobody can move is kept")
	}
}

// TestForIsKeptWhilePending: an armed timer keeps the service, though nobody has the handle.
func TestForIsKeptWhilePending(t *testing.T) {
	v := clock.NewVirtual()
	n, f, on, inline := count(v)
	timer.AfterFunc(10, f, on, inline)
	for range 5 {
		runtime.GC()
	}
	if v.Advance(10); *n != 1 {
		t.Error("a pending timer was collected")
	}
}
