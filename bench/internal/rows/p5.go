package rows

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
)

// P5: an observed scope is asked whether it is canceled, as a context and by Check: at any depth, and below a context
// that is not a scope and has to be asked as well.
var p5 = pair.Row{
	Name: "P5", Title: "Err of an observed scope", Quick: true,
	Run: runP5,
	Lines: []pair.Line{
		{Case: "depth 1", Ours: "Err@1", Rival: "ctx.Err", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "depth 1000", Ours: "Err@1000", Rival: "ctx.Err", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "below a standard context", Ours: "Err@std", Rival: "ctx.Err", Of: pair.Ns, Target: pair.Within(3)},
		{Case: "Check, depth 1", Ours: "Check@1", Rival: "ctx.Err", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "Check, depth 1000", Ours: "Check@1000", Rival: "ctx.Err", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "Check, below a standard context", Ours: "Check@std", Rival: "ctx.Err", Of: pair.Ns, Target: pair.Within(3)},
		{Case: "depth 1000", Ours: "Err@1000", Of: pair.Bytes, Target: pair.AtMost(0)},
	},
}

func runP5(r *pair.Run) error {
	std, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	first := bide.Open(context.Background(), bide.Timeout(time.Hour))
	defer first.Close(nil)
	last := first
	for range 999 {
		last = bide.Open(last)
		defer last.Close(nil)
	}
	last.Done() // observes all of them
	below := bide.Open(std)
	defer below.Close(nil)
	below.Done()
	for r.Next() {
		r.Op("ctx.Err", errs(std))
		for at, s := range map[string]*bide.Scope{"@1": first, "@1000": last, "@std": below} {
			r.Op("Err"+at, errs(s))
			r.Op("Check"+at, func(n int) {
				for range n {
					_ = s.Check()
				}
			})
		}
	}
	return nil
}

// errs asks through the interface, as a function does that was given a context.
func errs(ctx context.Context) func(n int) {
	return func(n int) {
		for range n {
			_ = ctx.Err()
		}
	}
}
