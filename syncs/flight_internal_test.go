package syncs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
)

// Flying is how many calls the flight knows.
func (g *Flight[K, V]) Flying() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	for k, c := range g.calls.m {
		if c.callers == 0 || c.landed {
			panic(fmt.Sprintf("I1: %v: %d callers, landed %v", k, c.callers, c.landed))
		}
	}
	return len(g.calls.m)
}

func TestBubbleFlightTransitions(t *testing.T) {
	taken := marks{}
	synctest.Test(t, func(t *testing.T) {
		var g Flight[string, int]
		c := &flown[int]{}
		state := func() string {
			synctest.Wait()
			flying := g.Flying()
			if b := g.calls.m["k"]; b != nil {
				c = b
			}
			s := fmt.Sprintf("%d callers", c.callers)
			if flying > 0 {
				s += ", flying"
			}
			if c.landed {
				s += ", landed"
			}
			return s
		}
		step := func(names, want string, op func()) {
			t.Helper()
			go op()
			if got := state(); got != want {
				t.Fatalf("%s: %s, want %s", names, got, want)
			}
			taken.take(names)
		}
		lands := []chan int{make(chan int), make(chan int), make(chan int)} // one for each call
		calls, canceled := 0, 0
		f := func(ctx context.Context) (int, error) {
			land := lands[calls]
			calls++
			defer context.AfterFunc(ctx, func() { canceled++ })()
			return <-land, nil
		}
		do := func(ctx context.Context, want int) func() {
			return func() {
				if v, err := g.Do(ctx, "k", f); v != want || (err == nil) != (want != 0) {
					t.Errorf("Do: %d, %v, want %d", v, err, want)
				}
			}
		}
		bg := context.Background()
		ctx, cancel := context.WithCancel(bg)
		step("K1", "1 callers, flying", do(ctx, 0))
		step("K2", "2 callers, flying", do(bg, 1))
		step("K3", "1 callers, flying", cancel) // the first one
		step("K5", "1 callers, landed", func() { lands[0] <- 1 })
		if canceled != 0 {
			t.Error("canceled, though somebody was there")
		}

		ctx, cancel = context.WithCancel(bg)
		step("K1", "1 callers, flying", do(ctx, 0))
		step("K2", "2 callers, flying", do(ctx, 0))
		step("K3 K4", "0 callers", cancel)
		if canceled != 1 {
			t.Error("not canceled, though nobody is there")
		}
		lost := c
		step("K1", "1 callers, flying", do(bg, 2))
		if lost == c {
			t.Error("joined a call that nobody wanted")
		}
		step("K6", "1 callers, flying", func() { lands[1] <- 3 })
		if !lost.landed || lost.v != 3 {
			t.Error("the lost one has not landed")
		}
		step("K5", "1 callers, landed", func() { lands[2] <- 2 })
	})
	taken.demand(t, "flight.go", "K")
}

// A context that panics: its caller leaves, the last one as any.
func TestBubbleFlightPanicInAContext(t *testing.T) {
	for _, landed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var g Flight[int, int]
			land := make(chan int)
			f := func(ctx context.Context) (int, error) {
				select {
				case v := <-land:
					return v, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			}
			do := func(first func()) {
				defer func() { _ = recover() }()
				_, _ = g.Do(&brittle{context.Background(), first}, 1, f)
			}
			other := make(chan int, 1)
			do(func() {
				if landed {
					land <- 1
					synctest.Wait()
				} else {
					go func() { v, _ := g.Do(context.Background(), 1, f); other <- v }()
					synctest.Wait()
				}
			})
			if !landed {
				if g.Flying() != 1 {
					t.Error("canceled by one of two")
				}
				land <- 2
				if v := <-other; v != 2 {
					t.Errorf("the other one got %d", v)
				}
			}
			do(func() {}) // the bubble hangs if the call is not canceled
			synctest.Wait()
			if g.Flying() != 0 {
				t.Error("it still flies")
			}
		})
	}
}

// Keys that a map cannot hold are a mistake that hurts nobody else, and keys that it cannot find are kept nowhere.
func TestFlightStrangeKeys(t *testing.T) {
	var g Flight[any, int]
	f := func(context.Context) (int, error) { return 1, nil }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = g.Do(context.Background(), []int{1}, f)
	}()
	var nan float64
	nan /= nan
	for _, k := range []any{1, "1", nan} {
		if v, err := g.Do(context.Background(), k, f); v != 1 || err != nil {
			t.Errorf("%v: %d, %v", k, v, err)
		}
	}
	if n := g.Flying(); n != 0 {
		t.Errorf("%d are left", n)
	}
}

// If nobody is there any more, the panic is not swallowed.
func TestFlightPanicThatNobodySees(t *testing.T) {
	var g Flight[int, int]
	c := &flown[int]{cancel: func() {}}
	defer func() {
		p, ok := recover().(*PanicError)
		if !ok || p.Value != "brittle" || len(p.Stack) == 0 {
			t.Errorf("panic %v", p)
		}
	}()
	g.fly(1, c, context.Background(), func(context.Context) (int, error) { panic("brittle") })
}

func TestPanicError(t *testing.T) {
	err := errors.New("because")
	p := &PanicError{Value: err, Stack: []byte("here")}
	if !errors.Is(p, err) || p.Error() != "because\n\nhere" {
		t.Error(p)
	}
	p.Value = 7
	if p.Unwrap() != nil || p.Error() != "7\n\nhere" {
		t.Error(p)
	}
}
