package syncs

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A counting is what a Sequencer does, for it and its rivals.
type counting interface {
	Increment()
	Wait(ctx context.Context, n uint64) error
}

var countings = []struct {
	name string
	make func() counting
}{
	{"sequencer", func() counting { return new(Sequencer) }},
	{"futex", func() counting { return new(posts) }},
	{"combiner", func() counting { return new(combiner) }},
	{"anchor-cond", func() counting {
		c := new(condCounting)
		c.c.L = &c.mu
		return c
	}},
}

// posts is a Futex.
type posts struct{ Futex }

func (p *posts) Increment() { p.Post() }

// condCounting is what users write: every waiter is woken by every increment, and no wait is bounded.
type condCounting struct {
	mu sync.Mutex
	c  sync.Cond
	n  uint64
}

func (c *condCounting) Increment() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	c.c.Broadcast()
}

func (c *condCounting) Wait(_ context.Context, n uint64) error {
	c.mu.Lock()
	for c.n < n {
		c.c.Wait()
	}
	c.mu.Unlock()
	return nil
}

// A combiner is the sequencer without a lock: who waits pushes a request on a stack, who is canceled pushes his node on
// another; one at a time has the role to take both, and to walk the table.
type combiner struct {
	count, lowest  atomic.Uint64
	requests, gone atomic.Pointer[request]
	role           atomic.Uint32 // free, busy, pending
	levels         levels
}

type request struct {
	nextRequest, nextGone *request
	node                  park.Node
	w                     *park.Waiter
	t                     park.Token
	n                     uint64
	filed                 bool
}

var requestPool = sync.Pool{New: func() any { return new(request) }}

func (c *combiner) Increment() {
	n := c.count.Add(1)
	if c.lowest.Load()-1 < n || c.requests.Load() != nil {
		c.drain()
	}
}

func (c *combiner) Wait(ctx context.Context, n uint64) error {
	if err := park.Err(ctx); err != nil {
		return err
	}
	if c.count.Load() >= n {
		return nil
	}
	w := park.Get()
	r := requestPool.Get().(*request)
	r.w, r.t, r.n = w, w.Arm(clock.Forever), n
	t := r.t
	for {
		r.nextRequest = c.requests.Load()
		if c.requests.CompareAndSwap(r.nextRequest, r) {
			break
		}
	}
	if c.count.Load() >= n {
		c.drain()
	}
	o := w.Wait(ctx, t, park.KindSequencer)
	if o == park.Woken {
		*r = request{}
		requestPool.Put(r)
	} else {
		for {
			r.nextGone = c.gone.Load()
			if c.gone.CompareAndSwap(r.nextGone, r) {
				break
			}
		}
		c.drain()
	}
	park.Put(w)
	return failureOf(ctx, o)
}

const (
	roleFree = iota
	roleBusy
	rolePending
)

func (c *combiner) drain() {
	for !c.role.CompareAndSwap(roleFree, roleBusy) {
		if c.role.CompareAndSwap(roleBusy, rolePending) || c.role.Load() == rolePending {
			return
		}
	}
	c.combine()
}

func (c *combiner) combine() {
	var woken park.Batch
	for passes := 1; ; passes++ {
		c.pass(&woken)
		if c.role.CompareAndSwap(roleBusy, roleFree) {
			break
		}
		c.role.Store(roleBusy)
		if passes == 8 {
			go c.combine()
			break
		}
	}
	woken.Unpark()
}

func (c *combiner) pass(woken *park.Batch) {
	gone := c.gone.Swap(nil) // before the requests: who is gone has requested before
	for r := c.requests.Swap(nil); r != nil; r = r.nextRequest {
		c.levels.make(r.n).queue.PushFront(&r.node, r.w, r.t, park.Woken)
	}
	for r := gone; r != nil; {
		next := r.nextGone
		if x := c.levels.find(r.n); x != nil && x.queue.Remove(&r.node) && x.queue.Empty() {
			c.levels.drop(x)
		}
		*r = request{}
		requestPool.Put(r)
		r = next
	}
	for {
		for x := c.levels.first(); x != nil && x.n <= c.count.Load(); x = c.levels.first() {
			woken.Resolve(&x.queue, park.All) // who was canceled is taken out as well, and comes by way of gone
			c.levels.drop(x)
		}
		least := c.levels.least()
		c.lowest.Store(least)
		if least-1 >= c.count.Load() {
			return
		}
	}
}

func BenchmarkSequencer(b *testing.B) {
	bg := context.Background()
	for _, x := range countings {
		b.Run("alone/"+x.name, func(b *testing.B) {
			s := x.make()
			for b.Loop() {
				s.Increment()
			}
		})
		b.Run("awaited-far-off/"+x.name, func(b *testing.B) {
			s := x.make()
			go s.Wait(bg, 1<<50)
			for b.Loop() {
				s.Increment()
			}
		})
		b.Run("parallel/"+x.name, func(b *testing.B) {
			s := x.make()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.Increment()
				}
			})
		})
		// One after the other, each waits for its number and increments.
		for _, g := range []int{2, 8, 64, 512} {
			b.Run(fmt.Sprintf("turns/g=%d/%s", g, x.name), func(b *testing.B) {
				s := x.make()
				b.ReportAllocs()
				var group sync.WaitGroup
				for i := range g {
					group.Go(func() {
						for n := uint64(i); n < uint64(b.N); n += uint64(g) {
							s.Wait(bg, n)
							s.Increment()
						}
					})
				}
				group.Wait()
			})
		}
		// All wait for one number, one increments.
		for _, g := range []int{8, 64, 512} {
			b.Run(fmt.Sprintf("fan-out/g=%d/%s", g, x.name), func(b *testing.B) {
				s, back := x.make(), x.make()
				b.ReportAllocs()
				var group sync.WaitGroup
				for range g {
					group.Go(func() {
						for n := uint64(1); n <= uint64(b.N); n++ {
							s.Wait(bg, n)
							back.Increment()
						}
					})
				}
				for n := uint64(1); n <= uint64(b.N); n++ {
					s.Increment()
					back.Wait(bg, n*uint64(g))
				}
				group.Wait()
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g), "ns/waiter")
			})
		}
		// Everybody increments, and waits for the sum: the last token.
		for _, g := range []int{8, 64, 512} {
			b.Run(fmt.Sprintf("fan-in/g=%d/%s", g, x.name), func(b *testing.B) {
				s := x.make()
				b.ReportAllocs()
				var group sync.WaitGroup
				for range g {
					group.Go(func() {
						for n := uint64(1); n <= uint64(b.N); n++ {
							s.Increment()
							s.Wait(bg, n*uint64(g))
						}
					})
				}
				group.Wait()
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g), "ns/waiter")
			})
		}
		// Waits whose contexts end, at numbers in no order.
		if x.name != "anchor-cond" {
			for _, g := range []int{8, 512} {
				b.Run(fmt.Sprintf("canceled/g=%d/%s", g, x.name), func(b *testing.B) {
					s := x.make()
					b.ReportAllocs()
					for range b.N {
						ctx, cancel := context.WithCancel(bg)
						var group sync.WaitGroup
						for i := range g {
							group.Go(func() { s.Wait(ctx, 1<<40+rank(uint64(i))>>30) })
						}
						cancel()
						group.Wait()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g), "ns/waiter")
				})
			}
		}
	}
}
