package timer

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// state is the state of a node, and whether it is linked.
func (n *node) state() string {
	n.sh.mu.Lock()
	defer n.sh.mu.Unlock()
	switch {
	case n.gen%2 == 1:
		if n.armed || n.running != 0 || n.fn != nil || n.every != nil || n.idle != nil || n.e.n.At() != 0 {
			return "free, but not empty"
		}
		return "free"
	case n.armed && n.running > 0:
		return "armed, running"
	case n.running > 0:
		return "running"
	case n.armed && n.e.n.At() == 0:
		return "armed, popped"
	case n.armed:
		return "armed"
	}
	return "in use by nobody"
}

// transitions as node's comment numbers them.
var transitions = map[string]string{
	"free → armed":             "N1",
	"armed → armed":            "N2",
	"armed → free":             "N3",
	"armed, popped → free":     "N3",
	"armed → running":          "N4",
	"running → armed":          "N5",
	"running → armed, running": "N5",
	"armed, running → armed":   "N5",
	"running → free":           "N6",
}

// course follows one timer on a hand clock from state to state.
type course struct {
	t   *testing.T
	a   *handAlarm
	on  Option
	hit map[string]bool
	run chan struct{} // a call of the function ends for each that is sent
	end sync.WaitGroup
}

func newCourse(t *testing.T, hit map[string]bool) *course {
	h := new(hand)
	For(h)
	return &course{t: t, a: h.alarms[0], on: On(h), hit: hit, run: make(chan struct{})}
}

// f is the timer's function: it runs until the course lets it end.
func (c *course) f() {
	<-c.run
}

// finish lets one call end, and waits until the node knows.
func (c *course) finish(n *node) {
	n.sh.mu.Lock()
	before := n.running
	n.sh.mu.Unlock()
	c.run <- struct{}{}
	for running := before; running == before; {
		runtime.Gosched()
		n.sh.mu.Lock()
		running = n.running
		n.sh.mu.Unlock()
	}
}

// take does one thing, and wants the node to go from one state to another by it.
func (c *course) take(n *node, what, from, to string, do func()) {
	c.t.Helper()
	gen := n.gen
	if got := n.state(); got != from {
		c.t.Fatalf("before %s: %s, want %s", what, got, from)
	}
	do()
	if got := n.state(); got != to {
		c.t.Fatalf("after %s: %s, want %s", what, got, to)
	}
	if turned := (from == "free") != (to == "free"); turned && n.gen != gen+1 || !turned && n.gen != gen {
		c.t.Fatalf("%s from %s to %s: generation %d, then %d", what, from, to, gen, n.gen)
	}
	c.hit[transitions[from+" → "+to]] = true
}

// next is the node that the next timer will get.
func (c *course) next() *node {
	sh := &For(c.on.clock).shards[0]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.free) == 0 {
		sh.grow()
	}
	return sh.free[len(sh.free)-1]
}

// TestTransitions takes every numbered transition, in each of its ways, and fails if one was forgotten.
func TestTransitions(t *testing.T) {
	hit := map[string]bool{}
	t.Run("once", func(t *testing.T) { courseOnce(newCourse(t, hit)) })
	t.Run("reset", func(t *testing.T) { courseReset(newCourse(t, hit)) })
	t.Run("popped", func(t *testing.T) { coursePopped(newCourse(t, hit)) })
	t.Run("every", func(t *testing.T) { courseEvery(newCourse(t, hit)) })
	for i := 1; i <= 6; i++ {
		if n := fmt.Sprintf("N%d", i); !hit[n] {
			t.Errorf("transition %s was not taken", n)
		}
	}
}

func courseOnce(c *course) {
	var tm *Timer
	n := c.next()
	c.take(n, "AfterFunc", "free", "armed", func() { tm = AfterFunc(10, c.f, c.on) })
	if tm.n != n {
		c.t.Fatal("the timer took another node")
	}
	c.take(n, "Stop", "armed", "free", func() { mustBe(c.t, "Stop", true, tm.Stop()) })
	c.take(n, "Stop again", "free", "free", func() { mustBe(c.t, "Stop", false, tm.Stop()) })
	c.take(n, "Reset of a stopped one", "free", "armed", func() { mustBe(c.t, "Reset", false, tm.Reset(10)) })
	c.take(n, "StopWait", "armed", "free", func() { mustBe(c.t, "StopWait", true, tm.StopWait()) })
	tm.Reset(10)
	c.take(n, "expiry", "armed", "running", func() { c.a.drive(100) })
	c.take(n, "Stop while running", "running", "running", func() { mustBe(c.t, "Stop", false, tm.Stop()) })
	c.take(n, "the end of the call", "running", "free", func() { c.finish(n) })
	c.take(n, "Reset of a fired one", "free", "armed", func() { mustBe(c.t, "Reset", false, tm.Reset(10)) })
	tm.Stop()
}

