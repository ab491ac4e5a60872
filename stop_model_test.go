package bide_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// The rules of Stop, naively: every scope is known, every instant is come to, nothing is lazy.
type modelScope struct {
	name     string
	parent   *modelScope
	shield   bool
	std      bool // a context of another kind lies between it and parent
	due, end clock.Instant
	stopped  bool
	source   bide.Source // 0: live
	loose    bool        // which source it is, is a matter of who looks first: below a context of another kind

	s    *bide.Scope
	ctx  context.Context
	ops  []*Op
	d    <-chan struct{}
	kids int
}

type model struct {
	c   *C
	vc  *clock.Virtual
	all []*modelScope // outer before inner
	log []string
}

// under reports whether m is p, or lies below.
func (m *modelScope) under(p *modelScope) bool {
	for m != nil && m != p {
		m = m.parent
	}
	return m != nil
}

// reached reports whether an ordinary cancellation of p reaches m.
func (m *modelScope) reached(p *modelScope) bool {
	for m != p && m != nil && !m.shield {
		m = m.parent
	}
	return m == p
}

func (m *model) cancel(p *modelScope, source bide.Source) {
	for _, k := range m.all {
		if k.source == 0 && k.reached(p) {
			k.source = source
		}
	}
}

// hard is the hard end of p: it is canceled, and then the shields below it, whose own bound goes first.
func (m *model) hard(p *modelScope) {
	m.cancel(p, bide.ByShutdown)
	for _, k := range m.all {
		if k.shield && k != p && k.under(p) {
			if k.due <= p.end {
				m.cancel(k, bide.ByDeadline)
			}
			m.cancel(k, bide.ByShutdown)
		}
	}
	p.end = clock.Forever
}

// advance moves to an instant, by way of all at which something happens, outer scopes first.
func (m *model) advance(to clock.Instant) {
	for {
		next := to
		for _, k := range m.all {
			if k.source == 0 {
				next = min(next, k.due)
			}
			next = min(next, k.end)
		}
		for _, k := range m.all {
			if k.source == 0 && k.due <= next {
				m.cancel(k, bide.ByDeadline)
			}
			if k.end <= next {
				m.hard(k)
			}
		}
		if next == to {
			return
		}
	}
}

func (m *model) draining(k *modelScope) bool {
	for p := k; p != nil; p = p.parent {
		if p.stopped {
			return true
		}
	}
	return k.source != 0
}

func (m *model) check() {
	m.c.Settle()
	for _, k := range m.all {
		for _, op := range k.ops {
			if op.Ended() != (k.source != 0) {
				m.c.Errorf("%s: a wait has ended: %v; source %v", k.name, op.Ended(), k.source)
			}
		}
		if k.d != nil && isClosed(k.d) != m.draining(k) {
			m.c.Errorf("%s: draining: %v, want %v", k.name, isClosed(k.d), m.draining(k))
		}
	}
}

// look compares what a scope says of itself.
func (m *model) look(k *modelScope) {
	cause, _ := k.s.Cause().(*bide.Canceled)
	m.c.Settle()
	switch {
	case (cause != nil) != (k.source != 0), cause != nil && !k.loose && cause.Source != k.source:
		m.c.Errorf("%s: %v, want source %v", k.name, cause, k.source)
	}
}

// odd is an odd duration: now is always odd, and what is scheduled even, so nothing is done at the instant of a
// deadline. (Which of the two is first is then a matter of who has looked; of two deadlines it is not.)
func odd(r *rand.Rand, n int) time.Duration { return time.Duration(1 + 2*r.IntN(n/2)) }

