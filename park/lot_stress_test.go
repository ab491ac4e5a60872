package park_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/park"
)

// A permitLot has permits, each at one of a few keys, and hands them over. What is free lies in plain ints that nothing
// but the lot guards: the race detector watches that it does.
type permitLot struct {
	park.Lot
	free [5]int
}

func (l *permitLot) key(i int) any { return &l.free[i] }

func (l *permitLot) acquire(ctx context.Context, i int, deadline clock.Instant) park.Outcome {
	o := l.Park(ctx, l.key(i), deadline, park.KindSemaphore, func() bool {
		if l.free[i] > 0 {
			l.free[i]--
			return false
		}
		return true
	})
	if o == park.Self {
		o = park.Woken
	}
	return o
}

// release gives n permits to those who wait at i, and keeps the rest.
func (l *permitLot) release(i, n int) {
	l.Wake(l.key(i), n, park.Woken, func(woken, left int) { l.free[i] += n - woken })
}

// move sends n of those who wait at i to wait at j, unless there is something for them.
func (l *permitLot) move(i, j, n int) int {
	return l.Requeue(l.key(i), l.key(j), n, func() bool { return l.free[j] == 0 })
}

// Grants, cancels, expiries and moves, aimed at each other: every permit is held by one, or free at one key, and in
// the end nobody is filed.
func TestStressLot(t *testing.T) {
	const workers, each = 8, 1
	source, more := stress.Source(t), stress.Lasting(t, 2)
	l := &permitLot{}
	for i := range l.free {
		l.free[i] = each
	}
	var count [park.User]atomic.Int64
	var held, moved atomic.Int64
	var canceled atomic.Pointer[bide.Scope]
	canceled.Store(bide.Open(context.Background()))
	std, stop := context.WithCancel(context.Background())
	defer stop()

	over := make(chan struct{})
	var side sync.WaitGroup
	side.Go(func() { // the canceller: a new scope for each that it cancels
		for {
			select {
			case <-over:
				canceled.Load().Close(nil)
				return
			default:
			}
			old := canceled.Swap(bide.Open(context.Background()))
			for range 20 {
				runtime.Gosched()
			}
			old.Cancel(nil)
			old.Close(nil)
		}
	})
	for g := range 2 {
		side.Go(func() { // a mover
			r := source(workers + g)
			for {
				select {
				case <-over:
					return
				default:
				}
				if i, j := r.IntN(len(l.free)), r.IntN(len(l.free)); i != j {
					moved.Add(int64(l.move(i, j, r.IntN(4))))
				}
				runtime.Gosched()
			}
		})
	}
	var group sync.WaitGroup
	for g := range workers {
		group.Go(func() {
			r := source(g)
			for more() {
				ctx, due := context.Background(), clock.After(time.Duration(r.IntN(2000))*time.Microsecond)
				switch r.IntN(5) {
				case 0:
					ctx, due = canceled.Load(), clock.Forever
				case 1:
					ctx, due = canceled.Load(), clock.After(time.Duration(r.IntN(200))*time.Microsecond)
				case 2:
					due = clock.Instant(r.IntN(2)) // past: the driver is under way when the wait begins
				case 3:
					ctx = std
				}
				o := l.acquire(ctx, r.IntN(len(l.free)), due)
				count[o].Add(1)
				if o != park.Woken {
					continue
				}
				if held.Add(1) > each*int64(len(l.free)) {
					t.Error("more is held than there is")
				}
				for range r.IntN(64) {
					runtime.Gosched()
				}
				held.Add(-1)
				l.release(r.IntN(len(l.free)), 1)
			}
		})
	}
	group.Wait()
	close(over)
	side.Wait()
	sum := 0
	for i := range l.free {
		l.Wake(l.key(i), park.All, park.Closed, func(woken, left int) {
			if sum += l.free[i]; woken+left != 0 {
				t.Errorf("key %d has somebody in it", i)
			}
		})
	}
	if want := each * len(l.free); sum != want {
		t.Errorf("%d permits are free, want %d", sum, want)
	}
	if n := count[park.Closed].Load() + count[park.Self].Load() + count[park.Pending].Load(); n != 0 {
		t.Errorf("%d waits ended with an outcome that nobody gave", n)
	}
	t.Logf("woken %d, expired %d, canceled %d, moved %d", count[park.Woken].Load(), count[park.Expired].Load(),
		count[park.Canceled].Load(), moved.Load())
}

// Moves between two keys in both directions, which take the same two locks, do not wait for each other.
func TestLotRequeueBothWays(t *testing.T) {
	n := some(20_000)
	for i := range 8 { // pairs of buckets, in one order or the other
		var l park.Lot
		var group sync.WaitGroup
		for g := range 2 {
			group.Go(func() {
				from, to := 2*i+g, 2*i+1-g
				for range n {
					l.Requeue(from, to, park.All, func() bool { runtime.Gosched(); return true })
				}
			})
		}
		group.Wait()
	}
}

