package bidetest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// explored runs Explore on a fake test, outside of a bubble and inside, and checks what it says each time. make makes
// f and check anew.
func explored(t *testing.T, make func() (f func(ctx context.Context) error, check func(int, error)), parts ...string) {
	t.Helper()
	everywhere(t, func(t *testing.T) {
		f, check := make()
		complains(t, new(fake).run(func(t bidetest.TB) { bidetest.Explore(t, f, check) }), parts...)
	})
}

// just is for an f without a check.
func just(f func(ctx context.Context) error) func() (func(ctx context.Context) error, func(int, error)) {
	return func() (func(ctx context.Context) error, func(int, error)) { return f, nil }
}

// here is the line of the caller, and so many further down.
func here(down int) string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("explore_test.go:%d", line+down)
}

// f is called once as it is, and then twice for each point, and each time once more; check is called but for those.
func TestExploreCalls(t *testing.T) {
	var mu syncs.Mutex
	var calls int
	var told []string
	f := func(ctx context.Context) error {
		calls++
		if err := mu.Lock(ctx); err != nil {
			return err
		}
		defer mu.Unlock()
		return bide.Sleep(ctx, time.Hour)
	}
	check := func(point int, err error) {
		what := "nil"
		var c *bide.Canceled
		if errors.As(err, &c) {
			what = c.Source.String()
		}
		told = append(told, fmt.Sprint(point, " ", what))
	}
	begun := time.Now()
	bidetest.Explore(t, f, check)
	if d := time.Since(begun); d > time.Hour {
		t.Errorf("it took %v", d)
	}
	n := len(told) / 2 // Sleep looks, and waits
	want := []string{"0 nil"}
	for k := range n {
		want = append(want, fmt.Sprint(k+1, " cancel"), fmt.Sprint(k+1, " deadline"))
	}
	if n < 3 || calls != 1+4*n || !slices.Equal(told, want) {
		t.Errorf("%d calls, check was told %q", calls, told)
	}
}

// The classic: a place is taken, the second wait is canceled, and nobody gives the place back.
func TestExploreLostItem(t *testing.T) {
	var where string
	naive := func(forgets bool) func() (func(context.Context) error, func(int, error)) {
		return func() (func(context.Context) error, func(int, error)) {
			places, dial := syncs.NewSemaphore(1), syncs.NewSemaphore(1)
			return func(ctx context.Context) error {
				if err := places.Acquire(ctx, 1); err != nil {
					return err
				}
				where = here(1)
				if err := dial.Acquire(ctx, 1); err != nil {
					if !forgets {
						places.Release(1)
					}
					return err
				}
				dial.Release(1)
				places.Release(1)
				return nil
			}, nil
		}
	}
	explored(t, naive(false))
	explored(t, naive(true), "canceled at point 2 of 2, in syncs.(*Semaphore).Acquire at ", "has kept something", "does not end",
		"BIDE_POINT=2")
	text := new(fake).run(func(t bidetest.TB) { f, _ := naive(true)(); bidetest.Explore(t, f, nil) })
	complains(t, text, where, "Acquire(")
	if strings.Contains(text, "point 1 ") {
		t.Errorf("also at point 1: %s", text)
	}
}

// What f keeps in objects of its own is seen by check only.
func TestExploreCheck(t *testing.T) {
	explored(t, func() (func(context.Context) error, func(int, error)) {
		var mu *syncs.Mutex
		f := func(ctx context.Context) error {
			mu = new(syncs.Mutex)
			if err := mu.Lock(ctx); err != nil {
				return err
			}
			if err := bide.Sleep(ctx, time.Second); err != nil {
				return err
			}
			mu.Unlock()
			return nil
		}
		held := 0
		return f, func(point int, err error) {
			if !mu.TryLock() {
				held++
			}
			if point == 3 && held == 0 {
				t.Error("not seen")
			}
		}
	})
}

func TestExplorePool(t *testing.T) {
	explored(t, func() (func(context.Context) error, func(int, error)) {
		p := &syncs.Pool[int]{Max: 1, New: func(ctx context.Context) (int, error) { return 1, bide.Sleep(ctx, time.Second) }}
		return func(ctx context.Context) error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				for range 2 {
					n.Go(func(ctx context.Context) error {
						v, err := p.Get(ctx)
						if err != nil {
							return err
						}
						defer p.Put(v)
						return bide.Sleep(ctx, time.Second)
					})
				}
				return nil
			})
		}, nil
	})
}

