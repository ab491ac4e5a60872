package timer

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

// Run with -race. A stale look of one service's bubble shard reads Entry.n.Owner while another service's writes it.
func TestStaleLookReadsOwnerBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewService(clock.Monotonic()), NewService(clock.Monotonic())
		for range 5000 {
			o := &forgetful{}
			o.Init(o)
			a.Schedule(&o.Entry, clock.After(1))
			time.Sleep(1) // the entry's timer goes off at this instant, too
			a.Cancel(&o.Entry)
			b.Schedule(&o.Entry, clock.After(1))
			b.Cancel(&o.Entry)
		}
	})
}

// Close takes out what is pending; in a bubble it does not.
func TestCloseInBubbleLeavesEntriesLinkedBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewService(clock.Monotonic())
		o := &once{due: clock.After(time.Second)}
		o.Init(o)
		s.Schedule(&o.Entry, o.due)
		s.Close()
		if at := o.n.At(); at != 0 {
			t.Errorf("after Close the entry is linked at %v", at)
		}
		if s.Cover(&o.Entry, o.due); o.n.At() != 0 {
			t.Error("Cover on a closed service: covered, and will never come")
		}
		v := clock.NewVirtual()
		other := NewService(v)
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("Schedule on another service: panic: %v", r)
				}
			}()
			other.Schedule(&o.Entry, 10)
		}()
	})
	synctest.Test(t, func(t *testing.T) {
		s := NewService(clock.Monotonic())
		o := &once{due: clock.After(time.Second)}
		o.Init(o)
		s.Schedule(&o.Entry, o.due)
		s.Close()
		if was, _ := s.Cancel(&o.Entry); was {
			t.Error("Cancel after Close found it")
		}
	})
}

// A Fire that schedules, and a Close beside it, end the process.
func TestFireSchedulesDuringCloseBubble(t *testing.T) {
	if os.Getenv("BIDE_TEST_FOUND") == "fire" {
		s := NewService(clock.Monotonic())
		in, leave := make(chan struct{}), make(chan struct{})
		o := &once{due: clock.Now()}
		o.Init(o)
		o.then = func(now clock.Instant) {
			close(in)
			<-leave
			o.idle = false
			s.Schedule(&o.Entry, now)
		}
		s.Schedule(&o.Entry, o.due)
		<-in
		closed := make(chan bool)
		go func() { closed <- s.Close() }()
		for sh := &s.shards[0]; ; {
			sh.mu.Lock()
			done := sh.closed
			sh.mu.Unlock()
			if done {
				break
			}
		}
		close(leave)
		<-closed
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFireSchedulesDuringCloseBubble$")
	cmd.Env = append(os.Environ(), "BIDE_TEST_FOUND=fire")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %.60s", err, out)
	}
}

// A Close (or StopWait) in a bubble, of what runs outside, ends the process.
func TestCloseInBubbleOfOutsideDriverBubble(t *testing.T) {
	if os.Getenv("BIDE_TEST_FOUND") == "quiet" {
		v := clock.NewVirtual()
		s := NewService(v)
		leave, in, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		newOnce(s, 10).then = func(clock.Instant) { close(in); <-leave }
		go func() { v.Advance(10); close(done) }()
		<-in
		synctest.Test(t, func(*testing.T) {
			go s.Close() // it is not at rest here: what it waits for is outside
			close(leave)
			<-done
		})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCloseInBubbleOfOutsideDriverBubble$")
	cmd.Env = append(os.Environ(), "BIDE_TEST_FOUND=quiet")
	if out, err := cmd.CombinedOutput(); err != nil && strings.Contains(string(out), "fatal error") {
		t.Errorf("%v: %.70s", err, out)
	}
}

// Owners with a deadline long past hold up everybody else in their shard, for ever if there are a batch of them.
func TestPastDeadlinesStarveBubble(t *testing.T) {
	for name, shift := range map[string]uint8{"heap": exact, "wheel": 0} {
		h := new(hand)
		s := newService(h, h.NewAlarm, 1, shift)
		s.tell = bySign // as the monotonic clock, which does not go back
		a := h.alarms[0]
		a.drive(1000)
		for range batch {
			o := newOnce(s, 500)
			o.then = func(clock.Instant) {
				o.idle = false
				s.Schedule(&o.Entry, 500) // the same absolute deadline again
			}
		}
		victim := newOnce(s, 1010)
		const drivers = 10_000
		for i := range clock.Instant(drivers) {
			a.drive(1000 + i)
		}
		if len(victim.fired) == 0 {
			t.Errorf("%s: due at 1010, not fired by %d, after %d drivers", name, h.Now(), drivers)
		}
	}
}

// Cap is not looked at in a bubble, and Scheduled counts there.
func TestCapInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewService(clock.Monotonic(), Cap(1))
		var e [2]once
		for i := range e {
			e[i].Init(&e[i])
		}
		defer s.Cancel(&e[0].Entry)
		defer s.Cancel(&e[1].Entry)
		s.TrySchedule(&e[0].Entry, clock.After(time.Second))
		if _, err := s.TrySchedule(&e[1].Entry, clock.After(time.Second)); err == nil {
			t.Error("with Cap(1) the second entry is taken")
		}
		if n := s.Stats().Scheduled; n != 0 {
			t.Errorf("entries in bubbles are not counted, says Stats: Scheduled %d", n)
		}
	})
}

// An exact shard with nothing to look at keeps its alarm: for Precise that is a goroutine in an idle process.
func TestAlarmOfAnEmptyShardBubble(t *testing.T) {
	h := new(hand)
	s := For(h)
	a := h.alarms[0]
	tm := AfterFunc(time.Hour, func() {}, On(h))
	tm.ResetAt(clock.Forever)
	tm.Stop()
	if a.at != clock.Forever {
		t.Errorf("ResetAt(Forever), Stop: nothing is pending, and the alarm is set for %v", a.at)
	}
	s.Expire(clock.Instant(2 * time.Hour))
	a.at = clock.Forever
	AfterFunc(time.Hour, func() {}, On(h), Inline())
	s.Expire(clock.Instant(5 * time.Hour))
	if st := s.Stats(); st.Pending != 0 || a.at != clock.Forever {
		t.Errorf("Expire: %d pending, and the alarm is set for %v", st.Pending, a.at)
	}
}

// Expire in a bubble, with an instant that was read outside, sets the outside alarm by the bubble's clock.
func TestExpireInBubbleWithOutsideInstantBubble(t *testing.T) {
	s := newService(clock.Monotonic(), clock.Monotonic().NewAlarm, 1, coarse)
	came := make(chan struct{})
	o := &once{due: clock.After(50 * time.Millisecond), then: func(clock.Instant) { close(came) }}
	o.Init(o)
	s.Schedule(&o.Entry, o.due)
	now := clock.Now()
	synctest.Test(t, func(*testing.T) { s.Expire(now) })
	select {
	case <-came:
	case <-time.After(2 * time.Second):
		t.Error("due in 50 ms, it has not come in two seconds")
		s.Cancel(&o.Entry)
	}
}

// Quantile's bound does not hold in the last bucket.
func TestQuantileOfTheLastBucketBubble(t *testing.T) {
	var h Histogram
	h.add(time.Hour)
	if q := h.Quantile(1); q < time.Hour {
		t.Errorf("an hour, and all durations are said to be below %v", q)
	}
}

// Cancel on another service than the entry's panics in its heap (the wheel answered false or was corrupted).
func TestCancelOnAnotherServiceBubble(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v", r)
		}
	}()
	v := clock.NewVirtual()
	o := newOnce(NewService(v), 10)
	NewService(v).Cancel(&o.Entry)
}
