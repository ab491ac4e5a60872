package syncs

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// marks remembers which numbered transitions a test has taken.
type marks map[string]bool

// take records names: one transition or several, or the text of one that has no number.
func (m marks) take(names string) {
	if strings.Contains(names, ":") {
		m[names] = true
		return
	}
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
}

// demand fails unless every transition that the comment in file lists was taken, and every one of extra.
func (m marks) demand(t *testing.T, file, letter string, extra ...string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?m)^//\t(`+letter+`\d+) `).FindAllStringSubmatch(string(src), -1)
	if len(listed) == 0 {
		t.Fatalf("%s lists no transition", file)
	}
	for _, l := range listed {
		if !m[l[1]] {
			t.Errorf("%s of %s was not taken", l[1], file)
		}
	}
	for _, x := range extra {
		if !m[x] {
			t.Errorf("%s was not taken", x)
		}
	}
	t.Log("taken: " + strings.Join(slices.Sorted(maps.Keys(m)), ", "))
}

// Queued reports whether somebody is in the queue, canceled or not.
func (e *Event) Queued() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.queue.Empty()
}

// Queued is the same for who waits for the future.
func (f *Future[T]) Queued() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.queue.Empty()
}

func TestEventTransitions(t *testing.T) {
	var e Event
	taken := marks{}
	step := func(name string, from, to bool, op func()) {
		t.Helper()
		before := e.set.Load()
		op()
		after := e.set.Load()
		if before != from || after != to {
			t.Fatalf("%s: from %v to %v, want from %v to %v", name, before, after, from, to)
		}
		if name != "" {
			taken.take(name)
		}
		if e.set.Load() && e.Queued() {
			t.Errorf("I1: %s: set, and somebody is in the queue", name)
		}
	}
	step("", false, false, e.Reset)
	step("E1", false, true, e.Set)
	step("", true, true, e.Set)
	step("E2", true, false, e.Reset)

	// With waiters, one of them canceled and not gone yet.
	ws := []*park.Waiter{park.New(nil), park.New(nil), park.New(nil)}
	toks := make([]park.Token, len(ws))
	for i, w := range ws {
		toks[i] = w.Arm(clock.Forever)
		if e.add(&w.Nodes(1)[0], w, toks[i], park.Woken) != park.Pending {
			t.Fatal("ready before it was set")
		}
	}
	ws[1].Withdraw(toks[1])
	step("E1", false, true, e.Set)
	for _, i := range []int{0, 2} {
		if o := ws[i].Withdraw(toks[i]); o != park.Woken {
			t.Errorf("waiter %d: %v", i, o)
		}
	}
	w := ws[0]
	tok := w.Arm(clock.Forever)
	if e.add(&w.Nodes(1)[0], w, tok, park.Woken) != park.Woken || e.Queued() {
		t.Error("queued although it was set")
	}
	w.Withdraw(tok)
	taken.demand(t, "event.go", "E")
}
