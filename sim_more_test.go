//go:build bidestep

package bide_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/sim"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/syncs"
)

// More models: see sim_test.go.

// A wake-up, a deadline and a cancel want the same waiter, which then waits again.
func TestSimWakeAgainstCancel(t *testing.T) {
	sim.Explore(t, "a wake-up against cancel and deadline", func(w *sim.World) {
		vc := clock.NewVirtual()
		s := bide.Open(w.Context(), bide.Clock(vc), bide.Timeout(1))
		var e, never syncs.Event
		var first, second error
		w.Go("waits", func() {
			first = e.Wait(s)
			second = never.Wait(s)
		})
		w.Go("sets", func() { e.Set() })
		w.Go("cancels", func() { s.Cancel(nil) })
		w.Go("time", func() { vc.Advance(1) })
		w.Check(func() error {
			defer s.Close(nil)
			if first != nil && !errors.Is(first, s.Err()) || !errors.Is(second, s.Err()) {
				return fmt.Errorf("%v, then %v, under one that ended with %v", first, second, s.Err())
			}
			return nil
		})
	})
}

// One who begins to wait while the scope above is closed.
func TestSimObserveClose(t *testing.T) {
	sim.Explore(t, "observing against close", func(w *sim.World) {
		top := bide.Open(w.Context())
		bottom := bide.Open(top)
		var never syncs.Event
		var err error
		w.Go("waits", func() { err = never.Wait(bottom) })
		w.Go("closes", func() { top.Close(nil) })
		w.Check(func() error {
			var c *bide.Canceled
			if !errors.As(err, &c) || c.Source != bide.ByAbandoned {
				return fmt.Errorf("the wait ended with %v", err)
			}
			bottom.Close(nil)
			return nil
		})
	})
}

// When Cancel has returned, whoever was first, everything below is canceled.
func TestSimCancelTwice(t *testing.T) {
	sim.Explore(t, "two cancels and a deadline", func(w *sim.World) {
		vc := clock.NewVirtual()
		top := bide.Open(w.Context(), bide.Clock(vc), bide.Timeout(1))
		middle := bide.Open(top)
		bottom := bide.Open(middle)
		done := bottom.Done() // observed, and bridged
		told := func() {
			select {
			case <-done:
			default:
				panic("it came back, and what is below is not canceled")
			}
		}
		w.Go("cancels", func() { top.Cancel(nil); told() })
		w.Go("cancels too", func() { top.Cancel(nil); told() })
		w.Go("cancels the middle", func() { middle.Cancel(nil); told() })
		w.Go("time", func() { vc.Advance(1) }) // comes back although somebody else is at it
		w.Check(func() error {
			if bottom.Err() == nil || middle.Err() == nil || top.Err() == nil {
				return errors.New("one is not canceled")
			}
			return nil
		})
	})
}

// The child of a Start is handed over, or its starter gets its end; never both, never neither. (The schedule
// 1,0,0,0,0,1,0,0,0,0,0,1 has found a child whose ready reported false while its scope was not canceled yet.)
func TestSimStart(t *testing.T) {
	sim.Explore(t, "start: ready, canceled, ended", func(w *sim.World) {
		s := bide.Open(w.Context())
		failure := errors.New("failure")
		var accepted bool
		var v int
		var err, end error
		w.Go("nursery", func() {
			end = bide.WithNursery(w.Context(), func(_ context.Context, n *bide.Nursery) error {
				v, err = bide.Start(s, n, func(ctx context.Context, ready func(int) bool) error {
					step.At("begins")
					if accepted = ready(7); !accepted {
						return bide.Check(ctx)
					}
					step.At("serves")
					if bide.Check(ctx) != nil {
						panic("handed over, and canceled by the starter")
					}
					return failure
				})
				return nil
			})
		})
		w.Go("cancels", func() { s.Cancel(nil) })
		w.Check(func() error {
			switch {
			case accepted && (v != 7 || err != nil || end != failure):
				return fmt.Errorf("handed over: Start returned %d, %v, the nursery %v", v, err, end)
			case !accepted && (!errors.Is(err, context.Canceled) || end != nil):
				return fmt.Errorf("refused: Start returned %d, %v, the nursery %v", v, err, end)
			}
			s.Close(nil)
			return nil
		})
	})
}

