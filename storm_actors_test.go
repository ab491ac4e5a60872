package bide_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing/synctest"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// boom is the error that a function is to panic with.
var boom = errors.New("boom")

// obey makes the body of a function that ends as a.end says; a.ctx is there when enter has returned.
func (a *actor) obey() (body func(context.Context) error, enter func()) {
	in, out := make(chan context.Context), make(chan error)
	a.end = func(err error) {
		out <- err
		synctest.Wait()
	}
	body = func(ctx context.Context) error {
		in <- ctx
		err := <-out
		if err == error(boom) {
			panic(boom)
		}
		return err
	}
	return body, func() { a.ctx = <-in }
}

// perform calls f on a goroutine, whose panic is a part of the result.
func perform(f func() (bool, error)) *result {
	r := &result{}
	go func() {
		defer func() {
			if v := recover(); v != nil {
				r.err = &panicked{v}
			}
			r.ended = true
		}()
		r.moved, r.err = f()
	}()
	return r
}

type panicked struct{ v any }

func (p *panicked) Error() string {
	if e, ok := p.v.(*bide.PanicError); ok {
		return fmt.Sprintf("repanic %v", e.Value)
	}
	return fmt.Sprintf("panic %v", p.v)
}

// add makes an actor of n below p, with a context of ctx's kind.
func (s *storm) add(p *actor, n *node) *actor {
	n.name = fmt.Sprint("s", len(s.nodes))
	n.parent = p.node
	a := &actor{node: n}
	s.actors = append(s.actors, a)
	return a
}

// open opens a scope of some kind below p.
func (s *storm) open(p *actor, st deed) {
	if p.depth() >= 8 {
		return
	}
	ctx := p.ctx
	if st.c&1 != 0 {
		ctx = context.WithValue(ctx, valueKey{}, 1)
	}
	d := odd(st.b % 20)
	n := &node{due: clock.Forever, start: clock.Forever}
	a := s.add(p, n)
	name := bide.Name(n.name)
	bound := func() {
		n.start, n.due = s.now, s.now.Add(d)
		if st.b%23 == 0 {
			d, n.due = 0, s.now
		}
	}
	// called opens the scope with a function.
	called := func(f func(body func(context.Context) error) (bool, error)) {
		body, enter := a.obey()
		a.op = perform(func() (bool, error) { return f(body) })
		enter()
		a.s = bide.From(a.ctx)
	}
	what := ""
	switch form := st.c / 2 % 11; form {
	case 0, 1:
		what = "FailAfter"
		bound()
		called(func(body func(context.Context) error) (bool, error) {
			return false, bide.FailAfter(ctx, d, body, name)
		})
	case 2:
		what = "MoveOnAfter"
		bound()
		n.moveOn = true
		called(func(body func(context.Context) error) (bool, error) {
			return bide.MoveOnAfter(ctx, d, body, name)
		})
	case 3, 4:
		what = "Shield"
		bound()
		n.shield = true
		called(func(body func(context.Context) error) (bool, error) {
			return false, bide.Shield(ctx, d, body, name)
		})
	case 5, 6, 7:
		what = "WithNursery"
		opts := []bide.Option{name}
		n.crew = &crew{live: 1}
		if st.c/22&1 != 0 {
			bound()
			opts = append(opts, bide.Timeout(d))
		}
		if st.c/22&2 != 0 {
			n.crew.supervise = true
			opts = append(opts, bide.Supervise())
		}
		if st.c/22&4 != 0 {
			n.crew.repanic = true
			opts = append(opts, bide.Repanic())
		}
		called(func(body func(context.Context) error) (bool, error) {
			return false, bide.WithNursery(ctx, func(ctx context.Context, nursery *bide.Nursery) error {
				a.nursery = nursery
				return body(ctx)
			}, opts...)
		})
	default:
		what = "Open"
		opts := []bide.Option{name}
		switch st.c / 22 % 4 {
		case 0:
			bound()
			opts = append(opts, bide.Timeout(d))
		case 1:
			bound()
			n.moveOn = true
			opts = append(opts, bide.Timeout(d), bide.MoveOn())
		case 2:
			bound()
			n.idle = d
			opts = append(opts, bide.Idle(d))
		}
		a.s = bide.Open(ctx, opts...)
		a.ctx = a.s
		a.end = func(err error) {
			a.op = &result{err: err, ended: true}
			a.s.Close(&a.op.err)
			synctest.Wait()
		}
	}
	s.say("%s: %s opens %s: bound %d, idle %d, move on %v, crew %+v", p.name, what, n.name, n.due, n.idle, n.moveOn, n.crew)
	s.model.open(n)
}

// between puts a context of another kind below p.
func (s *storm) between(p *actor, st deed) {
	if p.depth() >= 8 {
		return
	}
	n := &node{due: clock.Forever, start: clock.Forever}
	a := s.add(p, n)
	if n.without = st.c%4 == 0; n.without {
		s.say("%s: context.WithoutCancel is %s", p.name, n.name)
		a.ctx = context.WithoutCancel(p.ctx)
	} else {
		n.std = true
		s.say("%s: context.WithCancel is %s", p.name, n.name)
		a.ctx, a.cancel = context.WithCancel(p.ctx)
	}
	s.nodes = append(s.nodes, n)
	if e := n.cause(); n.std && e != nil && e.source == bide.ByAbandoned {
		n.loose = true // it is not told
	}
}

