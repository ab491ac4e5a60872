package timer_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// fill uses everything that is kept for reuse, outside of any bubble: nodes, shard handles, the alarms.
func fill(t *testing.T) {
	t.Helper()
	var wg sync.WaitGroup
	timers := make([]*timer.Timer, 200)
	entries := make([]*owner, 200)
	for i := range timers {
		wg.Add(2)
		timers[i] = timer.AfterFunc(time.Duration(i%3)*time.Millisecond, wg.Done)
		entries[i] = newOwner()
		entries[i].fire = func(clock.Instant) { wg.Done() }
		entries[i].schedule(timer.Default(), clock.After(time.Duration(i%3)*time.Millisecond))
		timer.AfterFunc(time.Hour, func() {}).Stop()
	}
	wg.Wait()
}

// bubbleRealTime runs body in a bubble, after everything was filled outside, and sees that the outside still works.
func bubbleRealTime(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	fill(t)
	pending := timer.Default().Stats().Pending
	synctest.Test(t, body)
	if got := timer.Default().Stats().Pending; got > pending {
		t.Errorf("%d pending outside, before the bubble %d", got, pending)
	}
	fill(t)
}

// TestBubbleAfterFuncRealTime: to the nanosecond, in fake time.
func TestBubbleAfterFuncRealTime(t *testing.T) {
	bubbleRealTime(t, func(t *testing.T) {
		for _, d := range []time.Duration{0, 1, 999, time.Millisecond, time.Hour, year} {
			for _, opts := range [][]timer.Option{nil, {timer.Inline()}} {
				start, took := time.Now(), time.Duration(-1)
				timer.AfterFunc(d, func() { took = time.Since(start) }, opts...)
				time.Sleep(d)
				synctest.Wait()
				if took != d {
					t.Errorf("%v took %v", d, took)
				}
			}
		}
	})
}

func TestBubbleStopAndResetRealTime(t *testing.T) {
	bubbleRealTime(t, func(t *testing.T) {
		start := time.Now()
		var came []time.Duration
		tm := timer.AfterFunc(time.Second, func() { came = append(came, time.Since(start)) })
		if !tm.Reset(time.Minute) || !tm.Stop() || tm.Stop() || tm.Reset(2*time.Second) {
			t.Error("the reports are wrong")
		}
		time.Sleep(time.Second)
		tm.ResetAt(clock.After(5 * time.Second)) // at 6
		time.Sleep(time.Hour)
		if tm.Reset(time.Second) || !tm.ResetAt(clock.Forever) || !tm.Reset(2*time.Second) {
			t.Error("the reports are wrong")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []time.Duration{6 * time.Second, time.Hour + 3*time.Second}; !slices.Equal(came, want) {
			t.Errorf("came after %v, want %v", came, want)
		}
		for range 10 { // stopped at the moment it is due: one of the two
			var n atomic.Int32
			tm := timer.AfterFunc(time.Second, func() { n.Add(1) })
			time.Sleep(time.Second)
			stopped := tm.Stop()
			synctest.Wait()
			if stopped == (n.Load() == 1) {
				t.Errorf("stopped %v, and %d calls", stopped, n.Load())
			}
		}
	})
}

func TestBubbleEveryRealTime(t *testing.T) {
	for _, c := range []struct {
		name string
		late timer.Option
		want []tick // times in milliseconds; the first call takes 35
	}{
		{"Skip", timer.Skip(), []tick{{10, 0, 10}, {40, 2, 45}, {50, 0, 50}, {60, 0, 60}}},
		{"Burst", timer.Burst(), []tick{{10, 0, 10}, {20, 0, 45}, {30, 0, 45}, {40, 0, 45}, {50, 0, 50}, {60, 0, 60}}},
		{"Delay", timer.Delay(), []tick{{10, 0, 10}, {55, 0, 55}}},
	} {
		bubbleRealTime(t, func(t *testing.T) {
			const ms = clock.Instant(time.Millisecond)
			start := clock.Now()
			var got []tick
			tm := timer.Every(10*time.Millisecond, func(scheduled clock.Instant, missed int) {
				got = append(got, tick{(scheduled - start) / ms, missed, (clock.Now() - start) / ms})
				if len(got) == 1 {
					time.Sleep(35 * time.Millisecond)
				}
			}, c.late)
			time.Sleep(62 * time.Millisecond)
			if !tm.StopWait() {
				t.Error("StopWait: false")
			}
			time.Sleep(time.Hour)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: ticks %v, want %v", c.name, got, c.want)
			}
		})
	}
}