// One who wins, one who fails, and one who waits: all have ended when Race comes back.
func TestSimRace(t *testing.T) {
	sim.Explore(t, "race", func(w *sim.World) {
		s := bide.Open(w.Context())
		running := 0
		in := func(name string, f func(ctx context.Context) (int, error)) func(ctx context.Context) (int, error) {
			return func(ctx context.Context) (int, error) {
				step.At(name) // they come here at the same time
				running++
				defer func() { running-- }()
				return f(ctx)
			}
		}
		w.Go("races", func() {
			v, err := bide.Race(s,
				in("wins", func(context.Context) (int, error) { return 7, nil }),
				in("fails", func(context.Context) (int, error) { return 0, errors.New("failure") }),
				in("sleeps", func(ctx context.Context) (int, error) { return 8, bide.Sleep(ctx, time.Hour) }))
			if running != 0 {
				panic("one is left")
			}
			if (v != 7 || err != nil) && s.Err() == nil {
				panic(fmt.Sprint(v, err))
			}
		})
		w.Go("cancels", func() { s.Cancel(nil) })
		w.Check(func() error { s.Close(nil); return nil })
	})
	sim.Explore(t, "hedge", func(w *sim.World) {
		vc := clock.NewVirtual()
		s := bide.Open(w.Context(), bide.Clock(vc))
		calls := 0
		w.Go("hedges", func() {
			v, err := bide.Hedge(s, time.Second, 3, func(ctx context.Context) (int, error) {
				calls++
				n := calls
				step.At("runs")
				if n == 1 {
					return 0, errors.New("failure")
				}
				return n, nil
			})
			if err != nil || v < 2 {
				panic(fmt.Sprint(v, err)) // the failure has another begin, without a delay
			}
		})
		w.Go("time", func() { vc.Advance(time.Second) })
		w.Check(func() error { s.Close(nil); return nil })
	})
}

// The other context ends while the scope does, and while it is unlinked.
func TestSimLink(t *testing.T) {
	sim.Explore(t, "link", func(w *sim.World) {
		s := bide.Open(w.Context())
		other, cancel := context.WithCancelCause(w.Context())
		reason := errors.New("reason")
		unlinked := make(chan struct{})
		var unlink func()
		w.Go("links", func() {
			unlink = s.Link(other)
			step.At("linked")
			unlink()
			close(unlinked)
		})
		w.Go("ends", func() { cancel(reason) })
		w.Go("closes", func() {
			<-unlinked
			err := bide.Check(s)
			s.Close(&err)
			if err != nil {
				panic(err)
			}
		})
		w.Check(func() error {
			if c := s.Cause(); c != nil && !errors.Is(c, reason) && c.(*bide.Canceled).Source != bide.ByAbandoned {
				return fmt.Errorf("ended by %v", c)
			}
			return nil
		})
	})
}

// Progress, an expiry, and a SetTimeout: one that has expired stays so, and what was set holds.
func TestSimIdle(t *testing.T) {
	sim.Explore(t, "idle: progress against the expiry", func(w *sim.World) {
		vc := clock.NewVirtual()
		start := vc.Now()
		s := bide.Open(w.Context(), bide.Clock(vc), bide.Idle(2))
		var never syncs.Event
		var at clock.Instant
		w.Go("waits", func() { never.Wait(s); at = vc.Now() })
		w.Go("progress", func() { s.Progress(); step.At("again"); s.Progress() })
		w.Go("time", func() { vc.Advance(1); step.At("between"); vc.Advance(1); step.At("between"); vc.Advance(time.Hour) })
		w.Check(func() error {
			defer s.Close(nil)
			if at.Sub(start) < 2 || !errors.Is(s.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("ended after %v, with %v", at.Sub(start), s.Err())
			}
			return nil
		})
	})
	sim.Explore(t, "idle: progress against SetTimeout", func(w *sim.World) {
		vc := clock.NewVirtual()
		s := bide.Open(w.Context(), bide.Clock(vc), bide.Idle(10))
		var left time.Duration // in the end
		set := false
		vc.Advance(1)
		w.Go("progress", func() { s.Progress(); left = s.Remaining() })
		w.Go("sets", func() { set = s.SetTimeout(time.Hour); left = s.Remaining() })
		w.Check(func() error {
			defer s.Close(nil)
			if set && left < time.Hour {
				return fmt.Errorf("an hour was set, %v are left", left)
			}
			return nil
		})
	})
}

// A shield is left, and the scope of the Stop closed, while the Stop sees whether anybody needs its hard end.
func TestSimStopSettles(t *testing.T) {
	sim.Explore(t, "stop: who is left at the hard end", func(w *sim.World) {
		vc := clock.NewVirtual()
		s := bide.Open(w.Context(), bide.Clock(vc))
		var never syncs.Event
		context.AfterFunc(w.Context(), never.Set) // when the run has failed, or is over
		var in error
		inside, stopped := make(chan struct{}), make(chan struct{})
		w.Go("shielded", func() {
			bide.Shield(s, time.Hour, func(ctx context.Context) error {
				close(inside)
				in = never.Wait(ctx)
				return in
			})
		})
		w.Go("stops", func() { s.Stop(time.Second, nil); close(stopped) })
		w.Go("closes", func() { s.Close(nil) })
		w.Go("time", func() {
			<-inside
			step.At("inside")
			vc.Advance(time.Second)
			<-stopped
			step.At("stopped")
			vc.Advance(time.Second)
		})
		w.Check(func() error {
			var c *bide.Canceled
			if !errors.As(in, &c) || c.Source != bide.ByShutdown {
				return fmt.Errorf("the shield ended with %v", in)
			}
			return nil
		})
	})
}
