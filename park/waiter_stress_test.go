package park_test

import (
	"context"
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

// some is n, or as much of it as a short run or a slow build has time for.
func some(n int) int {
	switch {
	case step.On:
		return n / 100
	case testing.Short() || invariant.On:
		return n / 10
	}
	return n
}

// A counter that can be waited for without a lock: the shape of every arm / publish / re-check / wait.
type counter struct {
	n    atomic.Int64
	who  []seat
	lost atomic.Int64
}

// A seat is the place of one goroutine that waits for the counter.
type seat struct {
	w  *park.Waiter
	on atomic.Pointer[ticket]
	_  [64]byte
}

type ticket struct {
	tok park.Token
	n   int64
}

func newCounter(seats int) *counter {
	c := &counter{who: make([]seat, seats)}
	for i := range c.who {
		c.who[i].w = park.New(nil)
	}
	return c
}

func (c *counter) await(me int, n int64, recheck bool) {
	s := &c.who[me]
	tok := s.w.Arm(clock.Forever) // arm
	s.on.Store(&ticket{tok, n})   // publish
	if recheck && c.n.Load() >= n {
		s.w.Withdraw(tok)
		return
	}
	if s.w.Wait(context.Background(), tok, park.KindOther) == park.Closed {
		c.lost.Add(1)
	}
}

func (c *counter) increment() {
	n := c.n.Add(1)
	for i := range c.who {
		s := &c.who[i]
		if on := s.on.Load(); on != nil && on.n <= n {
			s.w.Wake(on.tok, park.Woken)
		}
	}
}

// free wakes who should have been woken long ago.
func (c *counter) free() {
	for i := range c.who {
		s := &c.who[i]
		if on := s.on.Load(); on != nil {
			s.w.Wake(on.tok, park.Closed)
		}
	}
}

// run makes the goroutines meet at every round: each waits for the last one's increment. It runs in a bubble, where an
// hour passes as soon as everybody is parked for good, so a lost wake-up is found at once.
func (c *counter) run(t *testing.T, rounds int, recheck bool) (lost int64) {
	synctest.Test(t, func(t *testing.T) {
		for i := range c.who { // channels of the bubble
			c.who[i].w = park.New(nil)
		}
		var group sync.WaitGroup
		for me := range c.who {
			group.Go(func() {
				for r := range int64(rounds) {
					c.increment()
					if !recheck {
						runtime.Gosched()
					}
					c.await(me, int64(len(c.who))*(r+1), recheck)
				}
			})
		}
		over := make(chan struct{})
		go func() { group.Wait(); close(over) }()
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Hour):
				c.free()
			}
		}
	})
	return c.lost.Load()
}

func TestLitmusLastTokenBubble(t *testing.T) {
	if lost := newCounter(4).run(t, some(200_000), true); lost != 0 {
		t.Errorf("%d wake-ups were lost", lost)
	}
}

// The litmus can fail: without the re-check wake-ups are lost, and found.
func TestLitmusNeedsTheRecheckBubble(t *testing.T) {
	if lost := newCounter(4).run(t, 2000, false); lost == 0 {
		t.Error("nothing was lost without the re-check")
	}
}

// One waiter and one setter outside a bubble, with a flag a round: the setter is at most one round ahead, and waits for
// nobody, so both orders occur.
func TestLitmusFlag(t *testing.T) {
	const pairs, patience = 2, 50_000_000
	rounds := int64(some(200_000))
	var group sync.WaitGroup
	var early, late, lost atomic.Int64
	for range pairs {
		w := park.New(nil)
		var flag, round atomic.Int64
		var on atomic.Pointer[park.Token]
		group.Go(func() { // waiter
			defer round.Store(rounds + 1)
			for r := int64(1); r <= rounds; r++ {
				tok := w.Arm(clock.Forever)
				on.Store(&tok)
				round.Store(r)
				if flag.Load() >= r {
					w.Withdraw(tok)
					early.Add(1)
					continue
				}
				switch w.Wait(context.Background(), tok, park.KindOther) {
				case park.Woken:
					late.Add(1)
				case park.Closed:
					lost.Add(1)
				}
			}
		})
		group.Go(func() { // setter
			for r := int64(1); r <= rounds+2; r++ {
				for yields := 1; round.Load() < r-1; yields++ {
					if runtime.Gosched(); yields%patience == 0 {
						w.Wake(*on.Load(), park.Closed)
					}
				}
				flag.Store(r)
				// The token of the round before loses, or is withdrawn late; that of this one wins, if it is published.
				if tok := on.Load(); tok != nil {
					w.Wake(*tok, park.Woken)
				}
			}
		})
	}
	group.Wait()
	t.Logf("flag seen at the re-check %d times, woken %d times", early.Load(), late.Load())
	if n := lost.Load(); n != 0 {
		t.Errorf("%d wake-ups were lost", n)
	}
}

