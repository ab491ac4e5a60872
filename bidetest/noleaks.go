package bidetest

import (
	"fmt"
	"runtime"
	"strings"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// NoLeaks makes the test fail at its end, when the cleanups that were registered later have returned, if something is
// left that was not there when NoLeaks was called:
//
//   - scopes that are open, with the line that opened them and what is waited for under them;
//   - goroutines that are in this module: children of nurseries, what [bide.Blocking] has left behind, waits. In a
//     bubble, all of the bubble's;
//   - timers and deadlines of the monotonic clock, and of the clocks given. In a bubble, of those given only: what is
//     on the bubble's own time ends with it. (A Virtual's are looked at anyway.) They are counted only: where one
//     that was pending before has come or was stopped meanwhile, one that is left is not noticed.
//
// In a bubble it sees that bubble only, and is exact: what is parked at the end stays. Outside it sees the process, so
// it is not for tests that run in parallel, and goroutines on their last steps get two seconds.
//
// While it watches, to open a scope costs a microsecond more, and some tens of them in a bubble.
func NoLeaks(t TB, clocks ...clock.Clock) {
	t.Helper()
	inside := clock.InBubble()
	w := use(t, inside)
	if w == nil {
		return
	}
	l := leaks{w: w, opened: w.count(), known: map[string]bool{}}
	if inside {
		l.bubble = thisBubble()
	} else {
		l.services = append(l.services, timer.Default(), timer.Precise())
	}
	for _, c := range clocks {
		l.services = append(l.services, timer.For(c))
	}
	for _, s := range l.services {
		l.pending = append(l.pending, s.Stats().Pending)
	}
	for _, g := range goroutines() {
		l.known[g.id] = true
	}
	t.Cleanup(func() {
		t.Helper()
		defer w.leave(inside)
		if clock.InBubble() != inside {
			t.Errorf("bidetest: NoLeaks was called in a bubble with the t of outside")
			return
		}
		if left := settled(l.left); len(left) > 0 {
			t.Errorf("bidetest: left at the end of the test:%s", list(left))
		}
	})
}

// leaks compares the end of a test with its beginning.
type leaks struct {
	w        *watch
	bubble   string
	opened   int
	services []*timer.Service
	pending  []int
	known    map[string]bool // goroutines
}

func (l *leaks) left() []string {
	left := l.w.since(l.opened, l.bubble)
	for i, s := range l.services {
		if n := s.Stats().Pending; n > l.pending[i] {
			left = append(left, fmt.Sprintf("%d pending on the %v clock, deadlines and timers; before: %d",
				n, s.Clock(), l.pending[i]))
		}
	}
	for _, g := range goroutines()[1:] { // not the caller
		if !l.known[g.id] && g.bubble == l.bubble && !g.testing() && (l.bubble != "" || g.ours()) {
			left = append(left, g.text)
		}
	}
	return left
}

// patience is how long those who are on their last steps get where nobody can tell.
var patience = 2 * time.Second

// settled asks left when everything that is about to end has ended.
func settled(left func() []string) []string {
	if clock.InBubble() {
		synctest.Wait()
		return left()
	}
	for range 10 {
		runtime.Gosched() // somebody may be about to begin
	}
	waited, last := time.Duration(0), time.Now()
	for i := 0; ; i++ {
		found := left()
		if len(found) == 0 || waited > patience {
			return found
		}
		// Where the process has stood still, they have not had the time: it counts as a moment.
		now := time.Now()
		waited, last = waited+min(now.Sub(last), 10*time.Millisecond), now
		if i < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Millisecond)
		}
	}
}

// list makes an indented list, of twenty at most.
func list(items []string) string {
	const most = 20
	var b strings.Builder
	for i, item := range items {
		if i == most {
			fmt.Fprintf(&b, "\n\tand %d more", len(items)-most)
			break
		}
		b.WriteString("\n\t" + strings.ReplaceAll(item, "\n", "\n\t"))
	}
	return b.String()
}