func (m *model) step(r *rand.Rand, i int) {
	k := m.all[r.IntN(len(m.all))]
	say := func(format string, args ...any) {
		m.log = append(m.log, fmt.Sprintf("%d: %s: ", m.vc.Now(), k.name)+fmt.Sprintf(format, args...))
	}
	switch r.IntN(11) {
	case 0, 1: // open
		n := &modelScope{name: fmt.Sprint("s", i), parent: k, due: clock.Forever, end: clock.Forever}
		ctx := k.ctx
		if r.IntN(3) == 0 {
			n.std = true
			child, stop := context.WithCancel(ctx)
			m.c.Cleanup(stop)
			ctx = child
		}
		d := odd(r, 40)
		n.shield = r.IntN(3) == 0
		n.loose = n.std || k.loose
		if n.shield {
			n.s, n.ctx = openShield(ctx, d)
			n.due = m.vc.Now().Add(d)
			n.loose = false
		} else if r.IntN(2) == 0 {
			n.s = bide.Open(ctx, bide.Timeout(d), bide.Name(n.name))
			n.due = m.vc.Now().Add(d)
		} else {
			n.s = bide.Open(ctx, bide.Name(n.name))
		}
		n.ctx = n.s
		if !n.shield {
			n.source = k.source
		}
		for p := k; p != nil && n.shield; p = p.parent {
			if p.stopped && p.end == clock.Forever { // it has come
				n.source = bide.ByShutdown
			}
		}
		m.all = append(m.all, n)
		say("opens %s: shield %v, std %v, due %d", n.name, n.shield, n.std, n.due)
	case 2, 3: // stop
		d := odd(r, 30) - 4
		say("Stop(%d)", d)
		k.s.Stop(d, failure)
		end := m.vc.Now().Add(max(d, 0))
		if !k.stopped || end < k.end {
			if !k.stopped || k.end != clock.Forever {
				k.stopped, k.end = true, end
			}
		}
		m.advance(m.vc.Now())
	case 4:
		say("Cancel")
		k.s.Cancel(nil)
		m.cancel(k, bide.ByCancel)
	case 5, 6:
		d := odd(r, 10) + 1
		say("waits %d", d)
		m.vc.Advance(d)
		m.advance(m.vc.Now())
	case 7:
		say("a wait")
		k.ops = append(k.ops, m.c.Start(func() error { return blk(k.ctx) }))
	case 8:
		say("Draining")
		k.d = bide.Draining(k.ctx)
	case 9:
		say("a look")
		m.look(k)
	case 10:
		if k.source != 0 {
			return
		}
		d := odd(r, 40)
		say("SetTimeout(%d)", d)
		if !k.s.SetTimeout(d) {
			m.c.Errorf("%s: SetTimeout refused", k.name)
		}
		k.due = m.vc.Now().Add(d)
	}
	m.check()
}

// openShield opens a shield that is closed by closing its scope's body.
func openShield(ctx context.Context, d time.Duration) (*bide.Scope, context.Context) {
	in := make(chan *bide.Scope)
	go bide.Shield(ctx, d, func(ctx context.Context) error {
		s := bide.From(ctx)
		in <- s
		<-shieldEnd(ctx)
		return nil
	})
	s := <-in
	return s, s
}

type shieldKey struct{}

func shieldEnd(ctx context.Context) <-chan struct{} {
	return ctx.Value(shieldKey{}).(chan struct{})
}

// Random trees, moved on step by step, do what the model does.
func TestStopModel(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("BIDE_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("BIDE_SEED=%d", seed)
	rounds := 2000
	if testing.Short() || raceEnabled {
		rounds = 200
	}
	for round := range rounds {
		virtual(t, func(c *C, ctx context.Context, vc *clock.Virtual) {
			r := rand.New(rand.NewPCG(seed, uint64(round)))
			end := make(chan struct{})
			root := bide.Open(context.WithValue(ctx, shieldKey{}, end), bide.Name("root"))
			vc.Advance(1)
			m := &model{c: c, vc: vc}
			defer func() {
				if c.Failed() {
					for _, line := range m.log {
						c.Log(line)
					}
					c.Logf("in round %d", round)
				}
			}()
			m.all = []*modelScope{{name: "root", due: clock.Forever, end: clock.Forever, s: root, ctx: root}}
			for i := range 40 {
				if m.step(r, i); c.Failed() {
					break
				}
			}
			for _, k := range m.all {
				m.look(k)
			}
			root.Stop(0, nil)
			m.all[0].stopped, m.all[0].end = true, min(m.all[0].end, vc.Now())
			if m.all[0].source == 0 || m.all[0].end != clock.Forever {
				m.hard(m.all[0])
			}
			m.check()
			for _, k := range m.all {
				m.look(k)
			}
			close(end)
			c.Settle()
			for i := len(m.all) - 1; i >= 0; i-- {
				if k := m.all[i]; !k.shield {
					k.s.Close(nil)
				}
			}
		})
	}
}
