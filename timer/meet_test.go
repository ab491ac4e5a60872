package timer_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// meeting is where a call and the expiry of a timer come together. Timers there are for a span from now, and take the
// options.
type meeting struct {
	opts  []timer.Option
	round int
	pass  func(do func())
}

const span = 10

// meet lets a span pass, and calls do while what is due then comes.
func (m *meeting) meet(do func()) {
	m.round++
	m.pass(do)
}

// meetings calls f in each world in which a call can be made to meet a driver: on a virtual clock that another goroutine
// moves, and in a bubble, where the timer's goroutine and the caller's wake at one instant.
func meetings(t *testing.T, f func(t *testing.T, m *meeting)) {
	for name, opts := range map[string][]timer.Option{"": nil, ", inline": {timer.Inline()}} {
		t.Run("virtual"+name, func(t *testing.T) {
			v := clock.NewVirtual()
			m := &meeting{opts: append(opts[:len(opts):len(opts)], timer.On(v))}
			var turn, moved atomic.Int64 // the mover spins, or it would always be late
			var mover sync.WaitGroup
			mover.Go(func() {
				for n := turn.Load(); n >= 0; n = turn.Load() {
					if n == moved.Load() {
						runtime.Gosched()
						continue
					}
					v.Advance(span)
					moved.Add(1)
				}
			})
			m.pass = func(do func()) {
				n := turn.Add(1)
				for range m.round * 37 % 1024 {
					moved.Load() // a while
				}
				if m.round%8 == 0 {
					runtime.Gosched()
				}
				do()
				for moved.Load() < n {
					runtime.Gosched()
				}
			}
			f(t, m)
			turn.Store(-1)
			mover.Wait()
		})
		for _, tolerance := range []time.Duration{0, time.Second} {
			t.Run("bubble"+name+", tolerance "+tolerance.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := &meeting{opts: append(opts[:len(opts):len(opts)], timer.Tolerance(tolerance))}
					m.pass = func(do func()) {
						time.Sleep(span)
						do()
					}
					f(t, m)
				})
			})
		}
	}
}

// TestMeetingsBubble: in each of them either of the two may be first, or there would be nothing to find.
func TestMeetingsBubble(t *testing.T) {
	meetings(t, func(t *testing.T, m *meeting) {
		stopped, rounds := 0, 0
		for ; rounds < 100_000 && (stopped == 0 || stopped == rounds); rounds++ {
			tm := timer.AfterFunc(span, func() {}, m.opts...)
			m.meet(func() {
				if tm.Stop() {
					stopped++
				}
			})
		}
		if stopped == 0 || stopped == rounds {
			t.Errorf("%d of %d were stopped", stopped, rounds)
		}
	})
}
