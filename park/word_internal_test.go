package park

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bide.invalid/bide/clock"
)

// marks remembers which of a word's numbered transitions a test has taken.
type marks map[string]bool

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
		if !regexp.MustCompile(`(?m)[^/\s].*// ` + l[1] + `\b`).Match(src) {
			t.Errorf("no line of %s is marked as %s", file, l[1])
		}
	}
	for _, x := range extra {
		if !m[x] {
			t.Errorf("%s was not taken", x)
		}
	}
	t.Log("taken: " + strings.Join(slices.Sorted(maps.Keys(m)), ", "))
}

type state struct {
	armed   bool
	outcome Outcome
	gen     uint64
}

func stateOf(w *word) state {
	v := w.v.Load()
	return state{v&armedBit != 0, w.outcome(), v >> genShift}
}

// allOutcomes are those that a wait can end with.
func allOutcomes() (all []Outcome) {
	for o := Pending + 1; o <= MaxOutcome; o++ {
		all = append(all, o)
	}
	return all
}

// enders ends the wait of an armed waiter, each by another party, and says with which outcome. Those that owe an
// Unpark have delivered it.
var enders = []struct {
	who string
	end func(w *Waiter, tok Token) (Outcome, error)
}{
	{"waker", func(w *Waiter, tok Token) (Outcome, error) {
		if !w.Wake(tok, Woken) {
			return 0, fmt.Errorf("Wake lost")
		}
		return Woken, nil
	}},
	{"driver", func(w *Waiter, tok Token) (Outcome, error) {
		again, fired := (*owner)(w).Due(5)
		if !fired || again != clock.Forever {
			return 0, fmt.Errorf("Due = %v, %v", again, fired)
		}
		(*owner)(w).Fire(5)
		return Expired, nil
	}},
	{"host", func(w *Waiter, tok Token) (Outcome, error) {
		var l Waiters
		l.Add(w, KindLock)
		buf := make([]*Waiter, 1)
		if n := l.Cancel(buf); n != 1 || buf[0] != w {
			return 0, fmt.Errorf("Cancel resolved %d", n)
		}
		w.Unpark()
		return Canceled, nil
	}},
}

func TestTransitions(t *testing.T) {
	taken := marks{}
	// step runs one operation and records name if the word went as it says.
	step := func(name, who string, w *word, want func(before, after state) bool, op func()) {
		t.Helper()
		before := stateOf(w)
		op()
		after := stateOf(w)
		if !want(before, after) {
			t.Errorf("%s by %s: %+v became %+v", name, who, before, after)
			return
		}
		taken[name], taken[name+" "+who] = true, true
	}
	arms := func(before, after state) bool {
		return !before.armed && after == state{true, Pending, before.gen + 1}
	}
	ends := func(o Outcome) func(before, after state) bool {
		return func(before, after state) bool {
			return before.armed && before.outcome == Pending && after == state{false, o, before.gen}
		}
	}

	for _, e := range enders {
		w := New(nil)
		w.due.Store(5)
		var tok Token
		step("T1", "idle", &w.word, arms, func() { tok = w.word.arm() })
		var o Outcome
		step("T2", e.who, &w.word, func(b, a state) bool { return ends(o)(b, a) }, func() {
			var err error
			if o, err = e.end(w, tok); err != nil {
				t.Errorf("%s: %v", e.who, err)
			}
		})
		if got := w.Wait(context.Background(), tok, KindOther); got != o {
			t.Errorf("%s: Wait = %v, want %v", e.who, got, o)
		}
		step("T1", "resolved", &w.word, arms, func() { tok = w.word.arm() })
		if e.who == "driver" {
			w.due.Store(int64(clock.Forever))
		}
		step("T2", "owner", &w.word, ends(Self), func() { w.Withdraw(tok) })
		if len(w.ch) != 0 {
			t.Errorf("%s: a wake-up is left", e.who)
		}
	}

	// The owner also ends its wait under a context that it has to watch.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := New(nil)
	tok := w.word.arm()
	step("T2", "owner, for its context", &w.word, ends(Canceled), func() { w.Wait(ctx, tok, KindOther) })

	// Every outcome, from every outcome.
	for _, o := range allOutcomes() {
		step("T1", "resolved", &w.word, arms, func() { tok = w.word.arm() })
		step("T2", "waker", &w.word, ends(o), func() {
			if !w.Resolve(tok, o) {
				t.Errorf("Resolve with %v lost", o)
			}
		})
	}

	// Goroutines that share a waiter claim it, and free it.
	w = New(nil)
	claim := func() {
		var ok bool
		if tok, ok = w.word.claim(); !ok {
			t.Error("claim of what is free failed")
		}
	}
	step("T3", "idle", &w.word, arms, claim)
	w.Withdraw(tok)
	step("T3", "withdrawn", &w.word, arms, claim)
	for _, o := range allOutcomes() {
		w.Resolve(tok, o)
		step("T4", "resolved", &w.word, func(before, after state) bool {
			return !before.armed && before.outcome == o && after == state{false, Self, before.gen}
		}, w.word.free)
		step("T3", "freed", &w.word, arms, claim)
	}
	taken.demand(t, "word.go", "T", "T1 idle", "T1 resolved", "T2 waker", "T2 driver", "T2 host", "T2 owner",
		"T2 owner, for its context", "T3 idle", "T3 withdrawn", "T3 freed")
}

