//go:build bidestep

package sim

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Explore runs the model under all schedules in which a goroutine that could go on has to let another go first at most
// once, then at most twice, and so on: most faults need one or two such interruptions. The last quarter of its time is
// for random schedules. The time is that of BIDE_EXPLORE, and without it a second. Explore prints how many schedules
// there were, and fails the test with the first that fails. It is not for parallel tests.
func Explore(t *testing.T, name string, model func(w *World)) {
	t.Helper()
	if s := os.Getenv("BIDE_SCHEDULE"); s != "" {
		replay(t, name, model, s)
		return
	}
	e := &explorer{t: t, model: model}
	d := budget(t)
	end := time.Now().Add(d)
	most, whole, complete := -1, 0, false // interruptions; schedules with that many; there are no more
	for !complete {
		before := e.n
		if !e.exhaust(most+1, end.Add(-d/4)) {
			break
		}
		most++
		complete = whole == e.n-before
		whole = e.n - before
	}
	random := e.n
	if e.failed.err == nil && !complete {
		e.random(end)
	}
	if r := e.failed; r.err != nil {
		n, was := e.n, len(r.choices)
		r = e.shorten(r)
		t.Fatalf("%s, schedule %d: %v\nBIDE_SCHEDULE=%s\n%s\n(%d choices, shortened from %d)",
			name, n, r.err, format(r), strings.Join(r.trace, " → "), len(r.choices), was)
	}
	if complete {
		t.Logf("sim %s: %d schedules, and there are no others", name, whole)
		return
	}
	t.Logf("sim %s: %d schedules; all %d with up to %d interruptions; %d random, BIDE_SEED=%d", name, e.n, whole, most, e.n-random, e.seed)
}

func budget(t *testing.T) time.Duration {
	s := os.Getenv("BIDE_EXPLORE")
	switch {
	case s == "" && testing.Short():
		return time.Second / 5
	case s == "":
		return time.Second
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("BIDE_EXPLORE=%q is not a duration: write 20s", s)
	}
	return d
}

type explorer struct {
	t      *testing.T
	model  func(w *World)
	n      int // schedules that were run
	seed   uint64
	failed run
}

// run plays one schedule, in a bubble of its own.
func (e *explorer) run(pick func(n int, c choice) int) (r run) {
	e.n++
	synctest.Test(e.t, func(*testing.T) { r = play(e.model, pick) })
	return r
}

// prefix picks what is given, and then 0.
func prefix(picks []int) func(n int, c choice) int {
	return func(n int, c choice) int {
		if n < len(picks) {
			return picks[n]
		}
		return 0
	}
}

// exhaust goes through the tree of choices, depth first, until one fails or the time is over. all: it came to the end.
func (e *explorer) exhaust(interruptions int, until time.Time) (all bool) {
	for picks := []int(nil); ; {
		r := e.run(prefix(picks))
		if r.err != nil {
			e.failed = r
			return false
		}
		if picks = next(r.choices, interruptions); picks == nil {
			return true
		}
		if time.Now().After(until) {
			return false
		}
	}
}

// next is the schedule behind this one, or nil if it was the last.
func next(choices []choice, interruptions int) []int {
	spent := make([]int, len(choices)) // interruptions before each choice
	for i := 1; i < len(choices); i++ {
		spent[i] = spent[i-1]
		if c := choices[i-1]; c.current && c.pick != 0 {
			spent[i]++
		}
	}
	for i := len(choices) - 1; i >= 0; i-- {
		c := choices[i]
		if c.pick+1 == c.options || c.current && spent[i] >= interruptions {
			continue
		}
		picks := make([]int, i+1)
		for j := range i {
			picks[j] = choices[j].pick
		}
		picks[i] = c.pick + 1
		return picks
	}
	return nil
}

// random interrupts as often as it likes.
func (e *explorer) random(until time.Time) {
	e.seed = rand.Uint64()
	if s := os.Getenv("BIDE_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			e.t.Fatalf("BIDE_SEED=%q is not a number", s)
		}
		e.seed = n
	}
	rng := rand.New(rand.NewPCG(e.seed, 0))
	for e.failed.err == nil && time.Now().Before(until) {
		patience := 1 + rng.IntN(8)
		e.failed = e.run(func(_ int, c choice) int {
			if c.current && rng.IntN(patience) > 0 {
				return 0
			}
			return rng.IntN(c.options)
		})
	}
}

// shorten drops what the failure does not need: choices at the end, and interruptions.
func (e *explorer) shorten(r run) run {
	picks := func(r run) (p []int) {
		for _, c := range r.choices {
			p = append(p, c.pick)
		}
		return p
	}
	for again := true; again; {
		again = false
		p := picks(r)
		for i := len(p) - 1; i >= 0; i-- {
			if p[i] == 0 {
				continue
			}
			was := p[i]
			p[i] = 0
			if shorter := e.run(prefix(p)); shorter.err != nil && shorter.err != errDiverged {
				r, again = shorter, true
				break
			}
			p[i] = was
		}
	}
	return r
}

// format writes a schedule; zeros at the end go without saying.
func format(r run) string {
	last := 0
	for i, c := range r.choices {
		if c.pick != 0 {
			last = i + 1
		}
	}
	words := make([]string, max(last, 1))
	words[0] = "0"
	for i := range last {
		words[i] = strconv.Itoa(r.choices[i].pick)
	}
	return strings.Join(words, ",")
}

func replay(t *testing.T, name string, model func(w *World), schedule string) {
	t.Helper()
	var picks []int
	for _, word := range strings.Split(schedule, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			t.Fatalf("BIDE_SCHEDULE=%q is not a schedule: write 0,0,1", schedule)
		}
		picks = append(picks, n)
	}
	e := &explorer{t: t, model: model}
	r := e.run(prefix(picks))
	t.Logf("%s: %s", name, strings.Join(r.trace, " → "))
	if r.err != nil {
		t.Fatal(r.err)
	}
}
