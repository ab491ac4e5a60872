package syncs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"bide.invalid/bide/syncs"
)

// A conduit is a bounded queue whose waits are bounded by a context.
type conduit interface {
	Put(ctx context.Context, v int) error
	Get(ctx context.Context) (int, error)
}

// chanConduit is what users write today.
type chanConduit chan int

func (c chanConduit) Put(ctx context.Context, v int) error {
	select {
	case c <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c chanConduit) Get(ctx context.Context) (int, error) {
	select {
	case v := <-c:
		return v, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

var conduits = []struct {
	name string
	make func(n int) conduit
}{
	{"queue", func(n int) conduit { return syncs.NewQueue[int](n) }},
	{"anchor-channel", func(n int) conduit { return make(chanConduit, n) }},
}

var benchContexts = []struct {
	name string
	ctx  func(b *testing.B) context.Context
}{
	{"background", func(*testing.B) context.Context { return context.Background() }},
	{"scope", benchScope},
	{"std", benchStd},
}

// BenchmarkQueueUncontended is a Put and a Get by the same goroutine.
func BenchmarkQueueUncontended(b *testing.B) {
	for _, r := range conduits {
		for _, c := range benchContexts {
			b.Run(r.name+"/"+c.name, func(b *testing.B) {
				q, ctx := r.make(16), c.ctx(b)
				b.ReportAllocs()
				for b.Loop() {
					_ = q.Put(ctx, 1)
					_, _ = q.Get(ctx)
				}
			})
		}
	}
}

// BenchmarkQueue is one value through the queue, with as many producers as consumers.
func BenchmarkQueue(b *testing.B) {
	for _, r := range conduits {
		for _, pairs := range []int{1, 4, 32} {
			for _, room := range []int{0, 1, 64} {
				for _, c := range benchContexts {
					b.Run(fmt.Sprintf("%s/pairs=%d/room=%d/%s", r.name, pairs, room, c.name), func(b *testing.B) {
						q, ctx := r.make(room), c.ctx(b)
						b.ReportAllocs()
						var group sync.WaitGroup
						for p := range pairs {
							n := b.N / pairs
							if p < b.N%pairs {
								n++
							}
							group.Go(func() {
								for i := range n {
									_ = q.Put(ctx, i)
								}
							})
							group.Go(func() {
								for range n {
									_, _ = q.Get(ctx)
								}
							})
						}
						group.Wait()
					})
				}
			}
		}
	}
}
