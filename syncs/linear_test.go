package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// Histories of operations that several clients do at the same time, at least a third of which are canceled or expire, are
// checked against a model that does one operation at a time: there has to be an order, in agreement with what ended
// before what began, in which the model would have given the same answers. One that was canceled must have done nothing.

// An op is what a client asks for; a res is what it got.
type op struct {
	do  string
	arg int
}

type res struct {
	ok       bool
	v        int
	canceled bool // by its context; the model sees it as an op without effect
	closed   bool
}

func (r res) String() string {
	switch {
	case r.canceled:
		return "canceled"
	case r.closed:
		return "closed"
	}
	return fmt.Sprint(r.ok, " ", r.v)
}

// A history records what clients do, on a clock that ticks with every call and return.
type history struct {
	clock         atomic.Int64
	total, failed atomic.Int64 // operations in all histories so far, and those that were canceled or expired
}

// A client does one operation at a time.
type client struct {
	h   *history
	id  int
	r   *rand.Rand
	ops []porcupine.Operation
}

// do does an operation that needs no context.
func (c *client) do(o op, f func() res) res {
	call := c.h.clock.Add(1)
	out := f()
	c.ops = append(c.ops, porcupine.Operation{ClientId: c.id, Input: o, Call: call, Output: out, Return: c.h.clock.Add(1)})
	c.h.total.Add(1)
	if out.canceled {
		c.h.failed.Add(1)
	}
	return out
}

// wait does one under a context that is canceled soon; the more surely, the fewer were so far.
func (c *client) wait(o op, f func(ctx context.Context) (int, error)) res {
	var ctx context.Context
	total, failed := c.h.total.Load(), c.h.failed.Load()
	soon := time.Duration(c.r.IntN(60)) * time.Microsecond
	switch kind := c.r.IntN(6); {
	case 5*failed < 2*total && kind > 0: // canceled already
		std, cancel := context.WithCancel(bg)
		cancel()
		ctx = std
	case kind < 2:
		s := bide.Open(bg, bide.Timeout(soon))
		defer s.Close(nil)
		ctx = s
	case kind < 4: // canceled by another goroutine, at about the same time
		s := bide.Open(bg)
		defer s.Close(nil)
		var group sync.WaitGroup
		defer group.Wait()
		n := c.r.IntN(6)
		group.Go(func() {
			for range n {
				yield()
			}
			s.Cancel(nil)
		})
		ctx = s
	default:
		std, cancel := context.WithTimeout(bg, 5*soon)
		defer cancel()
		ctx = std
	}
	return c.do(o, func() res {
		v, err := f(ctx)
		switch {
		case err == nil:
			return res{ok: true, v: v}
		case errors.Is(err, syncs.ErrClosed):
			return res{closed: true}
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return res{canceled: true}
		}
		panic(err)
	})
}

// A subject is a primitive, or a broken one, with what clients do to it.
type subject struct {
	name string
	// make returns a new one: step does one of its operations, or a few that belong together, the i-th of this client;
	// last gives back what the client still has.
	make  func() (step func(c *client, i int), last func(c *client))
	model porcupine.Model
}

// run records one history.
func (s subject) run(h *history, source func(g int) *rand.Rand, clients, steps int) []porcupine.Operation {
	h.clock.Store(0)
	step, last := s.make()
	all := make([]client, clients)
	var group sync.WaitGroup
	var start atomic.Int64
	for g := range all {
		c := &all[g]
		*c = client{h: h, id: g, r: source(g)}
		group.Go(func() {
			for start.Add(1); start.Load() < int64(clients); {
				yield()
			}
			for i := range steps {
				step(c, i)
				for range c.r.IntN(3) {
					yield()
				}
			}
			last(c)
		})
	}
	group.Wait()
	var ops []porcupine.Operation
	for _, c := range all {
		ops = append(ops, c.ops...)
	}
	return ops
}

// check runs histories until the time is over or one is wrong, which it reports.
func (s subject) check(t *testing.T, more func() bool) (wrong bool) {
	source := stress.Source(t)
	var h history
	rounds := 0
	for ; rounds < 3 || more(); rounds++ {
		ops := s.run(&h, func(g int) *rand.Rand { return source(rounds*100 + g) }, 4, 25)
		switch porcupine.CheckOperationsTimeout(s.model, ops, 20*time.Second) {
		case porcupine.Illegal:
			t.Logf("history %d", rounds)
			return true
		case porcupine.Unknown:
			t.Logf("history %d could not be checked in time", rounds)
		}
	}
	total, failed := h.total.Load(), h.failed.Load()
	t.Logf("%d histories of %d operations, %d of them canceled or expired", rounds, total, failed)
	if 3*failed < total {
		t.Errorf("only %d of %d operations were canceled or have expired", failed, total)
	}
	return false
}

// stepper makes a model from a function on states that are compared with ==. What was canceled changes nothing.
func stepper[S comparable](start S, step func(s S, o op, r res) (bool, S)) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		Step: func(state, in, out any) (bool, any) {
			if out.(res).canceled {
				return true, state
			}
			ok, s := step(state.(S), in.(op), out.(res))
			return ok, s
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, ": ", out) },
	}
}

// linear are the primitives.
var linear []subject

// broken are the same with a fault that the checker has to find.
var broken []subject

func TestLinear(t *testing.T) {
	for _, s := range linear {
		t.Run(s.name, func(t *testing.T) {
			if s.check(t, stress.Lasting(t, 4)) {
				t.Error("there is no order in which this could have happened")
			}
		})
	}
}

// The check has to be able to fail.
func TestLinearFindsFaults(t *testing.T) {
	for _, s := range broken {
		t.Run(s.name, func(t *testing.T) {
			end := time.Now().Add(time.Minute)
			if !s.check(t, func() bool { return time.Now().Before(end) }) {
				t.Error("the fault was not found")
			}
		})
	}
}
