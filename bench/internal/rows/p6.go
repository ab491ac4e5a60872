package rows

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// P6: one scope is canceled, and ten thousand children that wait under it leave. Today each has a context of its own, for
// its bound; here a wait can have a deadline without one, or each has a scope as well. What counts is the processor's
// time, from the call of cancel until the last one has left; what the call itself needs of that is shown, and waits
// that have no bound of their own.
var p6 = pair.Row{
	Name: "P6", Title: "cancel ten thousand waits",
	Run: runP6,
	Lines: []pair.Line{
		{Case: "a deadline each", Ours: "Waiter", Rival: contexts, Of: pair.CPU, Target: pair.AtLeast(2)},
		{Case: "a deadline each", Ours: "Waiter", Rival: contexts, Of: inCancel},
		{Case: "a deadline each", Ours: "Waiter", Of: pair.Allocs, Target: pair.AtMost(0)},
		{Case: "a scope each", Ours: "FailAfter+Event", Rival: contexts, Of: pair.CPU, Target: pair.AtLeast(2)},
		{Case: "a scope each", Ours: "FailAfter+Event", Rival: contexts, Of: inCancel},
		{Case: "a scope each", Ours: "FailAfter+Event", Of: pair.Allocs, Target: pair.AtMost(0)},
		{Case: "one bound for all", Ours: "Event", Rival: "select+ctx.Done", Of: pair.CPU},
		{Case: "one bound for all", Ours: "Event", Rival: "ctx.Done", Of: pair.CPU},
		{Case: "one bound for all", Ours: "Event", Rival: "select+ctx.Done", Of: inCancel},
		{Case: "one bound for all", Ours: "Event", Of: pair.Allocs, Target: pair.AtMost(0)},
	},
}

const contexts = "WithTimeout+select"

// inCancel is the processor's time until cancel returns, for each child.
var inCancel = pair.Metric{Name: "cancel-cpu-ns", Unit: pair.Time, Of: "CPU in cancel"}

func runP6(r *pair.Run) error {
	crew := newCrew(r.Scale(10_000))
	defer crew.leave()
	var event syncs.Event // never set
	ch := make(chan struct{})
	due := clock.After(time.Hour)
	selects := func(ctx context.Context) error {
		select {
		case <-ch:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	all := []waiting{
		{"Waiter", openScope, func(ctx context.Context) error {
			w := park.GetUntil(due)
			o := w.Wait(ctx, w.Arm(due), park.KindOther)
			park.Put(w)
			if o != park.Canceled {
				return nil
			}
			return park.Reason(ctx)
		}},
		{contexts, context.WithCancel, func(ctx context.Context) error { return bounded(ctx, selects) }},
		{"FailAfter+Event", openScope, func(ctx context.Context) error { return bide.FailAfter(ctx, time.Hour, event.Wait) }},
		{"select+ctx.Done", context.WithCancel, selects},
		{"Event", openScope, event.Wait},
		{"ctx.Done", context.WithCancel, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
	}
	for r.Next() {
		for _, w := range all {
			f, err := w.canceled(crew)
			if err != nil {
				return fmt.Errorf("%s: %w", w.side, err)
			}
			r.Record(w.side, f)
		}
	}
	return nil
}

// openScope is context.WithCancel with a scope. As it is there, cancel is all that ends it.
func openScope(ctx context.Context) (context.Context, context.CancelFunc) {
	s := bide.Open(ctx)
	return s, func() { s.Cancel(nil) }
}

// waiting is one way to wait under what open opens.
type waiting struct {
	side string
	open func(context.Context) (context.Context, context.CancelFunc)
	wait func(context.Context) error
}

// canceled has the whole crew wait, and cancels that.
func (w waiting) canceled(c *crew) (pair.Figures, error) {
	ctx, cancel := w.open(context.Background())
	var here, left sync.WaitGroup
	var live atomic.Int64 // those whose wait ended in another way
	here.Add(c.size)
	left.Add(c.size)
	for range c.size {
		c.work <- func() {
			here.Done()
			if w.wait(ctx) == nil {
				live.Add(1)
			}
			left.Done()
		}
	}
	here.Wait()
	pair.Settle() // the last of them parks
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, err := pair.CPUTime()
	cancel()
	returned, _ := pair.CPUTime()
	left.Wait()
	end, _ := pair.CPUTime()
	runtime.ReadMemStats(&after)
	each := func(v float64) float64 { return v / float64(c.size) }
	f := pair.Figures{pair.Allocs: each(float64(after.Mallocs - before.Mallocs))}
	if err == nil {
		f[inCancel], f[pair.CPU] = each(float64(returned-start)), each(float64(end-start))
	}
	if n := live.Load(); n > 0 {
		return nil, fmt.Errorf("%d of %d waits were not ended by the cancel", n, c.size)
	}
	return f, nil
}
