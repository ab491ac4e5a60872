package bidetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// A Sequencer has goroutines of a test pass their steps in one order.
type Sequencer struct {
	t     TB
	steps []string
	done  syncs.Sequencer // how many steps were passed

	mu   sync.Mutex
	come []string // for each step who has come to it, and where; "" is nobody
}

// NewSequencer makes a Sequencer for steps in this order; a name that is there twice is passed twice. At the end of the
// test all must have been passed, or the test fails, and goroutines that are still in Pass end.
//
// It is for a test of one order of events, which is to be the same each time: code that calls back, or that the test has
// put together itself. For all the orders of a few goroutines, and where nothing calls back, see package testing/synctest
// and [Settle].
func NewSequencer(t TB, steps ...string) *Sequencer {
	t.Helper()
	s := &Sequencer{t: t, steps: steps, come: make([]string, len(steps))}
	inside := clock.InBubble()
	t.Cleanup(func() {
		t.Helper()
		if clock.InBubble() != inside {
			t.Errorf("bidetest: NewSequencer was called in a bubble with the t of outside")
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := int(s.done.Get()); n < len(steps) {
			t.Errorf("bidetest: Sequencer: nobody has passed %q, step %d of %d%s", steps[n], n+1, len(steps), s.waiting(n))
		}
		s.done.Close()
	})
	return s
}

// Pass returns when all steps before this one were passed. What a goroutine does before it calls Pass happens before
// what the others do after they have passed a later step.
//
// A step that is not in the order, or was passed as often as it is in there, ends the goroutine and fails the test. If
// nobody passes an earlier step, Pass waits, until the test has ended.
func (s *Sequencer) Pass(step string) {
	s.t.Helper()
	i := s.take(step)
	if i < 0 {
		s.t.Fatalf("bidetest: Sequencer: Pass(%q), which is no step that is left of %s", step, strings.Join(s.steps, ", "))
		return
	}
	if s.done.Wait(context.Background(), uint64(i)) != nil {
		runtime.Goexit() // the test is over
	}
	s.done.Increment()
}

// take finds the caller's step: the first of that name that nobody else has come to. -1: there is none.
func (s *Sequencer) take(step string) int {
	var pcs [16]uintptr
	_, at := caller(pcs[:runtime.Callers(2, pcs[:])])
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.steps {
		if s.steps[i] == step && s.come[i] == "" {
			s.come[i] = at
			return i
		}
	}
	return -1
}

// waiting lists who has come to later steps. Preconditions: mu held.
func (s *Sequencer) waiting(n int) string {
	var texts []string
	for i := n + 1; i < len(s.steps); i++ {
		if s.come[i] != "" {
			texts = append(texts, fmt.Sprintf("%q at %s", s.steps[i], s.come[i]))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "; for it wait " + strings.Join(slices.Compact(texts), ", ")
}
