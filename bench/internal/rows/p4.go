package rows

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
)

// P4: the same bound, where what is in it needs package context: its Done, or a child of it.
var p4 = pair.Row{
	Name: "P4", Title: "a bound whose Done is used",
	Run: runP4,
	Lines: []pair.Line{
		{Case: "Done", Ours: "FailAfter@Done", Rival: stdContext + "@Done", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "a standard child", Ours: "FailAfter@child", Rival: stdContext + "@child", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "a standard child below a value", Ours: "FailAfter@value", Rival: stdContext + "@value", Of: pair.Ns, Target: pair.Within(1.1)},
		{Case: "Done", Ours: "FailAfter@Done", Rival: stdContext + "@Done", Of: pair.Allocs},
		{Case: "Done", Ours: "FailAfter@Done", Rival: stdContext + "@Done", Of: pair.Bytes},
	},
}

func runP4(r *pair.Run) error {
	bg := context.Background()
	sides := []side{
		{"FailAfter@Done", func() { _ = bide.FailAfter(bg, time.Hour, done) }},
		{stdContext + "@Done", func() { _ = bounded(bg, done) }},
		{"FailAfter@child", func() { _ = bide.FailAfter(bg, time.Hour, child) }},
		{stdContext + "@child", func() { _ = bounded(bg, child) }},
		{"FailAfter@value", func() { _ = bide.FailAfter(bg, time.Hour, childBelowValue) }},
		{stdContext + "@value", func() { _ = bounded(bg, childBelowValue) }},
	}
	for r.Next() {
		turns(r, sides, "")
	}
	return nil
}
