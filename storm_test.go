package bide_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A storm of random trees, moved on step by step, against the model of storm_model_test.go.

// A deed is one thing done to a tree; its numbers choose to which node, and how.
type deed struct{ what, a, b, c int }

// storm plays deeds, in a bubble, and notes every difference from the model.
type storm struct {
	model
	vc     *clock.Virtual
	actors []*actor
	log    []string
	diffs  []string
}

// An actor is a node that exists.
type actor struct {
	*node
	ctx     context.Context
	s       *bide.Scope // nil: a context of another kind, or a child without a scope of its own
	end     func(err error)
	cancel  context.CancelFunc // of a std
	nursery *bide.Nursery
	boss    *actor // the nursery that it is a child of
	ended   bool
	op      *result   // of a form with a function
	waits   []*result // each ends when the node is canceled
	drain   <-chan struct{}
	watches []<-chan struct{}
}

// A result is of a call on a goroutine of its own.
type result struct {
	err   error
	moved bool
	ended bool
}

func (s *storm) say(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf("%3d: ", s.now)+fmt.Sprintf(format, args...))
}

func (s *storm) differ(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.diffs = append(s.diffs, text)
	s.say("DIFFERENCE %s", text)
}

// odd is an odd duration: now is always odd, and what is scheduled even, so nothing is done at the instant of a deadline.
// (Which of the two is first is then a matter of who has looked; of two deadlines it is not.)
func odd(n int) time.Duration { return time.Duration(2*n + 1) }

// advance moves the clock, from instant to instant if it is to stop at each.
func (s *storm) advance(d time.Duration, whole bool) {
	to := s.now.Add(d)
	for !whole && s.next() < to {
		next := s.next()
		s.vc.Advance(next.Sub(s.now))
		s.model.advance(next)
		s.passive()
	}
	s.vc.Advance(to.Sub(s.vc.Now()))
	s.model.advance(to)
}

const things = 34

func (s *storm) step(st deed) {
	var open []*actor
	for _, a := range s.actors {
		if !a.ended && !a.closed {
			open = append(open, a)
		}
	}
	a := open[st.a%len(open)]
	switch w := st.what; {
	case w < 8:
		s.open(a, st)
	case w < 10:
		s.between(a, st)
	case w < 13:
		if a.nursery != nil {
			s.spawn(a, st)
		}
	case w < 17:
		s.finish(a, st)
	case w < 18:
		if a.s == nil {
			return
		}
		d := odd(st.b%15) - 4
		s.say("%s: Stop(%d)", a.name, d)
		a.s.Stop(d, failure)
		s.stopNode(a.node, d)
	case w < 20:
		switch {
		case a.s != nil && st.c%4 == 0:
			s.say("%s: Cancel", a.name)
			a.s.Cancel(nil)
			a.called = true
			s.model.cancel(a.node, bide.ByCancel)
		case a.cancel != nil:
			s.say("%s: is canceled", a.name)
			a.cancel()
			s.happen(a.node, event{source: bide.ByContext})
		}
		s.follow()
	case w < 23:
		d := odd(st.b%6) + 1
		whole := st.c%3 == 0
		for _, a := range s.actors { // not where a goroutine has to run first
			whole = whole && len(a.links) == 0 && !(a.std && a.parent.below(func(n *node) bool { return n.std }))
		}
		s.say("waits %d, at once %v", d, whole)
		s.advance(d, whole)
	case w < 25:
		if a.without || a.s == nil && !a.std {
			return
		}
		s.say("%s: a wait", a.name)
		a.waits = append(a.waits, perform(func() (bool, error) { return false, blk(a.ctx) }))
	case w < 26:
		if a.s == nil && !a.std {
			return
		}
		s.say("%s: Done", a.name)
		a.watches = append(a.watches, a.ctx.Done())
	case w < 27:
		if a.s == nil {
			return
		}
		s.say("%s: AfterFunc", a.name)
		c := make(chan struct{})
		a.s.AfterFunc(func() { close(c) })
		a.watches = append(a.watches, c)
	case w < 28:
		if a.std || a.without {
			return
		}
		s.say("%s: Draining", a.name)
		a.drain = bide.Draining(a.ctx)
	case w < 30:
		if a.s == nil {
			return
		}
		d := odd(st.b % 20)
		due := s.now.Add(d)
		var got bool
		switch st.c % 6 {
		case 0:
			s.say("%s: SetTimeout(0)", a.name)
			due, got = s.now, a.s.SetTimeout(0)
		case 1:
			s.say("%s: SetDeadline, none", a.name)
			due, got = clock.Forever, a.s.SetDeadline(time.Time{})
		default:
			s.say("%s: SetTimeout(%d)", a.name, d)
			got = a.s.SetTimeout(d)
		}
		if want := s.bound(a.node, due); got != want {
			s.differ("%s: SetTimeout is %v, want %v", a.name, got, want)
		}
	case w < 31:
		if a.s == nil {
			return
		}
		s.say("%s: Progress", a.name)
		a.s.Progress()
		s.progress(a.node)
	case w < 32:
		if to := open[st.b%len(open)]; a.s != nil && (to.s != nil || to.std) && st.c%2 == 0 {
			s.say("%s: Link to %s", a.name, to.name)
			a.s.Link(to.ctx)
			a.links = append(a.links, to.node)
			s.follow()
		}
	default:
		s.say("%s: a look", a.name)
		s.look(a, st.c)
	}
	s.passive()
}

