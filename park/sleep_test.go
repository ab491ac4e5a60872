package park_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// A sleeper waits on its own for an instant of a virtual clock.
type sleeper struct {
	w   *park.Waiter
	tok park.Token
}

func sleepUntil(s *timer.Service, due clock.Instant) *sleeper {
	x := &sleeper{w: park.New(nil)}
	x.tok = x.w.ArmOn(s, due)
	return x
}

// over reports whether the wait has ended, without waiting for it.
func (x *sleeper) over() bool {
	if x.w.Resolve(x.tok, park.Closed) {
		x.w.Unpark() // it had not: end it, so that the test can go on
		return false
	}
	return true
}

// Eight at a time, armed in any order: each ends when its instant has come, and no other does.
func TestSleepEachAtItsInstant(t *testing.T) {
	for _, order := range [][]int{{1, 2, 3, 4, 5, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1}, {4, 8, 1, 6, 2, 7, 5, 3}} {
		v := clock.NewVirtual()
		s := timer.NewService(v)
		var woken []int
		var group sync.WaitGroup
		var mu sync.Mutex
		for _, i := range order {
			w := park.New(func(park.Outcome) { // by the driver, so in the order in which they come due
				mu.Lock()
				woken = append(woken, i)
				mu.Unlock()
			})
			tok := w.ArmOn(s, clock.Instant(i)*second)
			group.Go(func() {
				if o := w.Wait(context.Background(), tok, park.KindSleep); o != park.Expired {
					t.Errorf("sleeper %d: %v", i, o)
				}
			})
		}
		for i := range 9 {
			mu.Lock()
			if len(woken) != i || i > 0 && woken[i-1] != i {
				t.Errorf("armed in the order %v: after %d s %v have woken", order, i, woken)
			}
			mu.Unlock()
			v.Advance(time.Second)
		}
		group.Wait()
	}
}

// A shorter deadline that comes later is not slept past, and a longer one does not disturb.
func TestSleepShorterAndLonger(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	middle := sleepUntil(s, second)
	longer := sleepUntil(s, 1000*second)
	v.Advance(time.Millisecond)
	shorter := sleepUntil(s, second/2)
	v.Advance(time.Second/2 - time.Millisecond)
	if !shorter.over() {
		t.Error("the shorter one, armed last, was slept past")
	}
	v.Advance(time.Second / 2)
	if !middle.over() {
		t.Error("the one in the middle has not ended")
	}
	if longer.over() {
		t.Error("the longer one has")
	}
	for _, x := range []*sleeper{shorter, middle, longer} {
		x.w.Withdraw(x.tok)
		x.w.Release()
	}
}

// Sleeps of 40 to 400 µs on the real clock, and cancellations aimed at the moment in which they end, by wakers and by
// scopes: exactly one of them ends each, and no sleep ends early by itself.
func TestStressSleepsRealTime(t *testing.T) {
	const sleepers = 8
	source, more := stress.Source(t), stress.Lasting(t, 1)
	var count [park.User]atomic.Int64
	var group sync.WaitGroup
	for g := range sleepers {
		group.Go(func() {
			r := source(g)
			w := park.New(nil) // kept: its entry stays linked from sleep to sleep
			defer w.Release()
			for more() {
				d := time.Duration(40+r.IntN(360)) * time.Microsecond
				aim := d + time.Duration(r.IntN(100)-50)*time.Microsecond
				if r.IntN(2) == 0 {
					aim += time.Duration(r.IntN(1200)) * time.Microsecond // at the tick, rather
				}
				s := bide.Open(context.Background())
				due := clock.After(d)
				tok := w.Arm(due)
				var won atomic.Bool
				var aimed sync.WaitGroup
				aimed.Add(1)
				shot := time.AfterFunc(aim, func() {
					defer aimed.Done()
					if g%2 == 0 {
						won.Store(w.Wake(tok, park.Woken))
					} else {
						s.Cancel(nil)
					}
				})
				o := w.Wait(s, tok, park.KindSleep)
				now := clock.Now()
				if shot.Stop() {
					aimed.Done()
				}
				aimed.Wait()
				if o == park.Expired && now < due {
					t.Errorf("%v early", due.Sub(now))
				}
				if won.Load() != (o == park.Woken) {
					t.Errorf("Wake won: %v; outcome %v", won.Load(), o)
				}
				if g%2 == 0 && o == park.Canceled || g%2 == 1 && o == park.Woken || o >= park.Closed {
					t.Errorf("outcome %v, which nobody gave", o)
				}
				count[o].Add(1)
				s.Close(nil)
				runtime.Gosched()
			}
		})
	}
	group.Wait()
	t.Logf("expired %d, woken %d, canceled %d", count[park.Expired].Load(), count[park.Woken].Load(), count[park.Canceled].Load())
}
