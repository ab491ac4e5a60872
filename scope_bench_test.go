package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
)

var bg = context.Background()

func nothing(context.Context) error  { return nil }
func look(ctx context.Context) error { return ctx.Err() }
func done(ctx context.Context) error { ctx.Done(); return nil }
func kid(ctx context.Context) error {
	_, stop := context.WithCancel(ctx)
	stop()
	return nil
}

// bounded is FailAfter's rival.
func bounded(ctx context.Context, f func(context.Context) error) {
	ctx, stop := context.WithTimeout(ctx, time.Hour)
	_ = f(ctx)
	stop()
}

func each(b *testing.B, name string, f func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
}

// Enter and leave a scope with a deadline.
func BenchmarkP3(b *testing.B) {
	std, stop := context.WithCancel(bg)
	defer stop()
	three := func(ctx context.Context) error {
		return bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { return bide.FailAfter(ctx, time.Hour, look) })
	}
	stdThree := func(ctx context.Context) error {
		bounded(ctx, func(ctx context.Context) error { bounded(ctx, look); return nil })
		return nil
	}
	each(b, "nobody looks/bide", func() { _ = bide.FailAfter(bg, time.Hour, nothing) })
	each(b, "nobody looks/std", func() { bounded(bg, nothing) })
	each(b, "looked at/bide", func() { _ = bide.FailAfter(bg, time.Hour, look) })
	each(b, "looked at/std", func() { bounded(bg, look) })
	each(b, "nested three/bide", func() { _ = bide.FailAfter(bg, time.Hour, three) })
	each(b, "nested three/std", func() { bounded(bg, stdThree) })
	each(b, "below std/bide", func() { _ = bide.FailAfter(std, time.Hour, look) })
	each(b, "below std/std", func() { bounded(std, look) })
}

// The same with Done, and with a standard child.
func BenchmarkP4(b *testing.B) {
	each(b, "Done/bide", func() { _ = bide.FailAfter(bg, time.Hour, done) })
	each(b, "Done/std", func() { bounded(bg, done) })
	each(b, "child/bide", func() { _ = bide.FailAfter(bg, time.Hour, kid) })
	each(b, "child/std", func() { bounded(bg, kid) })
}

// Err of an observed scope.
func BenchmarkP5(b *testing.B) {
	std, stop := context.WithTimeout(bg, time.Hour)
	defer stop()
	deep := bide.Open(bg, bide.Timeout(time.Hour))
	scopes := []*bide.Scope{deep}
	for range 999 {
		scopes = append(scopes, bide.Open(scopes[len(scopes)-1]))
	}
	scopes[999].Done()
	below := bide.Open(std)
	below.Done()
	for _, c := range []struct {
		name string
		ctx  context.Context
	}{{"depth 1/bide", deep}, {"depth 1000/bide", scopes[999]}, {"below std/bide", below}, {"std", std}} {
		each(b, c.name, func() { _ = c.ctx.Err() })
	}
	for i := range scopes {
		scopes[len(scopes)-1-i].Close(nil)
	}
	below.Close(nil)
}

// A standard child of a long-lived parent.
func BenchmarkP19(b *testing.B) {
	std, stop := context.WithTimeout(bg, time.Hour)
	defer stop()
	s := bide.Open(bg, bide.Timeout(time.Hour))
	defer s.Close(nil)
	stdValue, value := context.WithValue(std, valueKey{}, 1), context.WithValue(s, valueKey{}, 1)
	each(b, "directly/bide", func() { _ = kid(s) })
	each(b, "directly/std", func() { _ = kid(std) })
	each(b, "below a value/bide", func() { _ = kid(value) })
	each(b, "below a value/std", func() { _ = kid(stdValue) })
}
