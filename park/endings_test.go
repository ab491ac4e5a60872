package park_test

import (
	"context"
	"runtime"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// endings are contexts to wait under, and how they end.
var endings = []struct {
	name string
	make func(t *testing.T) (ctx context.Context, end func())
}{
	{"scope", func(t *testing.T) (context.Context, func()) {
		s := bide.Open(context.Background())
		t.Cleanup(func() { s.Close(nil) })
		return s, func() { s.Cancel(nil) }
	}},
	{"value below a scope", func(t *testing.T) (context.Context, func()) {
		s := bide.Open(context.Background())
		t.Cleanup(func() { s.Close(nil) })
		return context.WithValue(s, park.KindUser, 1), func() { s.Cancel(nil) }
	}},
	{"std", func(t *testing.T) (context.Context, func()) {
		return context.WithCancel(context.Background())
	}},
	{"scope right below std", func(t *testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancel(context.Background())
		s := bide.Open(ctx)
		t.Cleanup(func() { s.Close(nil) })
		return s, cancel
	}},
	{"std below a scope", func(t *testing.T) (context.Context, func()) {
		s := bide.Open(context.Background())
		t.Cleanup(func() { s.Close(nil) })
		ctx, cancel := context.WithCancel(s)
		t.Cleanup(cancel)
		return ctx, func() { s.Cancel(nil) }
	}},
}

// A brittle context panics when a wait under it begins.
type brittle struct {
	context.Context
	in    string
	first func() // called before it panics
	exit  bool   // runtime.Goexit instead
}

func (b *brittle) breaks() {
	b.first()
	if b.exit {
		runtime.Goexit()
	}
	panic("brittle")
}

func (b *brittle) Done() <-chan struct{} {
	if b.in == "Done" {
		b.breaks()
	}
	return b.Context.Done()
}

func (b *brittle) Value(k any) any {
	if k == (park.Key{}) && b.in == "Value" {
		b.breaks()
	}
	return b.Context.Value(k)
}
