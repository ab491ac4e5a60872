//go:build bidestep

package timer_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/sim"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer"
)

// All orders of a few steps: see package sim.

// sticky is an owner that leaves its entry linked: a deadline, and whether it is armed.
type sticky struct {
	entry timer.Entry
	due   clock.Instant
	armed bool
	fired []clock.Instant
}

func (s *sticky) Due(now clock.Instant) (clock.Instant, bool) {
	step.At("due")
	switch {
	case !s.armed:
		return clock.Forever, false
	case s.due > now:
		return s.due, false
	}
	s.armed = false
	return clock.Forever, true
}

func (s *sticky) Fire(now clock.Instant) { s.fired = append(s.fired, now) }

// An owner stores its deadline and covers it, while the driver looks at where the entry was before.
func TestSimCover(t *testing.T) {
	sim.Explore(t, "cover against the driver", func(w *sim.World) {
		vc := clock.NewVirtual()
		service := timer.NewService(vc)
		start := vc.Now()
		var s sticky
		s.entry.Init(&s)
		service.Schedule(&s.entry, start.Add(1))
		w.Go("owner", func() {
			s.due = start.Add(2)
			step.At("stored")
			s.armed = true
			service.Cover(&s.entry, s.due)
		})
		w.Go("driver", func() { vc.Advance(1); vc.Advance(1) })
		w.Check(func() error {
			vc.Advance(time.Hour)
			if len(s.fired) != 1 || s.fired[0] < start.Add(2) {
				return fmt.Errorf("fired at %v, want once, from %v on", s.fired, start.Add(2))
			}
			return nil
		})
	})
}

// Stop, Reset and the call: Stop is true if the call will not come.
func TestSimStop(t *testing.T) {
	sim.Explore(t, "stop, reset and the call", func(w *sim.World) {
		vc := clock.NewVirtual()
		calls, stopped := 0, 0
		tm := timer.AfterFunc(1, func() { step.At("called"); calls++ }, timer.On(vc))
		armed := 1
		w.Go("stops", func() {
			if tm.Stop() {
				stopped++
			}
		})
		w.Go("resets", func() {
			if tm.Reset(1) {
				stopped++ // the earlier call, which will not come
			}
			armed++
		})
		w.Go("time", func() { vc.Advance(1); vc.Advance(1) })
		w.Check(func() error {
			vc.Advance(time.Hour)
			synctest.Wait() // calls have goroutines of their own
			if calls+stopped != armed {
				return fmt.Errorf("armed %d times, stopped %d, called %d", armed, stopped, calls)
			}
			return nil
		})
	})
	sim.Explore(t, "stopwait", func(w *sim.World) {
		vc := clock.NewVirtual()
		running, over := 0, false
		tm := timer.AfterFunc(1, func() {
			if over {
				panic("called behind StopWait")
			}
			running++
			step.At("called")
			running--
		}, timer.On(vc))
		w.Go("time", func() { vc.Advance(1) })
		w.Go("stops", func() {
			if !tm.StopWait() || running != 0 {
				panic("StopWait came back while a call was running")
			}
			over = true
		})
		w.Check(func() error { vc.Advance(time.Hour); synctest.Wait(); return nil })
	})
}

// An entry that comes first while the driver sets its alarm for another one.
func TestSimAlarm(t *testing.T) {
	sim.Explore(t, "the driver's alarm", func(w *sim.World) {
		vc := clock.NewVirtual()
		service := timer.NewService(vc)
		start := vc.Now()
		var a, b, c sticky
		for i, s := range []*sticky{&a, &b, &c} {
			s.entry.Init(s)
			s.due, s.armed = start.Add(time.Duration(1+2*i)), true // at 1, 3 and 5
		}
		service.Schedule(&a.entry, a.due)
		service.Schedule(&c.entry, c.due)
		w.Go("driver", func() { vc.Advance(1); vc.Advance(1) })
		w.Go("schedules", func() { service.Schedule(&b.entry, b.due) })
		w.Go("cancels", func() { service.Cancel(&c.entry) })
		w.Check(func() error {
			vc.Advance(1)
			switch {
			case len(a.fired) != 1 || a.fired[0] != a.due:
				return fmt.Errorf("the first fired at %v", a.fired)
			case len(b.fired) != 1 || b.fired[0] != b.due:
				return fmt.Errorf("the second fired at %v", b.fired)
			}
			vc.Advance(time.Hour)
			if len(c.fired) != 0 || service.Stats().Pending != 0 {
				return errors.New("the third fired, or something is left")
			}
			return nil
		})
	})
}

// Close beside Schedule and the driver: what it refuses is not called, and nothing is called behind it.
func TestSimClose(t *testing.T) {
	sim.Explore(t, "close of a service", func(w *sim.World) {
		vc := clock.NewVirtual()
		service := timer.NewService(vc)
		var s sticky
		s.entry.Init(&s)
		s.due, s.armed = vc.Now().Add(1), true
		var err error
		fired := -1
		w.Go("schedules", func() { _, err = service.TrySchedule(&s.entry, s.due) })
		w.Go("driver", func() { vc.Advance(1) })
		w.Go("closes", func() { service.Close(); fired = len(s.fired) })
		w.Check(func() error {
			vc.Advance(time.Hour)
			if len(s.fired) != fired || err != nil && (err != timer.ErrClosed || fired != 0) {
				return fmt.Errorf("fired %d times, %d before Close came back; TrySchedule: %v", len(s.fired), fired, err)
			}
			return nil
		})
	})
}
