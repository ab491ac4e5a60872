package bide_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/timer"
)

// The conformance list says, item by item, how scopes and nurseries behave. Each item is one test that registers itself
// with its number; TestConformance runs them in order, and fails one that has checked nothing.

// wanted are the numbers that must be registered, as ranges: no item can be forgotten, and none slips in.
var wanted = [][2]int{{1, 114}}

type item struct {
	name string // short_snake_case
	test func(c *C)
}

var (
	conformance = map[int]item{}
	itemName    = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
)

// register is called by package variables: var _ = register(1, "no_cancel", func(c *C) { … }).
func register(number int, name string, test func(c *C)) bool {
	if _, twice := conformance[number]; twice || !itemName.MatchString(name) {
		panic(fmt.Sprintf("conformance item %d: registered twice, or %q is no snake_case name", number, name))
	}
	conformance[number] = item{name, test}
	return true
}

func TestConformance(t *testing.T) {
	var want, missing, surplus []int
	for _, r := range wanted {
		for n := r[0]; n <= r[1]; n++ {
			want = append(want, n)
			if _, ok := conformance[n]; !ok {
				missing = append(missing, n)
			}
		}
	}
	var numbers []int
	for n := range conformance {
		numbers = append(numbers, n)
		if !slices.Contains(want, n) {
			surplus = append(surplus, n)
		}
	}
	slices.Sort(numbers)
	slices.Sort(surplus)
	for _, n := range numbers {
		it := conformance[n]
		t.Run(fmt.Sprintf("%03d_%s", n, it.name), func(t *testing.T) {
			c := &C{T: t}
			it.test(c)
			checks := c.checks.Load()
			t.Logf("checks: %d", checks)
			if checks == 0 {
				t.Error("the item has checked nothing")
			}
		})
	}
	if len(missing)+len(surplus) > 0 {
		t.Errorf("items missing: %v; registered, but not wanted: %v", missing, surplus)
	}
}

// C is what an item tests with: a *testing.T that counts checks. Checks report and go on, so they may be made on any
// goroutine of the item. Inside Virtual and Bubble T is the bubble's.
type C struct {
	*testing.T

	checks  atomic.Int64
	service *timer.Service // of the latest virtual clock
}

// True checks cond; the rest says what was expected, or what is wrong.
func (c *C) True(cond bool, format string, args ...any) bool {
	c.Helper()
	c.checks.Add(1)
	if !cond {
		c.Errorf("not true: "+format, args...)
	}
	return cond
}

// Equal checks that got is want: errors by identity, everything else deeply.
func (c *C) Equal(got, want any, what string) bool {
	c.Helper()
	c.checks.Add(1)
	_, isErr := got.(error)
	if got == nil && want == nil || isErr && got == want || !isErr && reflect.DeepEqual(got, want) {
		return true
	}
	c.Errorf("%s: got %v (%T), want %v (%T)", what, got, got, want, want)
	return false
}

// NoError checks that err is nil.
func (c *C) NoError(err error) bool {
	c.Helper()
	c.checks.Add(1)
	if err != nil {
		c.Errorf("error: %v (%T)", err, err)
	}
	return err == nil
}

// Is checks errors.Is(err, target).
func (c *C) Is(err, target error) bool {
	c.Helper()
	c.checks.Add(1)
	ok := errors.Is(err, target)
	if !ok {
		c.Errorf("error %v (%T) is not %v", err, err, target)
	}
	return ok
}

// IsNot checks that errors.Is(err, target) is false.
func (c *C) IsNot(err, target error) bool {
	c.Helper()
	c.checks.Add(1)
	is := errors.Is(err, target)
	if is {
		c.Errorf("error %v (%T) is %v, and should not be", err, err, target)
	}
	return !is
}

// Canceled checks that err is, or wraps, a *bide.Canceled, and returns it; a fresh one on failure, never nil.
func (c *C) Canceled(err error) *bide.Canceled {
	c.Helper()
	c.checks.Add(1)
	var e *bide.Canceled
	if !errors.As(err, &e) {
		c.Errorf("error %v (%T) is no *bide.Canceled", err, err)
		return &bide.Canceled{}
	}
	return e
}

