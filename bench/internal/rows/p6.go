package rows

import (
	"context"
	"runtime"
	"sync"
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
	for r.Next() {
		r.Record("Waiter", canceling(crew, openScope, func(ctx context.Context) error {
			w := park.GetUntil(due)
			w.Wait(ctx, w.Arm(due), park.KindOther)
			park.Put(w)
			return park.Reason(ctx)
		}))
		r.Record(contexts, canceling(crew, context.WithCancel, func(ctx context.Context) error { return bounded(ctx, selects) }))
		r.Record("FailAfter+Event", canceling(crew, openScope, func(ctx context.Context) error {
			return bide.FailAfter(ctx, time.Hour, event.Wait)
		}))
		r.Record("select+ctx.Done", canceling(crew, context.WithCancel, selects))
		r.Record("Event", canceling(crew, openScope, event.Wait))
		r.Record("ctx.Done", canceling(crew, context.WithCancel, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}))
	}
	return nil
}

// openScope is context.WithCancel with a scope. As it is there, cancel is all that ends it.
func openScope(ctx context.Context) (context.Context, context.CancelFunc) {
	s := bide.Open(ctx)
	return s, func() { s.Cancel(nil) }
}

// canceling has the whole crew wait, and cancels that.
func canceling(c *crew, open func(context.Context) (context.Context, context.CancelFunc), wait func(context.Context) error) pair.Figures {
	ctx, cancel := open(context.Background())
	var here, left sync.WaitGroup
	here.Add(c.size)
	left.Add(c.size)
	for range c.size {
		c.work <- func() {
			here.Done()
			_ = wait(ctx)
			left.Done()
		}
	}
	here.Wait()
	pair.Settle() // the last of them parks
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, err := pair.CPUTime()
	cancel()
	canceled, _ := pair.CPUTime()
	left.Wait()
	end, _ := pair.CPUTime()
	runtime.ReadMemStats(&after)
	each := func(v float64) float64 { return v / float64(c.size) }
	f := pair.Figures{pair.Allocs: each(float64(after.Mallocs - before.Mallocs))}
	if err == nil {
		f[inCancel], f[pair.CPU] = each(float64(canceled-start)), each(float64(end-start))
	}
	return f
}
