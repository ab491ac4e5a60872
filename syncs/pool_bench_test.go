package syncs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/syncs"
)

// A lender lends one of a few items.
type lender interface {
	Get(ctx context.Context) (int, error)
	Put(v int)
}

// chanPool is a pool of items that are there already, as users write it today.
type chanPool chan int

func (p chanPool) Get(ctx context.Context) (int, error) {
	select {
	case v := <-p:
		return v, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p chanPool) Put(v int) { p <- v }

func lenders(n int) map[string]lender {
	free := make(chanPool, n)
	for i := range n {
		free <- i
	}
	one := func(context.Context) (int, error) { return 1, nil }
	return map[string]lender{
		"pool":           &syncs.Pool[int]{New: one, Max: n},
		"pool-idle":      &syncs.Pool[int]{New: one, Max: n, Idle: time.Hour},
		"anchor-channel": free,
	}
}

// BenchmarkPool is an item lent and given back, by more and more who want one of two.
func BenchmarkPool(b *testing.B) {
	for _, goroutines := range []int{1, 4, 64} {
		for _, c := range benchContexts {
			for name, p := range lenders(2) {
				b.Run(fmt.Sprintf("%s/g=%d/%s", name, goroutines, c.name), func(b *testing.B) {
					ctx := c.ctx(b)
					b.ReportAllocs()
					var group sync.WaitGroup
					for g := range goroutines {
						n := b.N / goroutines
						if g < b.N%goroutines {
							n++
						}
						group.Go(func() {
							for range n {
								v, err := p.Get(ctx)
								if err != nil {
									b.Error(err)
									return
								}
								p.Put(v)
							}
						})
					}
					group.Wait()
				})
			}
		}
	}
}
