package park_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// cancelForGood is cancel; from now on nobody is filed.
func (h *fakeHost) cancelForGood() {
	h.mu.Lock()
	h.refuse = true
	h.mu.Unlock()
	h.cancel(4)
}

// hangs is when a wait that has missed its end gives up.
const hangs = time.Minute

// again returns the function for WaitAgain that calls each of the steps in its turn, having armed w; at the end it has no
// more to wait for.
func again(w *park.Waiter, steps ...func(park.Token)) func() (park.Token, bool) {
	return func() (t park.Token, more bool) {
		if len(steps) == 0 {
			return t, false
		}
		step := steps[0]
		steps = steps[1:]
		t = w.Arm(clock.After(hangs))
		step(t)
		return t, true
	}
}

// Whatever comes of the first wait, the second or the third, WaitAgain ends as Wait would have: once, and the waiter is
// clean afterwards.
func TestWaitAgain(t *testing.T) {
	type on = func(w *park.Waiter, h *fakeHost, cancel func()) func(park.Token)
	wake := func(w *park.Waiter, _ *fakeHost, _ func()) func(park.Token) {
		return func(t park.Token) { w.Wake(t, park.Woken) }
	}
	grant := func(w *park.Waiter, _ *fakeHost, _ func()) func(park.Token) {
		return func(t park.Token) { w.Wake(t, park.User) }
	}
	canceled := func(_ *park.Waiter, h *fakeHost, cancel func()) func(park.Token) {
		return func(park.Token) {
			cancel()
			h.cancelForGood()
		}
	}
	canceledAndWoken := func(w *park.Waiter, h *fakeHost, cancel func()) func(park.Token) {
		return func(t park.Token) {
			cancel()
			w.Wake(t, park.Woken)
			h.cancelForGood()
		}
	}
	nothing := func(*park.Waiter, *fakeHost, func()) func(park.Token) { return func(park.Token) {} }
	for name, c := range map[string]struct {
		steps []on
		want  park.Outcome
	}{
		"granted at once":                         {[]on{grant}, park.User},
		"canceled at once":                        {[]on{canceled}, park.Canceled},
		"woken":                                   {[]on{wake}, park.Woken},
		"woken twice":                             {[]on{wake, wake}, park.Woken},
		"woken, then granted":                     {[]on{wake, grant}, park.User},
		"woken, then canceled":                    {[]on{wake, canceled}, park.Canceled},
		"woken and canceled":                      {[]on{canceledAndWoken}, park.Woken},
		"woken and canceled, and woken":           {[]on{wake, canceledAndWoken, wake}, park.Woken},
		"woken and canceled, then granted":        {[]on{canceledAndWoken, grant}, park.User},
		"woken and canceled, then to wait":        {[]on{canceledAndWoken, nothing}, park.Canceled},
		"woken, woken and canceled, then to wait": {[]on{wake, canceledAndWoken, nothing}, park.Canceled},
	} {
		for _, kind := range []string{"native", "refused", "by Done"} {
			t.Run(name+", "+kind, func(t *testing.T) {
				below, cancel := context.WithCancel(t.Context())
				defer cancel()
				h, ctx := newFake(below)
				calls := []string{"attach lock", "detach"}
				switch kind {
				case "refused":
					cancel()
					h.refuse = true
				case "by Done":
					var stop func()
					ctx, stop = context.WithCancel(ctx)
					defer stop()
					calls = nil
				}
				w := park.New(nil)
				defer w.Release()
				var steps []func(park.Token)
				for _, f := range c.steps {
					steps = append(steps, f(w, h, cancel))
				}
				tok := w.Arm(clock.After(hangs))
				if steps[0](tok); h.refuse {
					calls = calls[:min(1, len(calls))]
				}
				if o := w.WaitAgain(ctx, tok, park.KindLock, again(w, steps[1:]...)); o != c.want {
					t.Errorf("%v, want %v", o, c.want)
				}
				if !slices.Equal(h.calls, calls) {
					t.Errorf("the host's calls are %q, want %q", h.calls, calls)
				}
				if w.Wake(tok, park.Woken) || h.cancel(4) > 0 {
					t.Error("the waiter is still armed, or filed")
				}
				if w.Withdraw(w.Arm(clock.Forever)) != park.Self {
					t.Error("a wake-up is left")
				}
			})
		}
	}
}
