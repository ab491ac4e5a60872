package bide_test

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// ours returns the goroutines, other than the calling one and package testing's, that run code of this module, once
// those on their last steps have ended.
func ours() (found []string) {
	module := reflect.TypeFor[bide.Scope]().PkgPath()
	for range 10_000 {
		found = found[:0]
		buf := make([]byte, 1<<20)
		for n := runtime.Stack(buf, true); n == len(buf); n = runtime.Stack(buf, true) {
			buf = make([]byte, 2*len(buf))
		}
		dump := string(buf[:runtime.Stack(buf, true)])
		for i, g := range strings.Split(dump, "\n\n") {
			if i > 0 && strings.Contains(g, module) && !strings.Contains(g, "testing.(*T).Run") {
				found = append(found, g)
			}
		}
		if len(found) == 0 {
			return nil
		}
		runtime.Gosched()
	}
	return found
}

// 100 000 bounds that were started, waited under, and left leave no goroutine, and nothing in the timer service.
func TestIdle(t *testing.T) {
	if g := ours(); g != nil {
		t.Fatalf("before: %s", strings.Join(g, "\n\n"))
	}
	before := timer.Default().Stats()
	var mu syncs.Mutex
	std, stop := context.WithCancel(context.Background())
	defer stop()
	for i := range 100_000 {
		ctx := context.Background()
		if i%2 == 0 {
			ctx = std
		}
		err := bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error {
			switch i % 10 {
			case 0, 1: // observed
				_, _ = ctx.Err(), ctx.Err()
			case 2:
				_ = ctx.Done()
			case 3:
				child, stop := context.WithTimeout(ctx, time.Hour)
				defer stop()
				ctx = child
			case 4:
				if i%1000 == 4 { // a tick each
					return bide.Sleep(ctx, time.Nanosecond)
				}
			}
			if err := mu.Lock(ctx); err != nil {
				return err
			}
			mu.Unlock()
			return nil
		})
		if err != nil {
			t.Fatal(i, err)
		}
	}
	if g := ours(); g != nil {
		t.Errorf("%d goroutines left:\n%s", len(g), strings.Join(g, "\n\n"))
	}
	if after := timer.Default().Stats(); after.Pending > before.Pending {
		t.Errorf("%d entries pending, %d before", after.Pending, before.Pending)
	}
}

// Bounds that are live, however many, cost no goroutine either.
func TestIdleWhileBounded(t *testing.T) {
	before := timer.Default().Stats().Pending
	root := bide.Open(context.Background(), bide.Timeout(time.Hour))
	n := 100_000
	if raceEnabled {
		n /= 10
	}
	scopes := make([]*bide.Scope, n)
	for i := range scopes {
		scopes[i] = bide.Open(root, bide.Timeout(time.Hour))
		scopes[i].Done()
	}
	if g := ours(); g != nil {
		t.Errorf("%d goroutines:\n%s", len(g), strings.Join(g, "\n\n"))
	}
	root.Close(nil)
	for i, s := range scopes {
		if s.Err() == nil {
			t.Fatalf("scope %d is live although the one above is closed", i)
		}
		s.Close(nil)
	}
	if p := timer.Default().Stats().Pending; p > before {
		t.Errorf("%d entries pending, %d before", p, before)
	}
}
