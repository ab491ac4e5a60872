package syncs_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

func TestBubbleFlightShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 50
		var g syncs.Flight[string, *int]
		var calls atomic.Int64
		f := func(context.Context) (*int, error) {
			calls.Add(1)
			time.Sleep(time.Second)
			return new(int), errRefused
		}
		var group sync.WaitGroup
		got := make([]*int, callers)
		for i := range callers {
			group.Go(func() {
				var err error
				if got[i], err = g.Do(bg, "a", f); err != errRefused {
					t.Error(err)
				}
			})
		}
		other, _ := g.Do(bg, "b", f)
		group.Wait()
		for _, v := range got {
			if v == nil || v != got[0] || v == other {
				t.Fatal("not the same value for the same key, or the same for another one")
			}
		}
		if calls.Load() != 2 || g.Flying() != 0 {
			t.Errorf("%d calls, %d left", calls.Load(), g.Flying())
		}
		again, _ := g.Do(bg, "a", f)
		if calls.Load() != 3 || again == got[0] {
			t.Error("it remembers")
		}
	})
}

// One caller's cancellation is nobody else's; the last one's is the call's, which sees nothing before.
func TestBubbleFlightCancellation(t *testing.T) {
	for _, c := range contexts {
		synctest.Test(t, func(t *testing.T) {
			const callers = 5
			type name struct{}
			var g syncs.Flight[int, int]
			calls := 0
			var ended error
			f := func(ctx context.Context) (int, error) {
				calls++
				if ctx.Value(name{}) != calls*10 {
					t.Errorf("the values are those of %v", ctx.Value(name{}))
				}
				if _, ok := ctx.Deadline(); ok {
					t.Error("it has a caller's deadline")
				}
				<-ctx.Done()
				ended = ctx.Err()
				time.Sleep(time.Hour) // it takes its time to end
				return 1, ctx.Err()
			}
			var cancels []func()
			errs := make(chan error, callers)
			for i := range callers {
				ctx, cancel := c.make(t)
				cancels = append(cancels, cancel)
				go func() {
					_, err := g.Do(context.WithValue(ctx, name{}, 10+i), 1, f)
					errs <- err
				}()
				synctest.Wait()
			}
			for i, cancel := range cancels {
				if ended != nil {
					t.Errorf("canceled with %d callers there", callers-i)
				}
				cancel()
				if err := <-errs; !c.want(err) {
					t.Errorf("error %v", err)
				}
				synctest.Wait()
			}
			if ended != context.Canceled || g.Flying() != 0 {
				t.Errorf("the last one has left: %v", ended)
			}
			// Who comes now does not wait for the one that is being canceled.
			start := time.Now()
			v, err := g.Do(context.WithValue(bg, name{}, 20), 1, func(ctx context.Context) (int, error) { calls++; return 2, nil })
			if v != 2 || err != nil || calls != 2 || time.Since(start) != 0 {
				t.Errorf("the next one: %d, %v, %d calls, after %v", v, err, calls, time.Since(start))
			}
			time.Sleep(2 * time.Hour)
		})
	}
}

// Every caller has its own bound, and the call has none.
func TestBubbleFlightBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g syncs.Flight[int, int]
		start := time.Now()
		f := func(ctx context.Context) (int, error) { return 7, bide.Sleep(ctx, time.Minute) }
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				bound := time.Duration(i+1) * 10 * time.Second
				v, err := bide.Within(bg, bound, func(ctx context.Context) (int, error) { return g.Do(ctx, 1, f) })
				took := time.Since(start)
				switch {
				case bound < time.Minute && (!errors.Is(err, context.DeadlineExceeded) || took != bound):
					t.Errorf("bound %v: %v after %v", bound, err, took)
				case bound > time.Minute && (v != 7 || err != nil || took != time.Minute):
					t.Errorf("bound %v: %d, %v after %v", bound, v, err, took)
				}
			})
		}
		group.Wait()
		if g.Flying() != 0 {
			t.Error("it still flies")
		}
	})
}

// A panic is everybody's, a Goexit an error; nobody hangs.
func TestBubbleFlightPanicAndGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 40 // more than a batch
		var g syncs.Flight[int, int]
		var saw atomic.Int64
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				defer func() {
					p, ok := recover().(*syncs.PanicError)
					if !ok || p.Value != "brittle" || !strings.Contains(string(p.Stack), "brittleFunction") {
						t.Errorf("panic %v", p)
					}
					saw.Add(1)
				}()
				_, err := g.Do(bg, 1, brittleFunction)
				t.Errorf("returned %v", err)
			})
		}
		group.Wait()
		if saw.Load() != callers {
			t.Errorf("%d of %d have panicked", saw.Load(), callers)
		}
		for range callers {
			group.Go(func() {
				_, err := g.Do(bg, 1, func(context.Context) (int, error) { time.Sleep(1); runtime.Goexit(); return 0, nil })
				if err == nil || err.Error() != "bide/syncs: the function of a Flight has ended its goroutine" {
					t.Errorf("error %v", err)
				}
			})
		}
		group.Wait()
		if v, err := g.Do(bg, 1, func(context.Context) (int, error) { return 1, nil }); v != 1 || err != nil {
			t.Error(v, err)
		}
	})
}

func brittleFunction(context.Context) (int, error) {
	time.Sleep(1)
	panic("brittle")
}

func TestFlightMisuse(t *testing.T) {
	var none context.Context
	var g syncs.Flight[int, int]
	if got := panics(func() { _, _ = g.Do(none, 1, brittleFunction) }); got != "bide/syncs: Do of a Flight with a nil context" {
		t.Errorf("panic %q", got)
	}
	if got := panics(func() { _, _ = g.Do(bg, 1, nil) }); got != "bide/syncs: Do of a Flight with a nil function" {
		t.Errorf("panic %q", got)
	}
}

// Under a canceled context nothing is called.
func TestFlightCanceledBefore(t *testing.T) {
	for _, c := range contexts {
		var g syncs.Flight[int, int]
		ctx, cancel := c.make(t)
		cancel()
		_, err := g.Do(ctx, 1, func(context.Context) (int, error) { t.Error("called"); return 0, nil })
		if !c.want(err) || g.Flying() != 0 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Result and cancellation in the same instant: one of the two, and the call ends.
func TestFlightLandedOrCanceled(t *testing.T) {
	for _, c := range contexts {
		var got, canceled int
		var g syncs.Flight[int, int]
		for i := range some(1500) {
			ctx, cancel := c.make(t)
			land := make(chan int, 1)
			var flying sync.WaitGroup
			flying.Add(1)
			racers := race(func() bool { return g.Flying() == 1 }, inTurn(i, func() { land <- 1 }, cancel)...)
			v, err := g.Do(ctx, 1, func(ctx context.Context) (int, error) {
				defer flying.Done()
				select {
				case v := <-land:
					return v, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			})
			racers.Wait()
			flying.Wait()
			switch {
			case err == nil && v == 1:
				got++
			case v == 0 && c.want(err):
				canceled++
			default:
				t.Fatalf("%s: %d, %v", c.name, v, err)
			}
			if g.Flying() != 0 {
				t.Fatal("it still flies")
			}
		}
		t.Logf("%s: got %d, canceled %d", c.name, got, canceled)
	}
}