func TestExploreSwallowed(t *testing.T) {
	var mu syncs.Mutex
	var second string
	explored(t, just(func(ctx context.Context) error {
		if mu.Lock(ctx) == nil {
			mu.Unlock()
		}
		second = here(1)
		bide.Check(ctx)
		return nil
	}), "point 1 of 2, in syncs.(*Mutex).Lock at explore_test.go:", "swallowed", "further cancel point, in bide.Check at "+second)
	explored(t, just(func(ctx context.Context) error { // it ends, at once, and well
		for range 3 {
			if bide.Sleep(ctx, time.Second) != nil {
				return bide.Shield(ctx, time.Second, func(ctx context.Context) error { return bide.Sleep(ctx, time.Millisecond) })
			}
		}
		return nil
	}))
}

// A call that fails, however often it looks for it, is one cancel point of the user's.
func TestExploreEndsWell(t *testing.T) {
	var mu syncs.Mutex
	var rw syncs.RWMutex
	var event, never syncs.Event
	var future syncs.Future[int]
	var group syncs.WaitGroup
	event.Set()
	future.Set(1)
	queue := syncs.NewQueue[int](1)
	c := syncs.Cond{L: mu.Locker()}
	for name, call := range map[string]func(ctx context.Context) error{
		"mutex": func(ctx context.Context) error {
			mu.TryLock()
			defer mu.Unlock()
			return bide.FailAfter(ctx, 1, mu.Lock)
		},
		"rwmutex": func(ctx context.Context) error {
			err := rw.RLock(ctx)
			if err == nil {
				rw.RUnlock()
			}
			return err
		},
		"cond":   func(ctx context.Context) error { c.L.Lock(); defer c.L.Unlock(); return bide.FailAfter(ctx, 1, c.Wait) },
		"event":  event.Wait,
		"any":    func(ctx context.Context) error { _, err := syncs.WaitAny(ctx, &never, &event); return err },
		"future": func(ctx context.Context) error { _, err := future.Wait(ctx); return err },
		"group":  group.Wait,
		"queue":  func(ctx context.Context) error { queue.TryPut(1); _, err := queue.Get(ctx); return err },
		"nursery": func(ctx context.Context) error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, 1) })
				return nil
			})
		},
	} {
		mu = syncs.Mutex{}
		t.Run(name, func(t *testing.T) {
			bidetest.Explore(t, func(ctx context.Context) error {
				call(ctx)
				return nil
			}, nil)
		})
	}
}

func TestExploreEndless(t *testing.T) {
	explored(t, just(func(ctx context.Context) error {
		for bide.Sleep(ctx, time.Second) != nil { // again!
		}
		return nil
	}), "goes on without end", "bide.Sleep at explore_test.go:")
}

func TestExploreLeft(t *testing.T) {
	explored(t, just(func(ctx context.Context) error {
		s := bide.Open(ctx, bide.Name("forgotten"))
		err := bide.Sleep(s, time.Second)
		if err == nil {
			s.Close(nil)
		}
		return err
	}), "has left behind:", "bide.Scope forgotten")
	everywhere(t, func(t *testing.T) {
		var never syncs.Event
		text := new(fake).run(func(t bidetest.TB) {
			bidetest.Explore(t, func(ctx context.Context) error {
				err := bide.Sleep(ctx, time.Second)
				if err != nil {
					go never.Wait(context.WithoutCancel(ctx))
				}
				return err
			}, nil)
		})
		complains(t, text, "has left behind:", "syncs.(*Event).Wait(")
		if clock.InBubble() { // else they are in a bubble that is over
			never.Set()
		}
	})
	explored(t, just(func(ctx context.Context) error {
		tm := timer.AfterFunc(time.Hour, func() {})
		if err := bide.Sleep(ctx, time.Second); err != nil {
			return err
		}
		tm.Stop()
		return nil
	}), "has left behind:", "a timer that is pending, set at explore_test.go:")
	text := new(fake).run(func(t bidetest.TB) {
		bidetest.Explore(t, func(ctx context.Context) error {
			timer.Every(time.Hour, func(clock.Instant, int) {})
			return ctx.Err()
		}, nil)
	})
	complains(t, text, "f, which nobody cancels, has left behind", "a timer that is pending")
}

// The test that calls f wrongly is told so.
func TestExploreMisuse(t *testing.T) {
	explored(t, just(nil), "fatal: bidetest: Explore of a nil function")
	explored(t, just(func(context.Context) error { return nil }), "f, which nobody cancels, passes no cancel point")
	for _, env := range [][2]string{{"BIDE_POINT", "0"}, {"BIDE_POINT", "x"}, {"BIDE_SEED", "x"}} {
		t.Setenv(env[0], env[1])
		explored(t, just(bide.Check), fmt.Sprintf("%s=%q is not a ", env[0], env[1]))
		t.Setenv(env[0], "")
	}
}