// A thousand waiters, and a cancel that races a thousand grants: each ends once, woken or canceled, and every grant
// was taken by one who was woken, or is left.
func TestBubbleLotThousand(t *testing.T) {
	waiters := 1000
	if step.On || invariant.On || testing.Short() {
		waiters = 200
	}
	for _, batch := range []int{1, 7, park.All} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			inLot(t, func(t *testing.T, c *crowd) {
				s := bide.Open(context.Background())
				defer s.Close(nil)
				var group sync.WaitGroup
				var ended [park.User]atomic.Int64
				for i := range waiters {
					group.Go(func() { ended[c.Park(s, i%10, clock.Forever, 0, nil)].Add(1) })
				}
				synctest.Wait()
				var granted atomic.Int64
				group.Go(func() { s.Cancel(nil) })
				for k := range 10 {
					group.Go(func() {
						for range waiters {
							n := c.Wake(k, batch, park.Woken, nil)
							granted.Add(int64(n))
							if n == 0 {
								return
							}
						}
					})
				}
				group.Wait()
				w, x := ended[park.Woken].Load(), ended[park.Canceled].Load()
				if w != granted.Load() || w+x != int64(waiters) {
					t.Errorf("%d woken of %d granted, %d canceled, of %d", w, granted.Load(), x, waiters)
				}
				for k := range 10 {
					c.empty(k)
				}
			})
		})
	}
}

// Many short bounds, and nobody who wakes: they all end, and leave nothing.
func TestStressLotTimeoutStorm(t *testing.T) {
	source, more := stress.Source(t), stress.Lasting(t, 2)
	var l park.Lot
	var group sync.WaitGroup
	var waits atomic.Int64
	for g := range 16 {
		group.Go(func() {
			r := source(g)
			for more() {
				waits.Add(1)
				due := clock.After(time.Duration(r.IntN(100)) * time.Microsecond)
				if o := l.Park(context.Background(), r.IntN(8), due, 0, nil); o != park.Expired {
					t.Errorf("outcome %v", o)
				}
			}
		})
	}
	group.Wait()
	for k := range 8 {
		l.Wake(k, 1, park.Woken, func(woken, left int) {
			if woken+left != 0 {
				t.Errorf("key %d has somebody in it", k)
			}
		})
	}
	t.Logf("%d waits", waits.Load())
}

// Values that come over a channel while waits are granted and canceled: each value is received once, each grant is
// taken once.
func TestStressRecv(t *testing.T) {
	const workers = 4
	source, more := stress.Source(t), stress.Lasting(t, 2)
	c := make(chan int64, 2)
	var (
		mu           sync.Mutex
		line         park.List
		sent, got    atomic.Int64
		given, taken atomic.Int64
		both         atomic.Int64
		canceled     atomic.Pointer[bide.Scope]
	)
	canceled.Store(bide.Open(context.Background()))
	type stdContext struct {
		context.Context
		cancel context.CancelFunc
	}
	newStd := func() *stdContext {
		ctx, cancel := context.WithCancel(context.Background())
		return &stdContext{ctx, cancel}
	}
	var std atomic.Pointer[stdContext]
	std.Store(newStd())
	over := make(chan struct{})
	var side sync.WaitGroup
	beside := func(f func()) {
		side.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					f()
					runtime.Gosched()
				}
			}
		})
	}
	beside(func() {
		v := sent.Load()%1000 + 1
		select {
		case c <- v:
			sent.Add(v)
		default:
		}
	})
	beside(func() {
		var b park.Batch
		mu.Lock()
		n := b.Resolve(&line, 1)
		mu.Unlock()
		b.Unpark()
		given.Add(int64(n))
	})
	beside(func() {
		old := canceled.Swap(bide.Open(context.Background()))
		old.Cancel(nil)
		old.Close(nil)
		std.Swap(newStd()).cancel()
	})
	var group sync.WaitGroup
	for g := range workers {
		group.Go(func() {
			r := source(g)
			for more() {
				ctx, due := context.Background(), clock.After(time.Duration(r.IntN(300))*time.Microsecond)
				switch r.IntN(3) {
				case 0:
					ctx = canceled.Load()
				case 1:
					ctx = std.Load().Context
				}
				w := park.GetUntil(due)
				n := &w.Nodes(1)[0]
				tok := w.Arm(due)
				mu.Lock()
				line.PushBack(n, w, tok, park.Woken)
				mu.Unlock()
				v, ok, received, o := park.WaitRecv(ctx, w, tok, park.KindAny, c)
				mu.Lock()
				line.Remove(n)
				mu.Unlock()
				park.Put(w)
				if received != ok || !received && v != 0 || received == (v == 0) || !received && o == park.Self {
					t.Errorf("%d, %v, %v, %v", v, ok, received, o)
				}
				if got.Add(v); o == park.Woken {
					taken.Add(1)
				}
				if received && o != park.Self {
					both.Add(1)
				}
			}
		})
	}
	group.Wait()
	close(over)
	side.Wait()
	canceled.Load().Close(nil)
	std.Load().cancel()
	for len(c) > 0 {
		got.Add(<-c)
	}
	if sent.Load() != got.Load() {
		t.Errorf("sent %d, received %d", sent.Load(), got.Load())
	}
	if given.Load() != taken.Load() {
		t.Errorf("granted %d, woken %d", given.Load(), taken.Load())
	}
	t.Logf("granted %d; a value and another outcome at once %d times", given.Load(), both.Load())
}