// permits is a semaphore in a few lines: what a primitive of one's own would do.
type permits struct {
	mu   sync.Mutex
	free int
	line park.List
}

func (p *permits) acquire(ctx context.Context, due clock.Instant, keep *trail) park.Outcome {
	w := park.GetUntil(due)
	defer park.Put(w)
	n := &w.Nodes(1)[0]
	tok := w.Arm(due)
	keep.add(w, tok)
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		if o := w.Withdraw(tok); o == park.Self {
			return park.Woken
		}
		p.release() // somebody was faster: Expired, here
		return park.Expired
	}
	p.line.PushBack(n, w, tok, park.Woken)
	p.mu.Unlock()
	o := w.Wait(ctx, tok, park.KindUser)
	if o != park.Woken {
		p.mu.Lock()
		p.line.Remove(n)
		p.mu.Unlock()
	}
	return o
}

func (p *permits) release() {
	p.mu.Lock()
	w, _ := p.line.Resolve()
	if w == nil {
		p.free++
	}
	p.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

// A trail keeps the tokens of waits that are over, for waiters that are in the pool, or at their next wait.
type trail struct {
	old [8]struct {
		w   *park.Waiter
		tok park.Token
	}
	n int
}

func (k *trail) add(w *park.Waiter, tok park.Token) {
	k.old[k.n%len(k.old)].w, k.old[k.n%len(k.old)].tok = w, tok
	k.n++
}

// stale tries them all.
func (k *trail) stale(t *testing.T) {
	for i := range min(k.n, len(k.old)) {
		o := k.old[(k.n-1-i)%len(k.old)]
		if o.w.Wake(o.tok, park.Closed) {
			t.Error("a stale token won")
		}
	}
}

// Pooled waiters go between two lists, under contexts that are canceled and with deadlines that come, while old tokens
// of theirs are tried: no permit is lost or doubled, and nobody is woken by what was not meant for it.
func TestStressPermits(t *testing.T) {
	const workers, each = 8, 1
	source, more := stress.Source(t), stress.Lasting(t, 1)
	lists := [2]*permits{{free: each}, {free: each}}
	var count [park.User]atomic.Int64
	var canceled atomic.Pointer[bide.Scope]
	first := bide.Open(context.Background())
	canceled.Store(first)
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
	var group sync.WaitGroup
	for g := range workers {
		group.Go(func() {
			r := source(g)
			var keep trail
			for more() {
				from, due := lists[r.IntN(2)], clock.Forever
				ctx := context.Background()
				switch r.IntN(5) {
				case 0:
					ctx = canceled.Load()
				case 1:
					due = clock.After(time.Duration(r.IntN(2000)) * time.Microsecond)
				case 2:
					ctx, due = canceled.Load(), clock.After(time.Duration(r.IntN(200))*time.Microsecond)
				case 3:
					due = clock.Instant(r.IntN(2)) // past: the driver is under way when the wait begins
				case 4:
					ctx = std
				}
				o := from.acquire(ctx, due, &keep)
				count[o].Add(1)
				keep.stale(t)
				if o == park.Woken {
					for range r.IntN(64) {
						runtime.Gosched()
					}
					from.release()
				}
			}
		})
	}
	group.Wait()
	close(over)
	side.Wait()
	for i, l := range lists {
		if l.free != each {
			t.Errorf("list %d has %d permits, want %d", i, l.free, each)
		}
		if !l.line.Empty() {
			t.Errorf("list %d has somebody in it", i)
		}
	}
	if n := count[park.Closed].Load() + count[park.Self].Load() + count[park.Pending].Load(); n != 0 {
		t.Errorf("%d waits ended with an outcome that nobody gave", n)
	}
	t.Logf("woken %d, expired %d, canceled %d", count[park.Woken].Load(), count[park.Expired].Load(), count[park.Canceled].Load())
}