// What is no transition leaves the word alone.
func TestNoTransition(t *testing.T) {
	var idle word
	if idle.resolve(Token{}, Woken) {
		t.Error("the zero Token won on a word that was never armed")
	}
	var w word
	first := w.arm()
	if _, armed := w.current(); !armed {
		t.Fatal("not armed")
	}
	before := w.v.Load()
	if w.resolve(Token{}, Woken) {
		t.Error("the zero Token won")
	}
	if _, ok := w.claim(); ok {
		t.Error("claimed while armed")
	}
	if got := w.v.Load(); got != before {
		t.Errorf("a failed resolve changed the word: %#x became %#x", before, got)
	}
	for _, o := range allOutcomes() {
		tok := w.arm()
		if w.resolve(first, Woken) {
			t.Fatal("I2: a stale token won an armed word")
		}
		if !w.resolve(tok, o) {
			t.Fatal("the token lost")
		}
		before = w.v.Load()
		if _, ok := w.claim(); ok != (o == Self) {
			t.Errorf("claim of a word resolved with %v: %v", o, ok)
		}
		w.v.Store(before)
		for _, again := range []Outcome{Woken, o, Self} {
			if w.resolve(tok, again) || w.resolve(first, again) {
				t.Fatal("I1: a generation was resolved twice")
			}
		}
		if got := w.v.Load(); got != before {
			t.Errorf("a failed resolve changed the word: %#x became %#x", before, got)
		}
		if _, armed := w.current(); armed || w.outcome() != o {
			t.Errorf("outcome %v, want %v", w.outcome(), o)
		}
	}
}

func TestGeneration(t *testing.T) {
	const last = 1<<(64-genShift) - 1
	for _, gen := range []uint64{0, 1, 1<<24 - 1, 1<<32 - 1, 1<<32 + 7, last - 1, last} {
		var w word
		w.v.Store(gen<<genShift | uint64(MaxOutcome)<<outcomeShift)
		tok := w.arm()
		want := (gen + 1) & last
		if got := stateOf(&w); got != (state{true, Pending, want}) {
			t.Errorf("armed after generation %d: %+v", gen, got)
		}
		if !w.resolve(tok, MaxOutcome) {
			t.Error("the token lost")
		}
		if got := stateOf(&w); got != (state{false, MaxOutcome, want}) {
			t.Errorf("resolved after generation %d: %+v", gen, got)
		}
	}
}

// The driver's look, for every state of the word and deadline before, at and after now.
func TestDue(t *testing.T) {
	const now = clock.Instant(100)
	for _, c := range []struct {
		name  string
		armed bool
		due   clock.Instant
		again clock.Instant
		fired bool
	}{
		{"idle, past", false, 99, clock.Forever, false},
		{"idle, none", false, clock.Forever, clock.Forever, false},
		{"armed, past", true, 99, clock.Forever, true},
		{"armed, now", true, 100, clock.Forever, true},
		{"armed, moved later", true, 101, 101, false},
		{"armed, no deadline any more", true, clock.Forever, clock.Forever, false},
		{"armed, negative", true, -1, clock.Forever, true},
	} {
		w := New(nil)
		w.due.Store(int64(c.due))
		if c.armed {
			w.word.arm()
		}
		again, fired := (*owner)(w).Due(now)
		if again != c.again || fired != c.fired {
			t.Errorf("%s: Due = %v, %v, want %v, %v", c.name, again, fired, c.again, c.fired)
		}
		if o := w.word.outcome(); fired != (o == Expired) {
			t.Errorf("%s: fired %v, outcome %v", c.name, fired, o)
		}
	}
}

func TestNames(t *testing.T) {
	outcomes := map[Outcome]string{
		Pending: "pending", Woken: "woken", Expired: "expired", Canceled: "canceled", Closed: "closed", Self: "self",
		User: "user+0", User + 1: "user+1", MaxOutcome: "user+121", 255: "user+249",
	}
	for o, want := range outcomes {
		if got := o.String(); got != want {
			t.Errorf("outcome %d is %q, want %q", o, got, want)
		}
	}
	kinds := map[Kind]string{
		KindOther: "other", KindSleep: "sleep", KindLock: "lock", KindEvent: "event", KindFuture: "future",
		KindAny: "any", KindNursery: "nursery", KindUser: "kind+64", 255: "kind+255",
	}
	for k, want := range kinds {
		if got := k.String(); got != want {
			t.Errorf("kind %d is %q, want %q", k, got, want)
		}
	}
}
