package syncs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"bide.invalid/bide/syncs"
)

// singleFlight is what x/sync's Do does, written by hand: without contexts, the first caller makes the call itself.
type singleFlight struct {
	mu    sync.Mutex
	calls map[int]*singleCall
}

type singleCall struct {
	done sync.WaitGroup
	v    int
	err  error
}

func (g *singleFlight) Do(_ context.Context, k int, f func(context.Context) (int, error)) (int, error) {
	g.mu.Lock()
	if c := g.calls[k]; c != nil {
		g.mu.Unlock()
		c.done.Wait()
		return c.v, c.err
	}
	c := new(singleCall)
	c.done.Add(1)
	if g.calls == nil {
		g.calls = map[int]*singleCall{}
	}
	g.calls[k] = c
	g.mu.Unlock()
	c.v, c.err = f(context.Background())
	g.mu.Lock()
	delete(g.calls, k)
	g.mu.Unlock()
	c.done.Done()
	return c.v, c.err
}

// chanFlight is the same with a goroutine for the call and a select for each caller, as x/sync's DoChan is used by those
// who have a context.
type chanFlight struct{ g singleFlight }

func (g *chanFlight) Do(ctx context.Context, k int, f func(context.Context) (int, error)) (int, error) {
	type result struct {
		v   int
		err error
	}
	c := make(chan result, 1)
	go func() { v, err := g.g.Do(ctx, k, f); c <- result{v, err} }()
	select {
	case r := <-c:
		return r.v, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// BenchmarkFlight is a call that takes a moment, for many who ask for the same.
func BenchmarkFlight(b *testing.B) {
	type flyer interface {
		Do(ctx context.Context, k int, f func(context.Context) (int, error)) (int, error)
	}
	for name, g := range map[string]flyer{
		"flight": new(syncs.Flight[int, int]), "anchor-singleflight": new(singleFlight), "anchor-dochan": new(chanFlight),
	} {
		for _, callers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) {
				ctx := benchScope(b)
				b.ReportAllocs()
				var group sync.WaitGroup
				for range callers {
					group.Go(func() {
						for range b.N / callers {
							_, _ = g.Do(ctx, 1, func(context.Context) (int, error) { yield(); return 1, nil })
						}
					})
				}
				group.Wait()
			})
		}
	}
}
