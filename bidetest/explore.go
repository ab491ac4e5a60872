package bidetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

// Explore finds out what f leaves behind when it is canceled. It calls f once as it is, and then again for each cancel
// point that f has passed, with a scope that is canceled at that point, just before the look; and then with one whose
// deadline comes there. Cancel points are those of [CancelPoints], and, beside them, each wait that begins under a scope.
//
// All calls are made in one synctest bubble, the caller's, or one that Explore makes: time is fake, and a f that sleeps
// costs nothing. After each one, when everybody is parked, the test fails if
//
//   - something is left: a scope that is open, somebody who waits under one, a goroutine, a timer of package timer; but
//     for what ends by itself within a minute, as what a syncs.Pool makes for the next one does, when the first has left;
//   - the cancellation was swallowed: f has returned nil, and come to other cancel points after the one that has failed,
//     those in shields excepted. (A server that ends well when it is told to may return ctx.Err() here.)
//   - f has not returned, or goes from one failing cancel point to the next without end, or panics;
//   - f, called once more and not canceled, does not come to its end any more, or fails, though it did not at first: it
//     waits for what the canceled call has kept. Then Explore ends. What f shares from one call to the next, a lock, a
//     semaphore, a pool of one item, is to be made by the test, and small, so that this shows at once.
//
// What only the test can know, whether the lock is free and the pool full, is asked by check, which may be nil. It is
// called after each call with the number of the point, which is 0 for the first one, and with what f has returned.
//
// The report says at which point it was, with the line in the test's own code from which the point was reached, and
// BIDE_POINT=n in the environment repeats that point alone. Of more than 200 points a part is taken: the first and the
// last 50, and 100 between them by a seed that the report prints (BIDE_SEED); with BIDE_POINT=all, all are. After ten
// reports Explore has enough.
//
// Explore sees points, not code: a select with ctx.Done(), and a call under context.WithTimeout(ctx), are none. Where
// several goroutines run, the n-th point need not be the same one each time. Objects with channels in them that were
// made outside of the bubble are no good inside: make them in the same [Bubble], and call Explore there.
func Explore(t TB, f func(ctx context.Context) error, check func(point int, err error)) {
	t.Helper()
	if f == nil {
		t.Fatalf("bidetest: Explore of a nil function")
		return
	}
	w := use(t, false)
	if w == nil {
		return
	}
	defer w.leave(false)
	defer w.explore()()
	e := &explorer{t: t, f: f, check: check, w: w}
	if clock.InBubble() {
		e.explore()
	} else if !e.inBubble() {
		runtime.Goexit() // as check, or f, has done
	}
}

// inBubble reports false if somebody has ended the goroutine: by t.Fatal.
func (e *explorer) inBubble() (returned bool) {
	defer func() {
		if v := recover(); v != nil && !(returned && e.reports > 0) {
			panic(v)
		} // else the bubble cannot end, for what is left in it, which was reported
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		over := make(chan struct{})
		go func() {
			defer close(over)
			e.explore()
			returned = true
		}()
		<-over
	})
	return returned
}

// An explorer is one call of Explore.
type explorer struct {
	t     TB
	f     func(ctx context.Context) error
	check func(point int, err error)
	w     *watch

	bubble  string
	known   map[string]bool // goroutines
	plain   *call           // the first one, that nobody cancels
	limit   time.Duration   // of the other calls
	seed    string
	reports int
	stuck   bool // nothing more can be found out
}

// enough reports.
const enough = 10

func (e *explorer) explore() {
	e.t.Helper()
	which, err := choice(os.Getenv("BIDE_POINT"), os.Getenv("BIDE_SEED"))
	if err != nil {
		e.t.Errorf("bidetest: Explore: %v", err)
		return
	}
	e.bubble, e.known = thisBubble(), map[string]bool{}
	e.remember()
	e.plain = e.do(0, byNobody)
	e.judge(e.plain)
	n := int(e.plain.points.Load())
	switch {
	case e.plain.hung != "" || e.plain.panicked != "":
		return
	case n == 0:
		e.report(e.plain, "passes no cancel point, so there is nothing to explore: does it use the ctx that it is given?")
		return
	}
	e.ask(e.plain)
	points, seed := which(n)
	e.seed = seed
	for _, k := range points {
		for _, by := range []injection{byCancel, byDeadline} {
			c := e.do(k, by)
			e.judge(c)
			if !e.stuck {
				e.ask(c)
			}
			if e.reports < enough && !e.stuck {
				e.again(c)
			}
			if e.reports >= enough || e.stuck {
				return
			}
		}
	}
}

