package bidetest

import (
	"context"
	"testing"
	"testing/synctest"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// Bubble runs f in a bubble, as synctest.Test does, with a scope to wait under: time is fake, on all real clocks, and
// moves when everybody is parked, by itself. When f and the cleanups that it has registered have returned, the test
// fails if a scope below is open still, or somebody waits; then ctx is closed, and with it the waits end.
//
// f may call [Virtual], for a clock that the test moves by hand.
func Bubble(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		f(t, root(t, "Bubble", nil))
	})
}

// Settle returns when every other goroutine of the bubble is parked: then what was started waits, and what was woken
// has done what it does. It is for one goroutine of the bubble at a time. Outside of a bubble nobody can tell, and it
// fails the test.
func Settle(t TB) {
	t.Helper()
	if !clock.InBubble() {
		t.Fatalf("bidetest: Settle outside of a synctest bubble, where nobody can tell who is parked: use Bubble")
		return
	}
	synctest.Wait()
}

// mostJumps bounds a JumpUntil: a minute of the test's time, and years of the clock's.
var mostJumps = 1 << 20

// JumpUntil moves c from one deadline to the next, each time when everybody is parked, until done reports true. It asks
// done before each jump, and nobody else runs then. A goroutine that computes, or waits for something outside of the
// bubble (a file, a connection, a sync.Mutex), is not parked: the clock stands still for it.
//
// The test fails if everybody is parked and nobody waits for c; a deadline that was [clock.Forever] is none. Only c
// moves: what waits on the bubble's own time goes on waiting. As [Settle], it is for one goroutine at a time, in a
// bubble.
func JumpUntil(t TB, c *clock.Virtual, done func() bool) {
	t.Helper()
	for range mostJumps {
		if !clock.InBubble() {
			t.Fatalf("bidetest: JumpUntil outside of a synctest bubble, where nobody can tell who is parked: use Bubble")
			return
		}
		synctest.Wait()
		if done() {
			return
		}
		if !c.Jump() {
			t.Fatalf("bidetest: JumpUntil: at %v everybody is parked, it is not done, and nobody waits for the clock", c.Now())
			return
		}
	}
	t.Fatalf("bidetest: JumpUntil: not done after %d jumps, at %v", mostJumps, c.Now())
}

// root opens the scope of a test, and has the test's end look at what is left below it.
func root(t TB, call string, on *clock.Virtual) context.Context {
	t.Helper()
	var opts []bide.Option
	if on != nil {
		opts = append(opts, bide.Clock(on))
	}
	w := use(t, false)
	s := bide.Open(context.Background(), opts...)
	if w == nil {
		return s
	}
	w.root(s)
	inside := clock.InBubble()
	t.Cleanup(func() {
		t.Helper()
		defer w.leave(false)
		if clock.InBubble() != inside {
			t.Errorf("bidetest: %s was called in a bubble with the t of outside", call)
			return
		}
		left := settled(func() []string { return append(w.below(s), pending(on)...) })
		if len(left) > 0 {
			t.Errorf("bidetest: at the end of the test something is left of what was begun under the context of %s:%s",
				call, list(left))
		}
		s.Close(nil)
	})
	return s
}