func courseReset(c *course) {
	n := c.next()
	tm := AfterFunc(10, c.f, c.on)
	c.take(n, "Reset later", "armed", "armed", func() { mustBe(c.t, "Reset", true, tm.Reset(20)) })
	c.take(n, "a driver for nothing", "armed", "armed", func() { c.a.drive(10) })
	c.take(n, "Reset earlier", "armed", "armed", func() { mustBe(c.t, "ResetAt", true, tm.ResetAt(15)) })
	c.take(n, "Reset to Forever", "armed", "armed, popped", func() { mustBe(c.t, "ResetAt", true, tm.ResetAt(clock.Forever)) })
	c.take(n, "a driver that finds nothing", "armed, popped", "armed, popped", func() { c.a.drive(1000) })
	c.take(n, "Reset from Forever", "armed, popped", "armed", func() { mustBe(c.t, "Reset", true, tm.Reset(10)) })
	c.take(n, "expiry", "armed", "running", func() { c.a.drive(1010) })
	c.take(n, "Reset while running", "running", "armed, running", func() { mustBe(c.t, "Reset", false, tm.Reset(10)) })
	c.take(n, "Stop of what runs and is armed", "armed, running", "running", func() { mustBe(c.t, "Stop", true, tm.Stop()) })
	c.take(n, "Reset while running", "running", "armed, running", func() { mustBe(c.t, "Reset", false, tm.Reset(10)) })
	c.take(n, "the end of the call", "armed, running", "armed", func() { c.finish(n) })
	c.take(n, "expiry", "armed", "running", func() { c.a.drive(1020) })
	tm.Reset(10)
	c.take(n, "expiry while running", "armed, running", "running", func() { c.a.drive(1030) })
	if n.running != 2 {
		c.t.Fatalf("%d calls are running, want 2", n.running)
	}
	c.take(n, "the end of one call", "running", "running", func() { c.finish(n) })
	c.take(n, "the end of the other", "running", "free", func() { c.finish(n) })
}

// coursePopped: between the driver's look and its claim.
func coursePopped(c *course) {
	var second *Timer
	ran := 0
	do := func(what, from, to string, f func(n *node)) {
		c.t.Helper()
		ran = 0
		now := c.a.c.Now()
		AfterFunc(10, func() { c.take(second.n, what, from, to, func() { f(second.n) }) }, c.on, Inline())
		second = AfterFunc(10, func() { ran++ }, c.on, Inline())
		c.a.drive(now.Add(10))
	}
	do("Stop", "armed, popped", "free", func(*node) { mustBe(c.t, "Stop", true, second.Stop()) })
	if ran != 0 {
		c.t.Errorf("stopped before it was claimed: it ran")
	}
	do("StopWait", "armed, popped", "free", func(*node) { mustBe(c.t, "StopWait", true, second.StopWait()) })
	if ran != 0 {
		c.t.Errorf("stopped before it was claimed: it ran")
	}
	do("Reset", "armed, popped", "armed", func(*node) { mustBe(c.t, "Reset", true, second.Reset(10)) })
	if ran != 0 {
		c.t.Errorf("moved before it was claimed: it ran")
	}
	if c.a.drive(c.a.c.Now() + 10); ran != 1 {
		c.t.Errorf("moved before it was claimed: it ran %d times", ran)
	}
	do("Reset to now", "armed, popped", "armed", func(*node) { second.Reset(0) })
	if got := second.n.state(); got != "free" {
		c.t.Errorf("moved to now before it was claimed: it ran, and is %s", got)
	}
	if c.a.drive(c.a.c.Now() + 10); ran != 1 {
		c.t.Errorf("moved to now before it was claimed: it ran %d times", ran)
	}
}