// ask is the test's own look.
func (e *explorer) ask(c *call) {
	if e.check != nil {
		e.check(c.point, c.err)
	}
}

// again calls f once more, to see what c has kept.
func (e *explorer) again(after *call) {
	e.t.Helper()
	c := e.do(0, byNobody)
	switch {
	case c.hung != "":
		e.stuck = true // the other points would be another f's
		e.report(after, "has kept something: called again, and not canceled, it does not end:"+list([]string{c.hung}))
	case c.panicked != "":
		e.stuck = true
		e.report(after, "has left something behind: called again, and not canceled, it panics:"+list([]string{c.panicked}))
	case (c.err == nil) != (e.plain.err == nil):
		e.report(after, fmt.Sprintf("has left something behind: called again, and not canceled, it returns %v, and at first it was %v",
			c.err, e.plain.err))
	}
}

// judge reports what was wrong with a call.
func (e *explorer) judge(c *call) {
	e.t.Helper()
	if c.hung != "" {
		e.report(c, "does not end:"+list([]string{c.hung}))
	}
	if c.panicked != "" {
		e.stuck = true
		e.report(c, "panics:"+list([]string{c.panicked}))
	}
	if c.endless.Load() {
		e.report(c, fmt.Sprintf("goes on without end: it has come to %d cancel points that fail, the last ones at %s",
			mostDead, c.later))
	}
	if len(c.left) > 0 {
		e.report(c, "has left behind:"+list(c.left))
	}
	if e.plain.err == nil && c.err == nil && c.panicked == "" && c.later != "" && !c.endless.Load() && c.hung == "" {
		e.report(c, "has swallowed that: it returned nil, and has come to a further cancel point, in "+c.later)
	}
}

func (e *explorer) report(c *call, problem string) {
	e.t.Helper()
	e.reports++
	if c.injected == byNobody {
		e.t.Errorf("bidetest: Explore: f, which nobody cancels, %s", problem)
		return
	}
	replay := fmt.Sprintf("BIDE_POINT=%d", c.point)
	if e.seed != "" {
		replay += " BIDE_SEED=" + e.seed
	}
	e.t.Errorf("bidetest: Explore: f, %v at point %d of %d, in %s, %s\n\t(%s; it returned: %v)",
		c.injected, c.point, e.plain.points.Load(), c.at, problem, replay, c.err)
}

const (
	mostPoints = 200
	atTheEnds  = 50
)

// choice says which of n points are to be explored, by the environment, in order.
func choice(point, seed string) (which func(n int) (points []int, seed string), err error) {
	rnd := rand.Uint64()
	if seed != "" {
		if rnd, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return nil, fmt.Errorf("BIDE_SEED=%q is not a number", seed)
		}
	}
	only := 0
	if point != "" && point != "all" {
		if only, err = strconv.Atoi(point); err != nil || only < 1 {
			return nil, fmt.Errorf("BIDE_POINT=%q is not a point: write 17, or all", point)
		}
	}
	return func(n int) (points []int, seed string) {
		if only > 0 {
			return []int{only}, ""
		}
		for k := range n {
			points = append(points, k+1)
		}
		if n <= mostPoints || point == "all" {
			return points, ""
		}
		rng := rand.New(rand.NewPCG(rnd, 0))
		between := points[atTheEnds : n-atTheEnds]
		rng.Shuffle(len(between), func(i, j int) { between[i], between[j] = between[j], between[i] })
		points = slices.Concat(points[:atTheEnds], between[:mostPoints-2*atTheEnds], points[n-atTheEnds:])
		slices.SortFunc(points, cmp.Compare[int])
		return points, strconv.FormatUint(rnd, 10)
	}, nil
}

// errExplored is what f is canceled with.
var errExplored = errors.New("bidetest: Explore")
