package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// Where Draining is asked for, below the scope that is stopped.
var drainers = []struct {
	name string
	at   func(s *bide.Scope) (ctx context.Context, end func())
}{
	{"the scope", func(s *bide.Scope) (context.Context, func()) { return s, nil }},
	{"a value", func(s *bide.Scope) (context.Context, func()) { return context.WithValue(s, struct{}{}, 0), nil }},
	{"a scope below", func(s *bide.Scope) (context.Context, func()) {
		m := bide.Open(s)
		k := bide.Open(m)
		return k, func() { k.Close(nil); m.Close(nil) }
	}},
	{"a std context", func(s *bide.Scope) (context.Context, func()) { return context.WithCancel(s) }},
	{"a scope below a std context", func(s *bide.Scope) (context.Context, func()) {
		ctx, stop := context.WithCancel(s)
		k := bide.Open(ctx)
		return k, func() { k.Close(nil); stop() }
	}},
	{"two scopes below a std context", func(s *bide.Scope) (context.Context, func()) {
		ctx, stop := context.WithCancel(s)
		k := bide.Open(ctx)
		l := bide.Open(k)
		return l, func() { l.Close(nil); k.Close(nil); stop() }
	}},
	{"a scope below WithoutCancel", func(s *bide.Scope) (context.Context, func()) {
		k := bide.Open(context.WithoutCancel(s))
		return k, func() { k.Close(nil) }
	}},
	{"a shield", func(s *bide.Scope) (context.Context, func()) { return inShield(s) }},
	{"a scope in a shield in a shield", func(s *bide.Scope) (context.Context, func()) {
		a, endA := inShield(s)
		m := bide.Open(a)
		b, endB := inShield(m)
		k := bide.Open(b)
		return k, func() { k.Close(nil); endB(); m.Close(nil); endA() }
	}},
	{"a shield in a canceled scope", func(s *bide.Scope) (context.Context, func()) {
		k := bide.Open(s)
		k.Cancel(nil)
		ctx, end := inShield(k)
		return ctx, func() { end(); k.Close(nil) }
	}},
	{"a shield in a closed scope", func(s *bide.Scope) (context.Context, func()) {
		k := bide.Open(s)
		k.Close(nil)
		return inShield(k)
	}},
	{"a service", func(s *bide.Scope) (context.Context, func()) {
		inside, end := make(chan context.Context), make(chan struct{})
		go bide.WithNursery(s, func(_ context.Context, n *bide.Nursery) error {
			n.Service(func(ctx context.Context) error { inside <- ctx; return nil })
			<-end
			return nil
		})
		return <-inside, func() { close(end) }
	}},
}

// inShield is a context in a shield below ctx, until end.
func inShield(ctx context.Context) (shielded context.Context, end func()) {
	inside, over := make(chan context.Context), make(chan struct{})
	go bide.Shield(ctx, time.Hour, func(ctx context.Context) error { inside <- ctx; <-over; return nil })
	return <-inside, func() { close(over) }
}

// Draining is open, and closed when Stop has returned, whenever it is asked for; nothing else is.
func TestDraining(t *testing.T) {
	for _, d := range drainers {
		virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
			outer := bide.Open(ctx)
			s := bide.Open(outer)
			beside := bide.Open(outer)
			at, end := d.at(s)
			ch := bide.Draining(at)
			c.True(ch != nil && !isClosed(ch), "%s: open", d.name)
			c.Equal(bide.Draining(at), ch, "asked for again")
			beside.Stop(grace, nil)
			if at != context.Context(s) {
				below := bide.Open(at)
				below.Stop(grace, nil)
				c.True(isClosed(bide.Draining(below)), "%s: the scope below", d.name)
				below.Close(nil)
			}
			c.True(!isClosed(ch), "%s: open when others were stopped", d.name)
			err := bide.Check(at)
			s.Stop(grace, nil)
			c.True(isClosed(ch), "%s: closed", d.name)
			c.Equal(bide.Check(at), err, "canceled by a soft stop")
			c.True(isClosed(bide.Draining(at)), "%s: asked for later", d.name)
			later, endLater := d.at(s)
			c.True(isClosed(bide.Draining(later)), "%s: opened later", d.name)
			c.True(!isClosed(bide.Draining(outer)), "the scope around it")
			if end != nil {
				end()
				endLater()
			}
			c.Settle()
			for _, s := range []*bide.Scope{s, beside, outer} {
				s.Close(nil)
			}
			c.Equal(c.Pending(), 0, "pending")
		})
	}
}

// It is closed at the latest when the scope ends, however that is, and stays as it is when something ends that the scope
// is shielded from.
func TestDrainingEnds(t *testing.T) {
	for name, end := range map[string]func(vc *clock.Virtual, outer, s *bide.Scope){
		"Cancel":                func(_ *clock.Virtual, _, s *bide.Scope) { s.Cancel(nil) },
		"Close":                 func(_ *clock.Virtual, _, s *bide.Scope) { s.Close(nil) },
		"a deadline":            func(vc *clock.Virtual, _, _ *bide.Scope) { vc.Advance(time.Minute) },
		"Cancel further up":     func(_ *clock.Virtual, outer, _ *bide.Scope) { outer.Cancel(nil) },
		"Close further up":      func(_ *clock.Virtual, outer, _ *bide.Scope) { outer.Close(nil) },
		"a deadline further up": func(vc *clock.Virtual, outer, _ *bide.Scope) { outer.SetTimeout(0) },
	} {
		virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
			outer := bide.Open(ctx)
			s := bide.Open(outer, bide.Timeout(time.Minute))
			std, stop := context.WithCancel(s)
			defer stop()
			below := bide.Open(std)
			shielded, endShield := inShield(s)
			chs := []<-chan struct{}{bide.Draining(s), bide.Draining(below)}
			in := bide.Draining(shielded)
			end(vc, outer, s)
			c.Settle() // below the std context it takes a moment
			for i, ch := range chs {
				c.True(isClosed(ch), "%s: %d", name, i)
			}
			c.True(!isClosed(in), "%s: in a shield", name)
			c.True(isClosed(bide.Draining(s)), "%s: asked for later", name)
			endShield()
			c.Settle()
			c.True(isClosed(in), "%s: at the end of the shield", name)
			for _, s := range []*bide.Scope{below, s, outer} {
				func() {
					defer func() { _ = recover() }() // closed already
					s.Close(nil)
				}()
			}
		})
	}
}

// Where no scope is above nothing can stop softly.
func TestDrainingNil(t *testing.T) {
	std, stop := context.WithCancel(context.Background())
	defer stop()
	for _, ctx := range []context.Context{context.Background(), std} {
		if bide.Draining(ctx) != nil {
			t.Errorf("%v: not nil", ctx)
		}
	}
	panicsWith(t, "bide: Draining: nil context", func() { bide.Draining(nil) })
}
