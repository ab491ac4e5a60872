package rows

import (
	"context"
	"runtime"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
)

// P19: a child that package context makes below a scope that is there for long, directly and below a value; beside it
// the same below package context's own, and below a context that it does not know.
var p19 = pair.Row{
	Name: "P19", Title: "a standard child below a scope",
	Run:   runP19,
	Lines: linesP19(),
}

// goroutines are those that a child costs while it is open.
var goroutines = pair.Metric{Name: "goroutines", Of: "goroutines"}

func linesP19() []pair.Line {
	var lines []pair.Line
	for _, c := range []struct{ name, at string }{{"directly", ""}, {"below a value", "@value"}} {
		ours := "scope" + c.at
		lines = append(lines,
			pair.Line{Case: c.name, Ours: ours, Rival: "cancelCtx" + c.at, Of: pair.Ns, Target: pair.Within(1.3)},
			pair.Line{Case: c.name, Ours: ours, Of: pair.Allocs, Target: pair.AtMost(2)},
			pair.Line{Case: c.name, Ours: ours, Of: goroutines, Target: pair.AtMost(0)})
	}
	return append(lines,
		pair.Line{Case: "directly", Ours: "scope", Rival: unknown, Of: pair.Ns},
		pair.Line{Case: "directly", Ours: "scope", Rival: unknown, Of: goroutines})
}

const unknown = "another context"

func runP19(r *pair.Run) error {
	std, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	scope := bide.Open(context.Background(), bide.Timeout(time.Hour))
	defer scope.Close(nil)
	measure := func(name string, parent context.Context) {
		turns(r, []side{{name, func() { _ = child(parent) }}}, "")
		r.Record(name, pair.Figures{goroutines: opened(parent, r.Scale(1000))})
	}
	for r.Next() {
		measure("cancelCtx", std)
		measure("scope", scope)
		measure("cancelCtx@value", context.WithValue(std, key{}, 1))
		measure("scope@value", context.WithValue(scope, key{}, 1))
	}
	other := stranger{context.Background(), make(chan struct{})}
	for r.Next() { // last: the runtime keeps what so many goroutines have needed
		measure(unknown, other)
	}
	return nil
}

// A stranger is a context that can be canceled, but not one of package context's.
type stranger struct {
	context.Context
	done chan struct{}
}

func (s stranger) Done() <-chan struct{} { return s.done }

// opened is how many goroutines each of n open children costs.
func opened(ctx context.Context, n int) float64 {
	before := runtime.NumGoroutine()
	cancels := make([]context.CancelFunc, n)
	for i := range cancels {
		_, cancels[i] = context.WithCancel(ctx)
	}
	more := runtime.NumGoroutine() - before
	for _, cancel := range cancels {
		cancel()
	}
	return float64(more) / float64(n)
}
