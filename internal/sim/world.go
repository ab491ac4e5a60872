//go:build bidestep

package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"

	"bide.invalid/bide/internal/step"
)

// A World is one run of a model, under one schedule.
type World struct {
	ctx    context.Context
	cancel context.CancelFunc
	checks []func() error
	left   atomic.Int32 // goroutines that are not through
	spins  atomic.Int32
	names  []string

	mu      sync.Mutex // held for moments, never at a step
	here    []*ticket  // who waits to be chosen, in the order of arrival
	arrived int        // how many of them are new
	free    bool       // the run is over: nobody waits any more
	failed  error
}

// A ticket is a goroutine at a step.
type ticket struct {
	name  string
	ready func() bool // nil: always
	goOn  chan struct{}
}

// Context is for waits that have no other bound: it is canceled when the run has failed, so that everybody comes home.
func (w *World) Context() context.Context { return w.ctx }

// Go starts a goroutine of the model.
func (w *World) Go(name string, f func()) {
	w.left.Add(1)
	w.names = append(w.names, name)
	go func() {
		defer w.left.Add(-1)
		defer func() {
			if p := recover(); p != nil {
				w.fail(fmt.Errorf("%s panicked: %v\n%s", name, p, debug.Stack()))
			}
		}()
		w.at("start "+name, nil)
		f()
	}()
}

// Check is called when all goroutines are through.
func (w *World) Check(f func() error) { w.checks = append(w.checks, f) }

func (w *World) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

// at is the step.Scheduler.
func (w *World) at(name string, ready func() bool) {
	w.mu.Lock()
	if w.free {
		w.mu.Unlock()
		w.leave(ready)
		return
	}
	t := &ticket{name, ready, make(chan struct{})}
	w.here = append(w.here, t)
	w.arrived++
	w.mu.Unlock()
	<-t.goOn
}

// leave lets a goroutine pass when the run is over; but not one that waits for the lock of a goroutine that panicked.
func (w *World) leave(ready func() bool) {
	if ready != nil && w.spins.Add(1) > 1e6 {
		runtime.Goexit()
	}
}

// A run is what came of one schedule.
type run struct {
	choices []choice
	trace   []string
	err     error
}

// A choice is one decision of a schedule.
type choice struct {
	options int
	current bool // option 0 goes on with whoever took the last step: any other interrupts him
	pick    int
}

var errDiverged = errors.New("sim: the schedule asks for a goroutine that is not there: what the model does is not decided by its schedule alone")

// play runs the model in a bubble that the caller has made, and decides by pick.
func play(model func(w *World), pick func(n int, c choice) int) (r run) {
	w := &World{}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	defer w.cancel()
	begun := false
	step.Schedule(func(name string, ready func() bool) {
		if begun { // before that only the model itself runs, to make what it needs
			w.at(name, ready)
		}
	})
	defer step.Schedule(nil)
	model(w)
	synctest.Wait() // all are at their start
	begun = true
	for w.failed == nil {
		options, current := w.options()
		if len(options) == 0 {
			break
		}
		c := choice{options: len(options), current: current}
		c.pick = pick(len(r.choices), c)
		if c.pick >= c.options {
			w.fail(errDiverged)
			break
		}
		r.choices = append(r.choices, c)
		r.trace = append(r.trace, options[c.pick].name)
		w.release(options[c.pick])
		synctest.Wait()
	}
	if n := w.left.Load(); n > 0 && w.failed == nil {
		w.fail(fmt.Errorf("%d of %s wait for ever", n, strings.Join(w.names, ", ")))
	}
	w.mu.Lock()
	w.free = true
	for _, t := range w.here {
		close(t.goOn)
	}
	w.here = nil
	w.mu.Unlock()
	w.cancel()
	synctest.Wait()
	if w.failed == nil {
		for _, check := range w.checks {
			if err := check(); err != nil {
				w.fail(err)
			}
		}
	}
	r.err = w.failed
	return r
}

// options are those who can go on: first whoever took the last step, then the others in the order of arrival.
func (w *World) options() (options []*ticket, current bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Who was woken was blocked when another took the step that did it; between the two there is no order of arrival.
	fresh := w.here[len(w.here)-w.arrived:]
	slices.SortStableFunc(fresh, func(a, b *ticket) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.name, b.name))
	})
	for i, t := range w.here {
		if t.ready != nil && !t.ready() {
			continue
		}
		if i == len(w.here)-len(fresh) && rank(t) == 0 {
			options = slices.Insert(options, 0, t)
			current = true
		} else {
			options = append(options, t)
		}
	}
	return options, current
}

// rank is 1 for who has just been woken or started.
func rank(t *ticket) int {
	if t.name == "park.woken" || strings.HasPrefix(t.name, "start ") {
		return 1
	}
	return 0
}

func (w *World) release(t *ticket) {
	w.mu.Lock()
	for i, other := range w.here {
		if other == t {
			w.here = append(w.here[:i], w.here[i+1:]...)
			break
		}
	}
	w.arrived = 0
	w.mu.Unlock()
	close(t.goOn)
}