// play plays steps in a bubble, and returns what was done if there was a difference.
func play(t *testing.T, steps []deed) (log []string) {
	synctest.Test(t, func(t *testing.T) {
		s := &storm{vc: clock.NewVirtual()}
		s.vc.Advance(1)
		s.now = 1
		root := bide.Open(context.Background(), bide.Clock(s.vc), bide.Name("s0"))
		n := &node{name: "s0", due: clock.Forever, start: clock.Forever}
		s.nodes = []*node{n}
		s.actors = []*actor{{node: n, ctx: root, s: root}}
		for _, st := range steps {
			if s.step(st); len(s.diffs) > 0 {
				break
			}
		}
		if len(s.diffs) == 0 {
			for _, a := range s.actors {
				if !a.ended && !a.closed {
					s.look(a, 1+2*a.depth())
				}
			}
			s.say("the end: Stop(0)")
			root.Stop(0, nil)
			s.stopNode(n, 0)
			s.passive()
		} else {
			root.Stop(0, nil)
		}
		s.finishAll()
		root.Close(nil)
		for _, a := range s.actors {
			if a.cancel != nil {
				a.cancel()
			}
		}
		synctest.Wait()
		for _, a := range s.actors {
			for _, r := range a.waits {
				if !r.ended {
					s.differ("%s: a wait is left", a.name)
				}
			}
		}
		if p := timer.For(s.vc).Stats().Pending; p != 0 {
			s.differ("%d deadlines are pending", p)
		}
		if len(s.diffs) > 0 {
			log = s.log
		}
	})
	return log
}

// shrink leaves out what is not needed for a difference.
func shrink(t *testing.T, steps []deed) []deed {
	for n := len(steps) / 2; n > 0; {
		smaller := false
		for i := 0; i+n <= len(steps); {
			less := slices.Concat(steps[:i], steps[i+n:])
			if play(t, less) != nil {
				steps, smaller = less, true
			} else {
				i += n
			}
		}
		if !smaller || n > len(steps) {
			n = min(n, len(steps)) / 2
		}
	}
	return steps
}

// TestStormOfTrees: what scopes do is what the model does.
func TestStormOfTrees(t *testing.T) {
	until, seed := stressed(t)
	round := uint64(0)
	for ; time.Now().Before(until); round++ {
		r := rand.New(rand.NewPCG(seed, round))
		steps := make([]deed, 20+r.IntN(60))
		for i := range steps {
			steps[i] = deed{r.IntN(things), r.IntN(1 << 20), r.IntN(1 << 20), r.IntN(1 << 20)}
		}
		if play(t, steps) != nil {
			steps = shrink(t, steps)
			t.Fatalf("in round %d; the shortest way there:\n%s\n%#v", round, strings.Join(play(t, steps), "\n"), steps)
		}
	}
	t.Logf("%d trees", round)
}
