//go:build bidestep

package park_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/sim"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// All orders of a few steps: see package sim.

// A waiter that is armed twice, two wakers that have the token of its first wait, one that has that of the second, and a
// deadline: each wait is ended once, by one of its own.
func TestSimWaiter(t *testing.T) {
	sim.Explore(t, "waiter: arm, resolve, withdraw, reuse", func(w *sim.World) {
		vc := clock.NewVirtual()
		service := timer.NewService(vc)
		waiter := park.New(nil)
		first := waiter.ArmOn(service, vc.Now().Add(1))
		var second park.Token
		var published bool
		wins := map[string]bool{}
		var outcomes [2]park.Outcome
		w.Go("owner", func() {
			outcomes[0] = waiter.Wait(w.Context(), first, park.KindOther)
			second = waiter.ArmOn(service, clock.Forever)
			published = true
			step.At("published")
			outcomes[1] = waiter.Withdraw(second)
		})
		w.Go("a", func() { wins["a"] = waiter.Wake(first, park.User) })
		w.Go("deadline", func() { vc.Advance(1) })
		w.Go("b", func() {
			wins["stale"] = waiter.Wake(first, park.User+1)
			if published {
				wins["b"] = waiter.Wake(second, park.User+2)
			}
		})
		w.Check(func() error {
			want := park.Expired
			switch {
			case wins["a"] && wins["stale"]:
				return fmt.Errorf("a token won twice")
			case wins["a"]:
				want = park.User
			case wins["stale"]:
				want = park.User + 1
			}
			if outcomes[0] != want {
				return fmt.Errorf("the first wait ended with %v, want %v of %v", outcomes[0], want, wins)
			}
			if want = park.Self; wins["b"] {
				want = park.User + 2
			}
			if outcomes[1] != want {
				return fmt.Errorf("the second wait ended with %v, want %v of %v", outcomes[1], want, wins)
			}
			return nil
		})
	})
}

// A waiter whose entry is still linked, armed again and released while the driver comes: then the entry is out.
func TestSimRelease(t *testing.T) {
	sim.Explore(t, "waiter: arm, expire, release", func(w *sim.World) {
		vc := clock.NewVirtual()
		service := timer.NewService(vc)
		waiter := park.New(nil)
		due := vc.Now().Add(1)
		left := 0
		waiter.Withdraw(waiter.ArmOn(service, due))
		w.Go("owner", func() {
			waiter.Withdraw(waiter.ArmOn(service, due))
			waiter.Release()
			left = service.Stats().Pending
		})
		w.Go("deadline", func() { vc.Advance(1) })
		w.Check(func() error {
			if left != 0 {
				return errors.New("the entry is linked")
			}
			return nil
		})
	})
}

// One who leaves a lot, one who is woken, one who is moved to another key: a wake-up comes to somebody.
func TestSimLot(t *testing.T) {
	t.Run("two buckets", func(t *testing.T) { simLot(t, false) })
	t.Run("one bucket", func(t *testing.T) { simLot(t, true) })
}

func simLot(t *testing.T, together bool) {
	x, y := park.LotKeys(together)
	sim.Explore(t, "lot: wake, requeue, leave", func(w *sim.World) {
		var lot park.Lot
		open := false
		got := map[string]park.Outcome{}
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				got[name] = lot.Park(w.Context(), x, clock.Forever, park.KindOther, func() bool { return !open })
			})
		}
		w.Go("moves", func() { lot.Requeue(x, y, 1, nil) })
		w.Go("wakes", func() {
			lot.Wake(x, 2, park.Woken, func(int, int) { open = true })
			step.At("between")
			lot.Wake(y, 2, park.Woken, nil)
			lot.Wake(x, 2, park.Woken, nil)
			step.At("between")
			lot.Wake(y, 2, park.Woken, nil)
		})
		w.Check(func() error {
			for name, o := range got {
				if o != park.Woken && o != park.Self {
					return fmt.Errorf("%s ended with %v", name, o)
				}
			}
			if n := lot.Wake(x, 1, park.Woken, nil) + lot.Wake(y, 1, park.Woken, nil); n != 0 {
				return fmt.Errorf("%d are left", n)
			}
			return nil
		})
	})
}

// One who leaves a lot while he is moved, and moved back.
func TestSimLotLeave(t *testing.T) {
	x, y := park.LotKeys(false) // else he is moved within a bucket, and finds himself
	sim.Explore(t, "lot: leave against requeue", func(w *sim.World) {
		var lot park.Lot
		ctx, cancel := context.WithCancel(w.Context())
		w.Go("waits", func() { lot.Park(ctx, x, clock.Forever, park.KindOther, nil) })
		w.Go("cancels", func() { cancel() })
		w.Go("moves", func() { lot.Requeue(x, y, 1, nil); step.At("between"); lot.Requeue(y, x, 1, nil) })
		w.Check(func() error {
			left := 0
			for _, key := range []string{x, y} {
				lot.Wake(key, 1, park.Woken, func(_, n int) { left += n })
			}
			if left != 0 {
				return fmt.Errorf("%d are left", left)
			}
			return nil
		})
	})
}
