package bide_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
)

// Panics and runtime.Goexit of a user's functions are let through, and leave nothing open and nobody running.

// leavers are calls whose body leaves by leave, having given its scope to opened.
var leavers = map[string]func(ctx context.Context, opened func(*bide.Scope), leave func()){
	"FailAfter": func(ctx context.Context, opened func(*bide.Scope), leave func()) {
		discard(bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { opened(bide.From(ctx)); leave(); return nil }))
	},
	"Within": func(ctx context.Context, opened func(*bide.Scope), leave func()) {
		_, _ = bide.Within(ctx, time.Hour, func(ctx context.Context) (int, error) { opened(bide.From(ctx)); leave(); return 0, nil })
	},
	"MoveOnAt": func(ctx context.Context, opened func(*bide.Scope), leave func()) {
		_, _ = bide.MoveOnAt(ctx, time.Now().Add(time.Hour), func(ctx context.Context) error { opened(bide.From(ctx)); leave(); return nil })
	},
	"Shield": func(ctx context.Context, opened func(*bide.Scope), leave func()) {
		discard(bide.Shield(ctx, time.Hour, func(ctx context.Context) error { opened(bide.From(ctx)); leave(); return nil }))
	},
	"Run": func(ctx context.Context, opened func(*bide.Scope), leave func()) {
		discard(bide.Run(ctx, func(s *bide.Scope) error { opened(s); leave(); return nil }))
	},
	"WithNursery": func(ctx context.Context, opened func(*bide.Scope), leave func()) {
		discard(nursery(ctx, func(n *bide.Nursery) { opened(n.Scope()); leave() }))
	},
}

func TestMisuseBodyPanics(t *testing.T) {
	outer := bide.Open(context.Background())
	defer outer.Close(nil)
	for name, call := range leavers {
		for how, leave := range map[string]func(){"panic": func() { panic("a bug") }, "Goexit": runtime.Goexit} {
			var inner *bide.Scope
			var value any
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				defer func() { value = recover() }()
				call(outer, func(s *bide.Scope) { inner = s }, leave)
				value = "it has returned"
			}()
			<-gone
			if want := map[string]any{"panic": "a bug"}[how]; value != want {
				t.Errorf("%s, %s: %v, want %v", name, how, value, want)
			}
			if inner.SetTimeout(time.Hour) || inner.Err() == nil {
				t.Errorf("%s, %s: the scope is still open", name, how)
			}
		}
	}
	if err := outer.Check(); err != nil {
		t.Error("the scope around: ", err)
	}
}

// A body that panics cancels the children first, and waits for them.
func TestMisuseNurseryBodyPanics(t *testing.T) {
	var ended atomic.Int64
	child := func(ctx context.Context) error {
		defer ended.Add(1)
		return blk(ctx)
	}
	panicsWith(t, "a bug", func() {
		discard(nursery(context.Background(), func(n *bide.Nursery) {
			n.Go(child)
			n.Go(child, bide.Name("in a scope of its own"))
			panic("a bug")
		}))
	})
	if ended.Load() != 2 {
		t.Error("children that had ended: ", ended.Load())
	}
}

// A child that calls Goexit has failed: the others are canceled.
func TestMisuseChildGoexit(t *testing.T) {
	for _, opts := range [][]bide.Option{nil, {bide.Name("quitter")}} {
		var sibling error
		err := nursery(context.Background(), func(n *bide.Nursery) {
			n.Go(func(ctx context.Context) error { sibling = blk(ctx); return sibling })
			n.Go(func(context.Context) error { runtime.Goexit(); return nil }, opts...)
		})
		if err != bide.ErrGoexit {
			t.Errorf("WithNursery: %v, want %v", err, bide.ErrGoexit)
		}
		if c, ok := sibling.(*bide.Canceled); !ok || c.Source != bide.BySibling {
			t.Error("the sibling: ", sibling)
		}
	}
}

// A child that panics ends the process, with its own stack.
func TestMisuseChildPanics(t *testing.T) {
	const again = "BIDE_TEST_CHILD_PANICS"
	if os.Getenv(again) != "" {
		_ = nursery(context.Background(), func(n *bide.Nursery) {
			n.Go(func(ctx context.Context) error { return buggyChild() })
		})
		return // and passes, which is the failure
	}
	self, err := os.Executable()
	if err != nil {
		t.Skip("LOUD: cannot find the test program, to run it again: ", err)
	}
	cmd := exec.Command(self, "-test.run=^TestMisuseChildPanics$")
	cmd.Env = append(os.Environ(), again+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the process has survived:\n%s", out)
	}
	for _, want := range []string{"panic: a child's bug", "buggyChild("} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in what it left:\n%s", want, out)
		}
	}
}

//go:noinline
func buggyChild() error { panic("a child's bug") }
