package park_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// A kindOfContext makes one context to wait under, and what cancels it.
type kindOfContext struct {
	name   string
	host   bool // HostOf finds one
	native bool
	make   func(t *testing.T) (ctx context.Context, cancel func())
}

type key struct{}

// open opens a scope for the length of the test.
func open(t *testing.T, ctx context.Context, opts ...bide.Option) *bide.Scope {
	s := bide.Open(ctx, opts...)
	t.Cleanup(func() { s.Close(nil) })
	return s
}

func scope(t *testing.T) (*bide.Scope, func()) {
	s := open(t, context.Background())
	return s, func() { s.Cancel(nil) }
}

// embedded is a struct around a scope that leaves everything to it.
type embedded struct{ *bide.Scope }

// overriding is one that is canceled by a channel of its own, and not by the scope.
type overriding struct {
	*bide.Scope
	done chan struct{}
}

func (o *overriding) Done() <-chan struct{} { return o.done }
func (o *overriding) Err() error {
	select {
	case <-o.done:
		return context.Canceled
	default:
		return nil
	}
}

// late closes Done before it sets Err, as no context should.
type late struct {
	context.Context
	done chan struct{}
}

func (l *late) Done() <-chan struct{} { return l.done }
func (l *late) Err() error            { return nil }

// contexts are the kinds that can be canceled.
var contexts = []kindOfContext{
	{"std", false, false, func(*testing.T) (context.Context, func()) {
		return context.WithCancel(context.Background())
	}},
	{"std with a timeout", false, false, func(*testing.T) (context.Context, func()) {
		return context.WithTimeout(context.Background(), time.Hour)
	}},
	{"value below std", false, false, func(*testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancel(context.Background())
		return context.WithValue(ctx, key{}, 1), cancel
	}},
	{"scope", true, true, func(t *testing.T) (context.Context, func()) {
		s, cancel := scope(t)
		return s, cancel
	}},
	{"scope with a timeout", true, true, func(t *testing.T) (context.Context, func()) {
		s := open(t, context.Background(), bide.Timeout(time.Hour))
		return s, func() { s.Cancel(nil) }
	}},
	{"scope in a scope", true, true, func(t *testing.T) (context.Context, func()) {
		s, cancel := scope(t)
		return open(t, s), cancel
	}},
	{"value below a scope", true, true, func(t *testing.T) (context.Context, func()) {
		s, cancel := scope(t)
		return context.WithValue(context.WithValue(s, key{}, 1), key{}, 2), cancel
	}},
	{"std below a scope", true, false, func(t *testing.T) (context.Context, func()) {
		s, cancel := scope(t)
		ctx, release := context.WithCancel(s)
		t.Cleanup(release)
		return ctx, cancel
	}},
	{"std below a scope, itself canceled", true, false, func(t *testing.T) (context.Context, func()) {
		s, _ := scope(t)
		return context.WithCancel(s)
	}},
	{"scope right below std", true, true, func(t *testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancel(context.Background())
		return open(t, ctx), cancel
	}},
	{"scope right below std, itself canceled", true, true, func(t *testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		s := open(t, ctx)
		return s, func() { s.Cancel(nil) }
	}},
	{"struct around a scope", true, true, func(t *testing.T) (context.Context, func()) {
		s, cancel := scope(t)
		return embedded{s}, cancel
	}},
	{"struct around a scope with its own Done", true, false, func(t *testing.T) (context.Context, func()) {
		s, _ := scope(t)
		o := &overriding{s, make(chan struct{})}
		return o, func() { close(o.done) }
	}},
	{"value below a struct with its own Done", true, false, func(t *testing.T) (context.Context, func()) {
		s, _ := scope(t)
		o := &overriding{s, make(chan struct{})}
		return context.WithValue(o, key{}, 1), func() { close(o.done) }
	}},
	{"another's scope among the values", true, false, func(t *testing.T) (context.Context, func()) {
		s, _ := scope(t)
		ctx, cancel := context.WithCancel(context.Background())
		return context.WithValue(ctx, park.Key{}, s.Value(park.Key{})), cancel
	}},
	{"closes Done before it sets Err", false, false, func(*testing.T) (context.Context, func()) {
		l := &late{context.Background(), make(chan struct{})}
		return l, func() { close(l.done) }
	}},
}

// deaf are kinds that are not canceled by what is canceled around them.
var deaf = []kindOfContext{
	{"background", false, false, func(*testing.T) (context.Context, func()) {
		return context.Background(), func() {}
	}},
	{"std WithoutCancel", false, false, func(*testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancel(context.Background())
		return context.WithoutCancel(ctx), cancel
	}},
	{"scope WithoutCancel", true, false, func(t *testing.T) (context.Context, func()) {
		s, cancel := scope(t)
		return context.WithoutCancel(s), cancel
	}},
	{"struct with its own Done around a canceled scope", true, false, func(t *testing.T) (context.Context, func()) {
		s, cancel := scope(t)
		return &overriding{s, make(chan struct{})}, cancel
	}},
	{"not a host among the values", false, false, func(*testing.T) (context.Context, func()) {
		return context.WithValue(context.Background(), park.Key{}, "no host"), func() {}
	}},
}