// TestBubbleScheduleRealTime: an entry has a timer of its own; moved, canceled, asked again.
func TestBubbleScheduleRealTime(t *testing.T) {
	bubbleRealTime(t, func(t *testing.T) {
		s := timer.Default()
		start := clock.Now()
		o := newOwner()
		at := func(d time.Duration) clock.Instant { return start.Add(d) }
		o.schedule(s, at(10))
		o.schedule(s, at(30))
		o.schedule(s, at(20))
		time.Sleep(19)
		synctest.Wait()
		o.expect(t, "before: fired", &o.fired)
		time.Sleep(1)
		synctest.Wait()
		o.expect(t, "fired", &o.fired, at(20))
		if was, next := s.Cancel(&o.Entry); was || next {
			t.Errorf("Cancel after it fired: %v, %v", was, next)
		}

		o.schedule(s, at(40))
		if was, _ := s.Cancel(&o.Entry); !was {
			t.Error("Cancel: it was not there")
		}
		time.Sleep(100)
		synctest.Wait()
		o.expect(t, "canceled: fired", &o.fired, at(20))

		var later atomic.Int64
		later.Store(int64(at(200)))
		o.mu.Lock()
		o.asked = nil
		o.mu.Unlock()
		o.due = func(now clock.Instant) (clock.Instant, bool) {
			due := clock.Instant(later.Load())
			return due, due <= now
		}
		s.Schedule(&o.Entry, at(200))
		later.Store(int64(at(300))) // without a call
		time.Sleep(1000)
		synctest.Wait()
		o.expect(t, "moved later: asked", &o.asked, at(200), at(300))
		o.expect(t, "fired", &o.fired, at(20), at(300))

		o.due = nil
		o.schedule(s, at(5)) // the past
		synctest.Wait()
		o.expect(t, "the past: fired", &o.fired, at(20), at(300), clock.Now())
		o.schedule(s, clock.Forever)
	})
}

// expect is expectTimes while a driver may be about.
func (o *owner) expect(t *testing.T, what string, times *[]clock.Instant, want ...clock.Instant) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	expectTimes(t, what, *times, want...)
}

func TestBubbleCoverRealTime(t *testing.T) {
	bubbleRealTime(t, func(t *testing.T) {
		s := timer.Default()
		k := newKeeper()
		k.now = clock.Now
		start := clock.Now()
		for _, d := range []time.Duration{10, 20, 20, 15, 7, 1000, 3} { // armed and resolved
			if w := k.arm(s, start.Add(d)); !k.resolve(w) {
				t.Fatal("not resolved")
			}
		}
		k.arm(s, start.Add(50))
		time.Sleep(49)
		synctest.Wait()
		if len(k.fired) != 0 {
			t.Error("early")
		}
		time.Sleep(1)
		if now := <-k.fired; now != start.Add(50) || k.early.Load() {
			t.Errorf("fired at %v", now-start)
		}
		if w := k.arm(s, start.Add(100)); !k.resolve(w) {
			t.Error("not resolved")
		}
		time.Sleep(1000) // an idle one is dropped
		if was, _ := s.Cancel(&k.Entry); was || len(k.fired) != 0 {
			t.Error("an idle owner's entry was not dropped")
		}
	})
}

