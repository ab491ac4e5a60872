//go:build bidestep

package sim

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Interruptions is how many times, in the exhaustive part, a goroutine that could go on has to let another go first.
// Most faults need one or two.
const Interruptions = 2

// Explore runs the model under all schedules with up to Interruptions, and then under random ones, as long as its time
// lasts: BIDE_EXPLORE (a duration), a second without it. It prints how many there were, and fails the test with the
// first that fails. It is not for parallel tests.
func Explore(t *testing.T, name string, model func(w *World)) {
	t.Helper()
	if s := os.Getenv("BIDE_SCHEDULE"); s != "" {
		replay(t, name, model, s)
		return
	}
	e := &explorer{t: t, model: model, until: time.Now().Add(budget(t))}
	all, r := e.exhaust()
	exhaustive := e.n
	if all && r.err == nil {
		r = e.random()
	}
	if r.err != nil {
		was := len(r.choices)
		r = e.shorten(r)
		t.Fatalf("%s, schedule %d: %v\nBIDE_SCHEDULE=%s\n%s\n(%d choices, shortened from %d)",
			name, e.n, r.err, format(r), strings.Join(r.trace, " → "), len(r.choices), was)
	}
	how := fmt.Sprintf("all %d with up to %d interruptions", exhaustive, Interruptions)
	if !all {
		how = fmt.Sprintf("the first %d of those with up to %d interruptions: out of time", exhaustive, Interruptions)
	}
	t.Logf("sim %s: %d schedules: %s, %d random, seed %d", name, e.n, how, e.n-exhaustive, e.seed)
}

func budget(t *testing.T) time.Duration {
	s := os.Getenv("BIDE_EXPLORE")
	if s == "" {
		return time.Second
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("BIDE_EXPLORE=%q is not a duration: write 20s", s)
	}
	return d
}

type explorer struct {
	t     *testing.T
	model func(w *World)
	until time.Time
	n     int
	seed  uint64
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

// exhaust goes through the tree of choices, depth first. all: it came to the end.
func (e *explorer) exhaust() (all bool, r run) {
	var picks []int
	for {
		r = e.run(prefix(picks))
		if r.err != nil {
			return true, r
		}
		if picks = next(r.choices); picks == nil {
			return true, r
		}
		if time.Now().After(e.until) {
			return false, r
		}
	}
}

// next is the schedule behind this one, or nil if it was the last.
func next(choices []choice) []int {
	spent := 0 // interruptions before the choice
	before := make([]int, len(choices))
	for i, c := range choices {
		before[i] = spent
		if c.current && c.pick != 0 {
			spent++
		}
	}
	for i := len(choices) - 1; i >= 0; i-- {
		c := choices[i]
		if c.pick+1 == c.options || c.current && before[i] == Interruptions {
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
func (e *explorer) random() (r run) {
	e.seed = rand.Uint64()
	if s := os.Getenv("BIDE_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			e.t.Fatalf("BIDE_SEED=%q is not a number", s)
		}
		e.seed = n
	}
	rng := rand.New(rand.NewPCG(e.seed, 0))
	for r.err == nil && time.Now().Before(e.until) {
		patience := 1 + rng.IntN(8)
		r = e.run(func(_ int, c choice) int {
			if c.current && rng.IntN(patience) > 0 {
				return 0
			}
			return rng.IntN(c.options)
		})
	}
	return r
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
