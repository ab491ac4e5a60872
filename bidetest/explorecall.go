package bidetest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/park"
)

// An injection is what comes at a point.
type injection string

const (
	byNobody   injection = ""
	byCancel   injection = "canceled"
	byDeadline injection = "whose deadline came"
)

// A call is one of an explored function.
type call struct {
	scope    *bide.Scope
	point    int // at which something comes
	injected injection

	points  atomic.Int64 // passed so far
	dead    atomic.Int64 // those of them that have failed, behind the one at which it came
	endless atomic.Bool

	mu    sync.Mutex
	at    string // the point
	later string // another one that has failed

	err      error
	panicked string   // with what, and where
	hung     string   // who was still under way when the time was over
	left     []string // what it has left behind
}

const (
	mostDead = 10_000
	// How long the first call may take, of the bubble's time. The others get ten times as much as it took, and an hour.
	longestCall = 7 * 24 * time.Hour
	// What is left of a call may take so long to end by itself.
	afterCall = time.Minute
)

// do calls f, and looks at what is left.
func (e *explorer) do(point int, by injection) *call {
	c := &call{scope: bide.Open(context.Background(), bide.Name("explored")), point: point, injected: by}
	e.w.root(c.scope)
	seen(c.scope).OnPoint(c.pass)
	before := e.w.count()
	limit, begun := e.limit, time.Now()
	if e.plain == nil {
		limit = longestCall
	}
	over := make(chan struct{})
	var err error
	var panicked string
	returned := false
	go func() {
		defer close(over)
		defer func() {
			if v := recover(); v != nil {
				panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}()
		err = e.f(c.scope)
		returned = true
	}()
	ended := func() bool {
		t := time.NewTimer(limit)
		defer t.Stop()
		select {
		case <-over:
			return true
		case <-t.C:
			return false
		}
	}
	if !ended() {
		c.hung = strings.Join(e.strangers(), "\n\n")
		c.scope.Cancel(errExplored)
		e.stuck = !ended()
	}
	if e.plain == nil {
		e.limit = 10*time.Since(begun) + time.Hour
	}
	synctest.Wait()
	if !e.stuck {
		c.err, c.panicked = err, panicked
		if !returned && panicked == "" && !c.endless.Load() {
			runtime.Goexit() // by t.Fatal, which has said why
		}
		left := func() []string {
			return append(append(e.w.below(c.scope), e.w.timersSince(before, e.bubble)...), e.strangers()...)
		}
		if c.left = left(); len(c.left) > 0 {
			time.Sleep(afterCall)
			synctest.Wait()
			c.left = left()
		}
	}
	c.scope.Close(nil)
	synctest.Wait()
	e.remember()
	return c
}

// pass is called at each point.
func (c *call) pass(p registry.Point) {
	n := int(c.points.Add(1))
	if c.point == 0 || n < c.point {
		return
	}
	if n == c.point {
		at := here()
		c.mu.Lock()
		c.at = at
		c.mu.Unlock()
		if c.injected == byCancel {
			c.scope.Cancel(errExplored)
		} else {
			c.scope.SetTimeout(0)
		}
		return
	}
	if p.At.(park.Host).Check() == nil {
		return // in a shield
	}
	dead := c.dead.Add(1)
	c.mu.Lock()
	at, known := c.at, c.later != ""
	c.mu.Unlock()
	if !known {
		if here := here(); here != at || dead > 2 { // who fails may look twice
			c.mu.Lock()
			c.later = here
			c.mu.Unlock()
		}
	}
	if dead > mostDead {
		c.endless.Store(true)
		runtime.Goexit()
	}
}

// strangers are the bubble's goroutines that were not there before the call.
func (e *explorer) strangers() (texts []string) {
	for _, g := range goroutines()[1:] {
		if g.bubble == e.bubble && !e.known[g.id] && !g.testing() {
			texts = append(texts, g.text)
		}
	}
	return texts
}

// remember has the goroutines that are left count as known.
func (e *explorer) remember() {
	for _, g := range goroutines() {
		e.known[g.id] = true
	}
}

// here is the caller's place.
func here() string {
	var pcs [64]uintptr
	callee, at := caller(pcs[:runtime.Callers(2, pcs[:])])
	return callee + " at " + at
}