// TimeoutError checks that err is, or wraps, a *bide.TimeoutError, and returns it; a fresh one on failure, never nil.
func (c *C) TimeoutError(err error) *bide.TimeoutError {
	c.Helper()
	c.checks.Add(1)
	var e *bide.TimeoutError
	if !errors.As(err, &e) {
		c.Errorf("error %v (%T) is no *bide.TimeoutError", err, err)
		return &bide.TimeoutError{}
	}
	return e
}

// Panics checks that f panics, with a text that contains each of parts, and returns the text.
func (c *C) Panics(f func(), parts ...string) (text string) {
	c.Helper()
	c.checks.Add(1)
	panicked := true
	func() {
		defer func() {
			if panicked {
				text = fmt.Sprint(recover())
			}
		}()
		f()
		panicked = false
	}()
	if !panicked {
		c.Errorf("no panic")
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			c.Errorf("panic %q: no %q in it", text, part)
		}
	}
	return text
}

// Virtual runs f in a synctest bubble, with a new virtual clock and a root scope on it. At the end no scope may be open,
// nobody wait, and nothing be pending on the clock.
func (c *C) Virtual(f func(ctx context.Context, vc *clock.Virtual)) {
	c.Helper()
	c.bubble(func() {
		ctx, vc := bidetest.Virtual(c)
		c.service = timer.For(vc)
		f(ctx, vc)
	})
}

// Bubble runs f in a plain synctest bubble: fake time, the monotonic clock.
func (c *C) Bubble(f func(ctx context.Context)) {
	c.Helper()
	c.bubble(func() { f(context.Background()) })
}

func (c *C) bubble(f func()) {
	c.Helper()
	outer := c.T
	defer func() { c.T = outer }()
	synctest.Test(outer, func(t *testing.T) {
		c.T = t
		f()
	})
}

// Settle returns when every other goroutine of the bubble is parked.
func (c *C) Settle() { synctest.Wait() }

// Pending is how many entries are pending in the timer service of the virtual clock of this Virtual, or the latest.
func (c *C) Pending() int { return c.service.Stats().Pending }

// Start calls f on a goroutine. Use inside of a bubble.
func (c *C) Start(f func() error) *Op {
	op := &Op{c: c, ended: make(chan struct{})}
	go func() {
		defer close(op.ended)
		op.err = f()
	}()
	return op
}

// An Op is a call that was begun with Start.
type Op struct {
	c     *C
	ended chan struct{}
	err   error
}

// Parked settles, and checks that the call has not returned.
func (op *Op) Parked(what string) bool {
	op.c.Helper()
	return op.c.True(!op.Ended(), "%s: still parked", what)
}

// Returned settles, checks that the call has returned, and returns its error.
func (op *Op) Returned(what string) error {
	op.c.Helper()
	if op.c.True(op.Ended(), "%s: has returned", what) {
		return op.err
	}
	return errStillParked
}

var errStillParked = errors.New("the call has not returned")

// Ended settles, and reports whether the call has returned.
func (op *Op) Ended() bool {
	op.c.Settle()
	select {
	case <-op.ended:
		return true
	default:
		return false
	}
}

// Wait waits for the call and returns its error.
func (op *Op) Wait() error {
	<-op.ended
	return op.err
}

// Rounds calls f n times, a tenth of that with -short, with numbers from a seed that is logged; BIDE_SEED replays it.
func (c *C) Rounds(n int, f func(round int, r *rand.Rand)) {
	c.Helper()
	source := stress.Source(c)
	if testing.Short() {
		n = max(1, n/10)
	}
	for i := range n {
		f(i, source(i))
		if c.Failed() {
			c.Errorf("in round %d", i)
			return
		}
	}
}

// elapsed is how far the virtual clock has moved.
func elapsed(vc *clock.Virtual) time.Duration { return vc.Now().Sub(0) }
