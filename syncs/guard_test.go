package syncs_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

func TestGuard(t *testing.T) {
	bg := context.Background()
	var zero syncs.Guard[map[string]int]
	if err := zero.With(bg, func(m *map[string]int) error {
		if *m != nil {
			t.Errorf("the zero Guard has %v", *m)
		}
		*m = map[string]int{"a": 1}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if done, err := zero.TryWith(func(m *map[string]int) error { (*m)["a"]++; return errBecause }); !done || err != errBecause {
		t.Errorf("TryWith = %v, %v", done, err)
	}
	if err := zero.With(bg, func(m *map[string]int) error {
		if (*m)["a"] != 2 {
			t.Errorf("%v", *m)
		}
		return errBecause
	}); err != errBecause {
		t.Error(err)
	}
	g := syncs.NewGuard([]int{1, 2})
	_ = g.With(bg, func(v *[]int) error {
		if len(*v) != 2 {
			t.Errorf("%v", *v)
		}
		if done, err := g.TryWith(func(*[]int) error { return errBecause }); done || err != nil {
			t.Errorf("TryWith inside of With = %v, %v", done, err)
		}
		ctx, cancel := context.WithCancel(bg)
		cancel()
		if err := g.With(ctx, func(*[]int) error { return errBecause }); err != context.Canceled {
			t.Errorf("With inside of With: %v", err)
		}
		return nil
	})
	var none context.Context
	if got, want := panics(func() { _ = g.With(none, nil) }), "bide/syncs: With of a Guard with a nil context"; got != want {
		t.Errorf("panic %q, want %q", got, want)
	}
}

// A function that panics, ends its goroutine, or is nil leaves the lock free.
func TestGuardIsReleased(t *testing.T) {
	var g syncs.Guard[int]
	bg := context.Background()
	for name, f := range map[string]func(*int) error{
		"panics":  func(*int) error { panic(errBecause) },
		"is nil":  nil,
		"ends it": func(*int) error { runtime.Goexit(); return nil },
	} {
		for _, call := range []func(){
			func() { _ = g.With(bg, f) },
			func() { _, _ = g.TryWith(f) },
		} {
			var group sync.WaitGroup
			group.Go(func() {
				if got := panics(call); got == "" {
					t.Errorf("%s: no panic", name)
				}
			})
			group.Wait()
			if done, _ := g.TryWith(func(*int) error { return nil }); !done {
				t.Fatalf("%s: the lock is not free", name)
			}
		}
	}
}

// Under contention, and when a wait is canceled, functions have the value alone.
func TestGuardAlone(t *testing.T) {
	atProcs(t, func(t *testing.T) {
		const goroutines, rounds = 8, 200
		g := syncs.NewGuard(0)
		var group sync.WaitGroup
		source := stress.Source(t)
		done := make([]int, goroutines)
		for i := range goroutines {
			group.Go(func() {
				r := source(i)
				for range rounds {
					err := under(r, func(ctx context.Context) error {
						ok := false
						err := g.With(ctx, func(n *int) error { *n++; ok = true; return nil })
						if ok != (err == nil) {
							t.Errorf("called %v, error %v", ok, err)
						}
						if ok {
							done[i]++
						}
						return err
					})
					if err != nil && errors.Is(err, errBecause) {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		want := 0
		for _, n := range done {
			want += n
		}
		_ = g.With(context.Background(), func(n *int) error {
			if *n != want {
				t.Errorf("counted %d, called %d times", *n, want)
			}
			return nil
		})
	})
}