// spawn starts a child of nursery p.
func (s *storm) spawn(p *actor, st deed) {
	n := &node{due: clock.Forever, start: clock.Forever}
	own := st.c&1 != 0
	a := &actor{node: p.node, boss: p}
	var opts []bide.Option
	if own {
		n.name, n.parent = fmt.Sprint("s", len(s.nodes)), p.node
		a.node = n
		opts = append(opts, bide.Name(n.name))
		if st.c&2 != 0 {
			d := odd(st.b % 20)
			n.start, n.due = s.now, s.now.Add(d)
			opts = append(opts, bide.Timeout(d))
		}
	}
	s.actors = append(s.actors, a)
	p.crew.live++
	body, enter := a.obey()
	p.nursery.Go(body, opts...)
	enter()
	if own {
		a.s = bide.From(a.ctx)
	}
	s.say("%s: Go, in a scope of its own %v: %s, bound %d", p.name, own, a.name, a.due)
	if own {
		s.model.open(n)
	}
}

// leaves is an error to return from a, and the parts of it.
func (s *storm) leaves(a *actor, st deed) (err error, parts []part) {
	cancellation := func(a *actor) (error, []part) {
		err := bide.Check(a.ctx)
		s.compare(a, err)
		if err == nil || a.cause() == nil { // or a difference
			return nil, nil
		}
		return err, []part{{flatten(err)[0], true, a.id()}}
	}
	real := part{text: failure.Error()}
	switch st.b % 9 {
	case 0, 1:
		return failure, []part{real}
	case 2, 3:
		return cancellation(a)
	case 4:
		if err, parts = cancellation(a); err != nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		return err, parts
	case 5:
		err, parts = cancellation(a)
		return errors.Join(failure, err), append([]part{real}, parts...)
	case 6:
		return context.Canceled, []part{{text: context.Canceled.Error(), leaf: true}}
	case 7:
		if x := s.actors[st.c%len(s.actors)]; x.s != nil && !x.closed && !x.undetermined() {
			return cancellation(x)
		}
	}
	return nil, nil
}

// openBelow reports whether a scope is open below n, but for one.
func (s *storm) openBelow(n *node, but *actor) bool {
	return slices.ContainsFunc(s.actors, func(k *actor) bool {
		return k != but && k.s != nil && !k.closed && k.node != n && k.under(n)
	})
}

// finish ends a with an error or a panic, unless something is open below that has to end first.
func (s *storm) finish(a *actor, st deed) {
	if a.ended || a.end == nil {
		return
	}
	misnested := false
	boss := a.boss
	if a.crew != nil && a.boss == nil {
		boss = a // its body
	}
	switch {
	case a == s.actors[0]:
		return
	case s.openBelow(a.node, a) && boss == nil:
		if misnested = a.op == nil && st.c%8 == 0; !misnested {
			return
		}
	case s.openBelow(a.node, a) && a.s != nil && boss != a:
		return
	case boss != nil && boss.crew.live == 1 && s.openBelow(boss.node, a):
		return
	}
	panics := a.op != nil && st.c%7 == 0 || a.boss != nil && boss.crew.repanic && st.c%5 == 0
	err, parts := s.leaves(a, st)
	if panics {
		err = boom
	}
	loose := a.undetermined()
	s.say("%s ends with %v; nursery's child %v, panic %v, misnested %v", a.name, err, a.boss != nil, panics, misnested)
	a.ended = true
	a.end(err)
	var want []part
	var r *result
	switch {
	case boss == nil && panics:
		s.exit(a.node, nil)
		want, r = []part{{text: "panic boom"}}, a.op
	case boss == nil:
		want, r = s.exit(a.node, parts), a.op
	default:
		n := boss.node
		switch {
		case a.boss == nil && panics:
			n.crew.panicked = "panic boom"
			s.model.cancel(n, bide.ByBody)
			s.follow()
		case a.boss == nil:
			s.file(n, parts, bide.ByBody)
		case panics:
			if a.node != n {
				s.exit(a.node, nil)
			}
			if n.crew.panicked == "" {
				n.crew.panicked = "repanic boom"
			}
			s.model.cancel(n, bide.BySibling)
			s.follow()
		default:
			if a.node != n {
				parts = s.exit(a.node, parts)
			}
			s.file(n, parts, bide.BySibling)
		}
		n.crew.live--
		if boss.op.ended != (n.crew.live == 0) {
			s.differ("%s: the nursery has ended: %v, alive %d", n.name, boss.op.ended, n.crew.live)
			return
		}
		if n.crew.live > 0 {
			return
		}
		boss.ended = true
		want, r = s.over(n), boss.op
		a = boss
	}
	if !r.ended {
		s.differ("%s has not ended", a.name)
		return
	}
	loose = loose || a.undetermined()
	got := flatten(r.err)
	if misnested && slices.Contains(got, bide.ErrMisnested.Error()) {
		got = got[:len(got)-1]
	}
	if !loose && !slices.Equal(got, texts(want)) {
		s.differ("%s has returned %q, want %q", a.name, got, texts(want))
	}
	if !loose && a.s.Caught() != a.caught {
		s.differ("%s: Caught is %v, want %v", a.name, a.s.Caught(), a.caught)
	}
	if r.moved && !a.caught && !loose {
		s.differ("%s has moved on, and nothing was caught", a.name)
	}
}

// finishAll ends everybody, inner ones first.
func (s *storm) finishAll() {
	for left := -1; ; {
		n := 0
		for i := len(s.actors) - 1; i > 0; i-- {
			a := s.actors[i]
			if len(s.diffs) == 0 {
				s.finish(a, deed{b: i, c: 1})
			} else if a.end != nil && !a.ended {
				a.ended = true
				a.end(nil)
			}
			if a.end != nil && !a.ended {
				n++
			}
		}
		if n == 0 {
			return
		}
		if n == left {
			s.differ("%d cannot be ended", n)
		}
		left = n
	}
}
