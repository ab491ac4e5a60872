package bide_test

import (
	"context"
	"maps"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"bide.invalid/bide"
)

// worn are the labels "bide" of the process's goroutines, as a profile shows them.
func worn() map[string]bool {
	var b strings.Builder
	pprof.Lookup("goroutine").WriteTo(&b, 1)
	all := map[string]bool{}
	for l := range strings.Lines(b.String()) {
		if _, rest, ok := strings.Cut(l, `"bide":"`); ok {
			path, _, _ := strings.Cut(rest, `"`)
			all[path] = true
		}
	}
	return all
}

func TestLabels(t *testing.T) {
	c := &C{T: t}
	wears := func(ctx context.Context, want string, others ...string) {
		t.Helper()
		got, _ := pprof.Label(ctx, "bide")
		c.Equal(got, want, "label of the context")
		all := map[string]bool{}
		for _, o := range append(others, want) {
			if o != "" {
				all[o] = true
			}
		}
		have := worn()
		for i := 0; i < 1000 && !maps.Equal(have, all); i++ { // the goroutine of an earlier child may be on its last steps
			runtime.Gosched()
			have = worn()
		}
		c.True(maps.Equal(have, all), "labels of goroutines: %v, want %v", have, all)
	}
	bg := context.Background()
	err := bide.Run(bg, func(s *bide.Scope) error {
		wears(s, "outer")
		bide.Run(s, func(s *bide.Scope) error { wears(s, "outer"); return nil })
		bide.Shield(s, 1e18, func(ctx context.Context) error {
			wears(ctx, "outer/inner")
			pprof.Do(ctx, pprof.Labels("mine", "1"), func(ctx context.Context) { wears(ctx, "outer/inner") })
			wears(ctx, "outer/inner")
			return nil
		}, bide.Name("inner"))
		wears(s, "outer")
		c.Panics(func() { bide.Run(s, func(*bide.Scope) error { panic("oh") }, bide.Name("inner")) }, "oh")
		wears(s, "outer")

		opened := bide.Open(s, bide.Name("opened"))
		bide.FailAfter(opened, 1e18, func(ctx context.Context) error { wears(ctx, "outer/opened/in"); return nil }, bide.Name("in"))
		opened.Close(nil)

		return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
			wears(ctx, "outer/crew")
			child := func(where string, run func(func(context.Context) error)) {
				ended := make(chan struct{})
				bide.Run(ctx, func(*bide.Scope) error { // the child is the nursery's, and not this scope's
					run(func(ctx context.Context) error {
						defer close(ended)
						wears(ctx, where, "outer/crew/deeper")
						return nil
					})
					<-ended
					return nil
				}, bide.Name("deeper"))
			}
			child("outer/crew", func(f func(context.Context) error) { n.Go(f) })
			child("outer/crew/child", func(f func(context.Context) error) { n.Go(f, bide.Name("child")) })
			child("outer/crew", func(f func(context.Context) error) { n.Service(f) })
			child("outer/crew", func(f func(context.Context) error) {
				bide.Start(ctx, n, func(ctx context.Context, ready func(int) bool) error { ready(1); return f(ctx) })
			})
			return nil
		}, bide.Name("crew"))
	}, bide.Name("outer"), bide.Labels())
	c.NoError(err)
	wears(bg, "")
	c.NoError(bide.Run(bg, func(s *bide.Scope) error { wears(s, ""); return nil }, bide.Name("unasked")))
}

func TestLabelsAllocs(t *testing.T) {
	s := bide.Open(context.Background(), bide.Name("s"))
	defer s.Close(nil)
	if n := testing.AllocsPerRun(100, func() { bide.FailAfter(s, 1e18, func(context.Context) error { return nil }) }); n > 1 {
		t.Errorf("%v allocations without Labels", n)
	}
}
