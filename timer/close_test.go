package timer_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// TestCloseBubble: what is pending does not come, and what runs has ended.
func TestCloseBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual()
		s := timer.NewService(v)
		running, pending := newOwner(), newOwner()
		entered, leave := make(chan struct{}), make(chan struct{})
		ended := false
		running.fire = func(clock.Instant) {
			close(entered)
			<-leave
			ended = true
		}
		running.schedule(s, 10)
		pending.schedule(s, 20)
		go v.Advance(10)
		<-entered
		closed := make(chan bool)
		for range 2 { // a second one waits as well
			go func() { closed <- s.Close() && ended }()
		}
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("Close has not waited")
		default:
		}
		close(leave)
		if !<-closed || !<-closed {
			t.Error("Close returned before the Fire had ended")
		}
		v.Advance(100)
		synctest.Wait()
		if len(pending.fired) != 0 || s.Stats().Pending != 0 {
			t.Errorf("after Close: fired %v, %d pending", pending.fired, s.Stats().Pending)
		}
		if was, next := s.Cancel(&pending.Entry); was || next {
			t.Error("something was left to cancel")
		}
		if !s.Close() {
			t.Error("the third Close waits for nothing")
		}
		pending.schedule(s, 200)
		s.Cover(&pending.Entry, 200)
		if _, err := s.TrySchedule(&pending.Entry, 200); err != timer.ErrClosed || s.Stats().Pending != 0 {
			t.Errorf("scheduling on a closed service: %v, %d pending", err, s.Stats().Pending)
		}
		expectPanic(t, "Default", "bide/timer: Close of a service that the whole process shares", func() { timer.Default().Close() })
		expectPanic(t, "For", "bide/timer: Close of a service that the whole process shares", func() { timer.For(v).Close() })
		if n := s.Expire(1000); n != 0 || v.Jump() {
			t.Error("a closed service has an alarm, or something to expire")
		}
	})
}

// TestCloseFromWithinBubble: by a Fire, which cannot wait for itself; and by one that ends its goroutine.
func TestCloseFromWithinBubble(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	o, behind := newOwner(), newOwner()
	got := true
	o.fire = func(clock.Instant) { got = s.Close() }
	behind.schedule(s, 11)
	o.schedule(s, 10)
	v.Advance(100)
	if got || len(behind.fired) != 0 {
		t.Errorf("Close from within: %v; what was pending fired at %v", got, behind.fired)
	}
	if !s.Close() {
		t.Error("afterwards")
	}

	synctest.Test(t, func(t *testing.T) {
		s := timer.NewService(v)
		o, behind := newOwner(), newOwner()
		o.fire = func(clock.Instant) { runtime.Goexit() }
		leave := make(chan struct{})
		behind.fire = func(clock.Instant) { <-leave }
		at := v.Now() + 10
		o.schedule(s, at)
		behind.schedule(s, at)
		go v.Advance(10)
		synctest.Wait()
		closed := false
		go func() { closed = s.Close() }()
		synctest.Wait()
		if closed {
			t.Error("Close has not waited for the Fire behind one that called Goexit")
		}
		close(leave)
		synctest.Wait()
		if !closed {
			t.Error("Close still waits")
		}
	})
}

// TestCloseInBubble: entries of a bubble on a service of one's own.
func TestCloseInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := timer.NewService(clock.Monotonic())
		o := newOwner()
		o.schedule(s, clock.After(time.Second))
		if !s.Close() {
			t.Error("nothing runs")
		}
		time.Sleep(time.Hour)
		if len(o.fired) != 0 {
			t.Error("fired after Close")
		}
	})
}
