package rows

import (
	"context"
	"runtime"
	"time"

	"github.com/failsafe-go/failsafe-go"
	failsafetimeout "github.com/failsafe-go/failsafe-go/timeout"
	"golang.org/x/sync/errgroup"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
)

// P3: a bound around a function is entered, and left in time. With two processors the collector works beside it. What
// else there is to enter is shown. Of three nested bounds each is tighter than the one above; where it is not, package
// context spares the timer, and that case is only shown.
var p3 = pair.Row{
	Name: "P3", Title: "enter and leave a bound", Quick: true,
	Run: runP3,
	Lines: []pair.Line{
		{Case: "nobody looks", Ours: "FailAfter", Rival: stdContext, Of: pair.Ns, Target: pair.AtLeast(4)},
		{Case: "nobody looks", Ours: "FailAfter", Rival: "failsafe", Of: pair.Ns},
		{Case: "nobody looks, two processors", Ours: "FailAfter@2", Rival: stdContext + "@2", Of: pair.Ns, Target: pair.AtLeast(2)},
		{Case: "nobody looks", Ours: "FailAfter", Of: pair.Allocs, Target: pair.AtMost(1)},
		{Case: "nobody looks", Ours: "FailAfter", Of: pair.Bytes, Target: pair.AtMost(144)},
		{Case: "looked at once", Ours: "FailAfter@looked", Rival: stdContext + "@looked", Of: pair.Ns, Target: pair.AtLeast(3)},
		{Case: "looked at once", Ours: "FailAfter@looked", Rival: "failsafe@looked", Of: pair.Ns},
		{Case: "looked at once", Ours: "FailAfter@looked", Of: pair.Allocs, Target: pair.AtMost(1)},
		{Case: "nested three, looked at", Ours: "FailAfter@nested", Rival: stdContext + "@nested", Of: pair.Ns, Target: pair.AtLeast(5)},
		{Case: "nested three, the outer one the tightest", Ours: "FailAfter@loose", Rival: stdContext + "@loose", Of: pair.Ns},
		{Case: "nested three, looked at", Ours: "FailAfter@nested", Of: pair.Allocs, Target: pair.AtMost(3)},
		{Case: "below a standard context, looked at", Ours: "FailAfter@std", Rival: stdContext + "@std", Of: pair.Ns, Target: pair.AtLeast(3.5)},
		{Case: "below a standard context, looked at", Ours: "FailAfter@std", Of: pair.Allocs, Target: pair.AtMost(1)},
		{Case: "a scope without a bound", Ours: "Open+Close", Rival: "WithCancel+cancel", Of: pair.Ns},
		{Case: "a shield", Ours: "Shield", Rival: "WithoutCancel+WithTimeout", Of: pair.Ns},
		{Case: "a shield", Ours: "Shield", Rival: "WithoutCancel+WithTimeout", Of: pair.Bytes},
		{Case: "an empty nursery", Ours: "WithNursery", Rival: "errgroup", Of: pair.Ns},
		{Case: "an empty nursery", Ours: "WithNursery", Rival: "errgroup", Of: pair.Bytes},
	},
}

func runP3(r *pair.Run) error {
	bg := context.Background()
	std, stop := context.WithCancel(bg)
	defer stop()
	scope := bide.Open(bg, bide.Timeout(time.Hour))
	defer scope.Close(nil)
	scope.Done()
	first := []side{
		{"FailAfter", func() { _ = bide.FailAfter(bg, time.Hour, idle) }},
		{stdContext, func() { _ = bounded(bg, idle) }},
	}
	judged := append(first,
		side{"FailAfter@looked", func() { _ = bide.FailAfter(bg, time.Hour, look) }},
		side{stdContext + "@looked", func() { _ = bounded(bg, look) }},
		side{"FailAfter@nested", func() { _ = bide.FailAfter(bg, 3*time.Hour, two) }},
		side{stdContext + "@nested", func() { _ = boundedBy(bg, 3*time.Hour, stdTwo) }},
		side{"FailAfter@std", func() { _ = bide.FailAfter(std, time.Hour, look) }},
		side{stdContext + "@std", func() { _ = bounded(std, look) }})
	executor := failsafe.With(failsafetimeout.New[any](time.Hour))
	shown := []side{
		{"FailAfter@loose", func() { _ = bide.FailAfter(bg, time.Hour, two) }},
		{stdContext + "@loose", func() { _ = bounded(bg, stdTwo) }},
		{"failsafe", func() { _ = executor.Run(func() error { return nil }) }},
		{"failsafe@looked", func() {
			_ = executor.RunWithExecution(func(e failsafe.Execution[any]) error { return e.Context().Err() })
		}},
		{"Open+Close", func() { bide.Open(bg).Close(nil) }},
		{"WithCancel+cancel", func() { _, cancel := context.WithCancel(bg); cancel() }},
		{"Shield", func() { _ = bide.Shield(scope, time.Hour, idle) }},
		{"WithoutCancel+WithTimeout", func() { _ = bounded(context.WithoutCancel(std), idle) }},
		{"WithNursery", func() { _ = bide.WithNursery(bg, func(context.Context, *bide.Nursery) error { return nil }) }},
		{"errgroup", func() { g, _ := errgroup.WithContext(bg); _ = g.Wait() }},
	}
	for r.Next() {
		turns(r, judged, "")
		if !r.Quick() {
			turns(r, shown, "")
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for r.Next() {
		turns(r, first, "@2")
	}
	return nil
}

func two(ctx context.Context) error {
	return bide.FailAfter(ctx, 2*time.Hour, func(ctx context.Context) error { return bide.FailAfter(ctx, time.Hour, look) })
}

func stdTwo(ctx context.Context) error {
	return boundedBy(ctx, 2*time.Hour, func(ctx context.Context) error { return bounded(ctx, look) })
}
