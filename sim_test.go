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

// All orders of a few steps: see package sim. A scope of a model is below w.Context(), so that a failure ends its waits.

// A deadline that is moved while it comes: the bool says who was first, and that is how the scope ends.
func TestSimDeadline(t *testing.T) {
	sim.Explore(t, "deadline: moved, expired, looked at", func(w *sim.World) {
		vc := clock.NewVirtual()
		start := vc.Now()
		s := bide.Open(w.Context(), bide.Clock(vc), bide.Timeout(1))
		var never syncs.Event
		var moved bool
		var err error
		var at, from clock.Instant
		w.Go("moves", func() {
			from = vc.Now()
			moved = s.SetTimeout(time.Hour)
		})
		w.Go("time", func() {
			vc.Advance(1)
			step.At("between")
			vc.Advance(2 * time.Hour)
		})
		w.Go("waits", func() {
			err = never.Wait(s)
			at = vc.Now()
		})
		w.Check(func() error {
			vc.Advance(2 * time.Hour)
			s.Close(&err)
			switch {
			case !errors.Is(err, context.DeadlineExceeded):
				return err
			case moved && at.Sub(from) < time.Hour, at.Sub(start) < 1:
				return fmt.Errorf("moved: %v, the wait ended after %v", moved, at.Sub(start))
			case moved && s.Remaining() > 0:
				return errors.New("moved, and nothing came of it")
			}
			return nil
		})
	})
}

// Two that look for the first time, at scopes one below the other, while the upper one is canceled.
func TestSimObserve(t *testing.T) {
	for _, deep := range []bool{false, true} {
		sim.Explore(t, fmt.Sprintf("observing against cancel, deep %v", deep), func(w *sim.World) {
			top := bide.Open(w.Context())
			bottom := bide.Open(top)
			if deep {
				bottom = bide.Open(bottom)
			}
			reason := errors.New("reason")
			var waited error
			w.Go("waits", func() {
				<-bottom.Done()
				step.At("told")
				waited = bottom.Err()
			})
			w.Go("looks", func() { top.Err(); top.Err(); bottom.Err() })
			w.Go("cancels", func() {
				top.Cancel(reason)
				if bottom.Err() == nil {
					panic("Cancel came back, and what is below is not canceled")
				}
			})
			w.Check(func() error {
				if waited != context.Canceled || !errors.Is(bottom.Cause(), reason) {
					return fmt.Errorf("%v, %v", waited, bottom.Cause())
				}
				return nil
			})
		})
	}
}

// A wait and a cancel; a Close of the scope while somebody still waits in it.
func TestSimWait(t *testing.T) {
	sim.Explore(t, "a wait against cancel and close", func(w *sim.World) {
		s := bide.Open(w.Context())
		var slept, end error
		w.Go("sleeps", func() { slept = bide.Sleep(s, time.Hour) })
		w.Go("cancels", func() { s.Cancel(nil) })
		w.Go("closes", func() { s.Close(&end) })
		w.Check(func() error {
			if !errors.Is(slept, context.Canceled) || end != nil {
				return fmt.Errorf("Sleep ended with %v, Close with %v", slept, end)
			}
			return nil
		})
	})
}

// The end of a nursery: the last child, the body, one that is started late, a failure.
func TestSimNursery(t *testing.T) {
	sim.Explore(t, "nursery exit", func(w *sim.World) {
		failure := errors.New("failure")
		var ended, started int
		var err error
		w.Go("nursery", func() {
			err = bide.WithNursery(w.Context(), func(ctx context.Context, n *bide.Nursery) error {
				n.Go(func(ctx context.Context) error {
					step.At("first")
					started++
					n.Go(func(ctx context.Context) error { step.At("late"); ended++; return nil })
					return nil
				})
				n.Go(func(ctx context.Context) error { step.At("second"); return failure })
				return bide.Sleep(ctx, time.Hour)
			})
			if ended != started {
				panic("a child is left")
			}
		})
		w.Check(func() error {
			if err != failure || started != 1 {
				return fmt.Errorf("%v, %d started", err, started)
			}
			return nil
		})
	})
}

// Somebody from outside adds a goroutine while the last one leaves: it is refused, or waited for.
func TestSimNurseryOutsider(t *testing.T) {
	for name, add := range map[string]func(n *bide.Nursery, f func(context.Context) error){
		"Go":      func(n *bide.Nursery, f func(context.Context) error) { n.Go(f) },
		"TryGo":   func(n *bide.Nursery, f func(context.Context) error) { n.TryGo(f) },
		"Service": func(n *bide.Nursery, f func(context.Context) error) { n.Service(f) },
	} {
		sim.Explore(t, name+" from outside", func(w *sim.World) {
			var refused any
			var added, ran, over bool
			var nursery *bide.Nursery
			var mu step.Mutex // until there is one
			mu.Lock()
			w.Go("nursery", func() {
				err := bide.WithNursery(w.Context(), func(_ context.Context, n *bide.Nursery) error {
					nursery = n
					mu.Unlock()
					n.Go(func(context.Context) error { step.At("child"); return nil })
					return nil
				})
				over = true
				if err != nil {
					panic(err)
				}
			})
			w.Go("adds", func() {
				mu.Lock()
				mu.Unlock() //nolint:staticcheck // waiting is the point
				defer func() { refused = recover() }()
				add(nursery, func(ctx context.Context) error {
					if over {
						panic("the nursery has ended without it")
					}
					if name == "Service" {
						bide.Sleep(ctx, time.Hour) // until it is told to end
					}
					ran = true
					return nil
				})
				added = true
			})
			w.Check(func() error {
				want := "bide: " + name + " on a nursery that has ended"
				if !over || added != ran || added == (refused != nil) || refused != nil && refused != any(want) {
					return fmt.Errorf("over %v, added %v, ran %v, refused: %v", over, added, ran, refused)
				}
				return nil
			})
		})
	}
}

// The hard end of a Stop goes through a shield, a cancel does not; Draining is closed before.
func TestSimStop(t *testing.T) {
	sim.Explore(t, "stop through a shield", func(w *sim.World) {
		vc := clock.NewVirtual()
		s := bide.Open(w.Context(), bide.Clock(vc))
		reason := errors.New("reason")
		var in error
		w.Go("shielded", func() {
			bide.Shield(s, time.Hour, func(ctx context.Context) error {
				drain := bide.Draining(ctx)
				in = bide.Sleep(ctx, time.Minute)
				select {
				case <-drain:
				default:
					panic("not draining")
				}
				return in
			})
		})
		w.Go("cancels", func() { s.Cancel(nil) })
		w.Go("stops", func() { s.Stop(time.Second, reason); vc.Advance(time.Second) })
		w.Check(func() error {
			var c *bide.Canceled
			if in != nil && (!errors.As(in, &c) || c.Source != bide.ByShutdown) {
				return fmt.Errorf("inside of the shield: %v", in)
			}
			s.Close(nil)
			return nil
		})
	})
}