// Who waits for ever is found out, and told to end.
func TestExploreHangs(t *testing.T) {
	var never syncs.Event
	explored(t, just(never.Wait), "f, which nobody cancels, does not end:", "syncs.(*Event).Wait(")
	text := new(fake).run(func(t bidetest.TB) {
		bidetest.Explore(t, func(ctx context.Context) error {
			if err := bide.Check(ctx); err != nil {
				<-make(chan int)
			}
			return nil
		}, nil)
	})
	complains(t, text, "canceled at point 1 of 1, in bide.Check at", "does not end:", "chan receive")
}

// A panic is told with its point; the call after it is not made.
func TestExplorePanics(t *testing.T) {
	explored(t, just(func(ctx context.Context) error {
		if err := bide.Check(ctx); err != nil {
			panic("no way back")
		}
		return nil
	}), "canceled at point 1 of 1, in bide.Check at explore_test.go:", "panics:\n\tno way back\n", "TestExplorePanics")
	explored(t, just(func(ctx context.Context) error { panic("from the first") }), "f, which nobody cancels, panics:\n\tfrom the first")
	explored(t, func() (func(context.Context) error, func(int, error)) {
		var once syncs.Event
		return func(ctx context.Context) error {
			if once.IsSet() {
				panic("broken")
			}
			if err := bide.Check(ctx); err != nil {
				once.Set()
				return err
			}
			return nil
		}, nil
	}, "has left something behind: called again, and not canceled, it panics:\n\tbroken")
}

// What was different at first.
func TestExploreChanged(t *testing.T) {
	explored(t, func() (func(context.Context) error, func(int, error)) {
		broken := false
		return func(ctx context.Context) error {
			if broken {
				return errors.New("broken")
			}
			broken = ctx.Err() != nil
			return ctx.Err()
		}, nil
	}, "has left something behind: called again, and not canceled, it returns broken, and at first it was <nil>")
}

// t.Fatal in check, and in f.
func TestExploreFatal(t *testing.T) {
	for _, in := range []string{"check", "f"} {
		for _, inside := range []bool{false, true} {
			over, went := make(chan string), false
			test := func() {
				defer close(over)
				bidetest.Explore(new(fake), func(ctx context.Context) error {
					if in == "f" {
						runtime.Goexit()
					}
					return ctx.Err()
				}, func(int, error) { runtime.Goexit() })
				went = true
			}
			if inside {
				synctest.Test(t, func(t *testing.T) { over = make(chan string); go test(); <-over })
			} else {
				go test()
				<-over
			}
			if went {
				t.Errorf("in %s, inside %v: Explore has returned", in, inside)
			}
		}
	}
}

// Ten reports are enough.
func TestExploreEnough(t *testing.T) {
	text := new(fake).run(func(t bidetest.TB) {
		bidetest.Explore(t, func(ctx context.Context) error {
			for range 100 {
				if bide.Check(ctx) != nil {
					bide.Open(ctx)
				}
			}
			return ctx.Err()
		}, nil)
	})
	if n := strings.Count(text, "has left behind"); n != 10 {
		t.Errorf("%d reports", n)
	}
}

func TestExploreChoice(t *testing.T) {
	for _, c := range []struct {
		point, seed string
		n, want     int
		prints      bool
	}{
		{"", "", 1, 1, false}, {"", "", 200, 200, false}, {"", "", 201, 200, true}, {"", "7", 5000, 200, true},
		{"all", "", 5000, 5000, false}, {"17", "", 5000, 1, false},
	} {
		points, seed := bidetest.Choice(c.point, c.seed, c.n)
		if len(points) != c.want || (seed != "") != c.prints || !slices.IsSorted(points) || len(slices.Compact(points)) != c.want {
			t.Errorf("%+v: %d points, seed %q", c, len(points), seed)
		}
		if last := points[len(points)-1]; points[0] < 1 || last > c.n || c.want == 200 && (points[49] != 50 || last != c.n) {
			t.Errorf("%+v: %v", c, points)
		}
		if again, _ := bidetest.Choice(c.point, seed, c.n); !slices.Equal(again, points) {
			t.Errorf("%+v: not repeated", c)
		}
	}
	if t.Setenv("BIDE_POINT", "2"); true {
		var told []int
		bidetest.Explore(t, func(ctx context.Context) error { return errors.Join(bide.Check(ctx), bide.Check(ctx)) },
			func(point int, err error) { told = append(told, point) })
		if !slices.Equal(told, []int{0, 2, 2}) {
			t.Errorf("explored %v", told)
		}
	}
}