func courseEvery(c *course) {
	n := c.next()
	tm := Every(10, func(clock.Instant, int) { c.f() }, c.on)
	c.take(n, "expiry", "armed", "running", func() { c.a.drive(10) })
	c.take(n, "the end of the call", "running", "armed", func() { c.finish(n) })
	c.take(n, "expiry", "armed", "running", func() { c.a.drive(20) })
	c.take(n, "Stop while running", "running", "running", func() { mustBe(c.t, "Stop", true, tm.Stop()) })
	c.take(n, "Stop again", "running", "running", func() { mustBe(c.t, "Stop", false, tm.Stop()) })
	c.take(n, "the end of the call", "running", "free", func() { c.finish(n) })
	c.take(n, "Reset", "free", "armed", func() { mustBe(c.t, "Reset", false, tm.Reset(10)) })
	c.take(n, "expiry", "armed", "running", func() { c.a.drive(30) })
	tm.Stop()
	c.take(n, "Reset of a stopped one that runs", "running", "armed, running", func() { mustBe(c.t, "Reset", false, tm.Reset(10)) })
	c.take(n, "the end of the call", "armed, running", "armed", func() { c.finish(n) })
	c.take(n, "expiry", "armed", "running", func() { c.a.drive(40) })
	c.take(n, "the end of the call", "running", "armed", func() { c.finish(n) })
	c.take(n, "Stop", "armed", "free", func() { mustBe(c.t, "Stop", true, tm.Stop()) })
}

func mustBe(t *testing.T, what string, want, got bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v", what, got)
	}
}

// TestStaleHandle: the handle of a timer that has fired or was stopped does not touch the timer that has its node now.
func TestStaleHandle(t *testing.T) {
	h := new(hand)
	For(h)
	a := h.alarms[0]
	for name, use := range map[string]func(old *Timer) bool{
		"Stop":     func(old *Timer) bool { return old.Stop() },
		"StopWait": func(old *Timer) bool { return !old.StopWait() },
		"Reset":    func(old *Timer) bool { defer old.Stop(); return old.Reset(time.Hour) },
	} {
		for _, fired := range []bool{true, false} {
			old := AfterFunc(10, func() {}, On(h), Inline())
			if fired {
				a.drive(h.Now() + 10)
			} else {
				old.Stop()
			}
			ran := 0
			reused := AfterFunc(10, func() { ran++ }, On(h), Inline())
			if reused.n != old.n {
				t.Fatalf("%s: the node was not reused", name)
			}
			if use(old) {
				t.Errorf("%s of a stale handle: it found something", name)
			}
			if old.n == reused.n && old.gen == reused.gen {
				t.Errorf("%s: two timers on one node", name)
			}
			if a.drive(h.Now() + 10); ran != 1 {
				t.Errorf("%s of a stale handle, fired %v: the node's new timer ran %d times", name, fired, ran)
			}
		}
	}
}

// TestReusedWhilePopped: a driver has a node in its buffer that is stopped and given to another timer meanwhile. It
// claims that one if it is due, and nothing otherwise.
func TestReusedWhilePopped(t *testing.T) {
	for _, d := range []time.Duration{0, 10} {
		h := new(hand)
		For(h)
		a := h.alarms[0]
		oldRan, newRan := 0, 0
		var old, reused *Timer
		AfterFunc(10, func() {
			old.Stop()
			reused = AfterFunc(d, func() { newRan++ }, On(h), Inline())
		}, On(h), Inline())
		old = AfterFunc(10, func() { oldRan++ }, On(h), Inline())
		a.drive(10)
		if reused.n != old.n {
			t.Fatal("the node was not reused")
		}
		if want := map[time.Duration]int{0: 1}[d]; newRan != want || oldRan != 0 {
			t.Errorf("in %v: the new timer ran %d times, want %d; the old one %d times", d, newRan, want, oldRan)
		}
		a.drive(20)
		a.drive(30)
		if newRan != 1 || oldRan != 0 {
			t.Errorf("in %v: the new timer ran %d times, the old one %d times", d, newRan, oldRan)
		}
	}
}

// TestChunks: nodes come from a few chunks that grow to a bound, and none is lost or made twice.
func TestChunks(t *testing.T) {
	h := new(hand)
	s := For(h)
	sh := &s.shards[0]
	for range 3 {
		timers := make([]*Timer, 15000)
		seen := map[*node]bool{}
		for i := range timers {
			timers[i] = AfterFunc(time.Duration(1+i%100), func() {}, On(h))
			if seen[timers[i].n] {
				t.Fatal("a node has two timers")
			}
			seen[timers[i].n] = true
		}
		for _, tm := range timers {
			tm.Stop()
		}
	}
	total := 0
	for i, chunk := range sh.chunks {
		total += len(chunk)
		want := []int{64, 256, 1024, 4096, 4096, 4096, 4096}
		if i >= len(want) || len(chunk) != want[i] {
			t.Errorf("chunk %d has %d nodes", i, len(chunk))
		}
	}
	if len(sh.free) != total || s.Stats().Pending != 0 {
		t.Errorf("%d of %d nodes are free, %d pending", len(sh.free), total, s.Stats().Pending)
	}
}
