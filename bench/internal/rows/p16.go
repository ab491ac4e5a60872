package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
)

// P16: a group of goroutines is started, does nothing, and is waited for; without a bound, and with one.
var p16 = pair.Row{
	Name: "P16", Title: "a nursery and its children",
	Run:   runP16,
	Lines: linesP16(),
}

var families = []int{1, 10, 1000}

const (
	withGroup = "errgroup+WithTimeout"
	concPool  = "conc pool"
)

func linesP16() []pair.Line {
	var lines []pair.Line
	for _, k := range families {
		of, at := fmt.Sprintf("%d children", k), fmt.Sprintf("@%d", k)
		bound := pair.AtLeast(1.3)
		if k == 1000 {
			bound = pair.Target{} // there is nothing but starting goroutines, on either side
		}
		lines = append(lines,
			pair.Line{Case: of, Ours: "nursery" + at, Rival: "errgroup" + at, Of: pair.Ns, Target: pair.Within(1.1)},
			pair.Line{Case: of, Ours: "nursery" + at, Rival: concPool + at, Of: pair.Ns},
			pair.Line{Case: of, Ours: "nursery" + at, Of: pair.Allocs, Target: pair.AtMost(float64(2 + k))}, // errgroup: 3 + k
			pair.Line{Case: of, Ours: "nursery" + at, Rival: "errgroup" + at, Of: pair.Allocs},
			pair.Line{Case: of + ", with a bound", Ours: "bounded nursery" + at, Rival: withGroup + at, Of: pair.Ns, Target: bound},
			pair.Line{Case: of + ", with a bound", Ours: "bounded nursery" + at, Rival: withGroup + at, Of: pair.Allocs})
	}
	return lines
}

func runP16(r *pair.Run) error {
	bg := context.Background()
	for r.Next() {
		for _, k := range families {
			turns(r, []side{
				{"nursery", func() { _ = nursery(bg, k) }},
				{"errgroup", func() { _ = group(bg, k) }},
				{concPool, func() { _ = pooled(bg, k) }},
				{"bounded nursery", func() { _ = nursery(bg, k, bide.Timeout(time.Hour)) }},
				{withGroup, func() { _ = bounded(bg, func(ctx context.Context) error { return group(ctx, k) }) }},
			}, fmt.Sprintf("@%d", k))
		}
	}
	return nil
}

func nursery(ctx context.Context, k int, opts ...bide.Option) error {
	return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
		for range k {
			n.Go(idle)
		}
		return nil
	}, opts...)
}

func group(ctx context.Context, k int) error {
	g, _ := errgroup.WithContext(ctx)
	for range k {
		g.Go(func() error { return nil })
	}
	return g.Wait()
}

// pooled is the part of conc that does the same: the first error cancels, and the context is handed on.
func pooled(ctx context.Context, k int) error {
	p := pool.New().WithContext(ctx).WithCancelOnError()
	for range k {
		p.Go(idle)
	}
	return p.Wait()
}