// TestBubbleOwnerComesAndGoesRealTime: one entry, linked outside, taken into a bubble, and out again.
func TestBubbleOwnerComesAndGoesRealTime(t *testing.T) {
	s := timer.Default()
	k := newKeeper()
	for range 3 {
		if w := k.arm(s, clock.After(time.Hour)); !k.resolve(w) { // stays linked
			t.Fatal("an hour has passed")
		}
		synctest.Test(t, func(t *testing.T) {
			start := clock.Now()
			k.fired = make(chan clock.Instant, 1)
			k.arm(s, start.Add(time.Minute))
			if now := <-k.fired; now != start.Add(time.Minute) {
				t.Errorf("in the bubble: fired after %v", now-start)
			}
		})
		k.fired = make(chan clock.Instant, 1)
		at := clock.After(time.Millisecond)
		k.arm(s, at)
		if now := <-k.fired; now < at {
			t.Errorf("outside again: fired at %v, armed for %v", now, at)
		}
	}
	s.Cancel(&k.Entry)
}

// TestBubbleWithOutsideDeadlineRealTime: a deadline that was made outside, used inside, may come late; timers outside do not.
func TestBubbleWithOutsideDeadlineRealTime(t *testing.T) {
	s := timer.Default()
	for _, d := range []time.Duration{0, 5 * time.Millisecond, time.Hour} {
		o := newOwner()
		fired := make(chan struct{})
		o.fire = func(clock.Instant) { close(fired) }
		at := clock.After(d)
		synctest.Test(t, func(*testing.T) { o.schedule(s, at) })
		var wg sync.WaitGroup
		for i := range 20 { // on every shard, earlier and later
			wg.Add(1)
			go timer.AfterFunc(time.Duration(i)*time.Millisecond, wg.Done)
		}
		wg.Wait() // hangs for decades if an alarm was set by the bubble's clock
		if d == time.Hour {
			if was, _ := s.Cancel(&o.Entry); !was {
				t.Error("it was not there")
			}
			continue
		}
		for came := false; !came; { // the next that is linked in its shard brings it along
			more := make(chan struct{})
			timer.AfterFunc(0, func() { close(more) })
			select {
			case <-fired:
				came = true
			case <-more:
			}
		}
	}
}

// TestBubbleTimerFromOutsideRealTime: Reset in a bubble of a timer that was made outside is not its hour's end outside. It may
// be refused.
func TestBubbleTimerFromOutsideRealTime(t *testing.T) {
	tm := timer.AfterFunc(time.Hour, func() { t.Error("an hour has passed") })
	synctest.Test(t, func(*testing.T) {
		defer func() { recover() }()
		tm.Reset(time.Hour)
	})
	fill(t) // the drivers have been everywhere
	if tm.Stop(); tm.Reset(time.Hour) || !tm.Stop() {
		t.Error("it is not as good as before")
	}
}

// TestBubbleForeverRealTime: a timer that was made for later, in a bubble, by a duration that no bubble lives to see.
func TestBubbleForeverRealTime(t *testing.T) {
	bubbleRealTime(t, func(t *testing.T) {
		for _, d := range []time.Duration{1<<63 - 1, 200 * year, 30 * year} {
			start, came := time.Now(), time.Duration(0)
			tm := timer.AfterFunc(d, func() { came = time.Since(start) })
			if !tm.Reset(time.Minute) {
				t.Errorf("%v: it was not armed", d)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if came != time.Minute {
				t.Errorf("%v, reset to a minute: came after %v", d, came)
			}
			if tm.Stop() {
				t.Errorf("%v: still armed", d)
			}
		}
	})
}

// TestBubbleMany: what is shared by all bubbles is one lock; bubbles side by side and their timers do not mix.
func TestBubbleMany(t *testing.T) {
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var wg sync.WaitGroup
				for i := range 100 {
					wg.Add(1)
					timer.AfterFunc(time.Duration(i)*time.Second, func() {
						defer wg.Done()
						if took := time.Since(start); took != time.Duration(i)*time.Second {
							t.Errorf("%ds took %v", i, took)
						}
					})
					timer.AfterFunc(time.Duration(i+1)*time.Second, func() { t.Error("stopped") }).Stop()
				}
				wg.Wait()
			})
		})
	}
}
