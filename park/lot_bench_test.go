package park_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A place is where one of two goroutines waits for its turn.
type place interface {
	wait(ctx context.Context, me int)
	wake(other int)
}

// lotPlace is a lot with a word each.
type lotPlace struct {
	lot  park.Lot
	turn [2]struct {
		atomic.Bool
		_ [63]byte
	}
}

func (p *lotPlace) wait(ctx context.Context, me int) {
	word := &p.turn[me]
	for !word.CompareAndSwap(true, false) {
		p.lot.Park(ctx, word, clock.Forever, 0, func() bool { return !word.Load() })
	}
}

func (p *lotPlace) wake(other int) {
	p.turn[other].Store(true)
	p.lot.Wake(&p.turn[other], 1, park.Woken, nil)
}

// listPlace is what a primitive of its own does: a list under a lock, each.
type listPlace struct {
	turn [2]struct {
		mu   sync.Mutex
		set  bool
		list park.List
		_    [32]byte
	}
}

func (p *listPlace) wait(ctx context.Context, me int) {
	s := &p.turn[me]
	w := park.Get()
	n := &w.Nodes(1)[0]
	for {
		tok := w.Arm(clock.Forever)
		s.mu.Lock()
		if s.set {
			s.set = false
			s.mu.Unlock()
			w.Withdraw(tok)
			break
		}
		s.list.PushBack(n, w, tok, park.Woken)
		s.mu.Unlock()
		w.Wait(ctx, tok, 0)
	}
	park.Put(w)
}

func (p *listPlace) wake(other int) {
	s := &p.turn[other]
	s.mu.Lock()
	s.set = true
	w, _ := s.list.Resolve()
	s.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

// condPlace is the standard library's way, which knows no bound.
type condPlace struct {
	turn [2]struct {
		mu   sync.Mutex
		cond *sync.Cond
		set  bool
		_    [32]byte
	}
}

func (p *condPlace) wait(_ context.Context, me int) {
	s := &p.turn[me]
	s.mu.Lock()
	for !s.set {
		s.cond.Wait()
	}
	s.set = false
	s.mu.Unlock()
}

func (p *condPlace) wake(other int) {
	s := &p.turn[other]
	s.mu.Lock()
	s.set = true
	s.mu.Unlock()
	s.cond.Signal()
}

// chanPlace is a channel each, without a bound.
type chanPlace struct{ c [2]chan struct{} }

func (p *chanPlace) wait(_ context.Context, me int) { <-p.c[me] }
func (p *chanPlace) wake(other int)                 { p.c[other] <- struct{}{} }

func newPlace(kind string) place {
	switch kind {
	case "Lot":
		return &lotPlace{}
	case "List":
		return &listPlace{}
	case "anchor/channel":
		return &chanPlace{[2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}}
	}
	p := &condPlace{}
	for i := range p.turn {
		p.turn[i].cond = sync.NewCond(&p.turn[i].mu)
	}
	return p
}

// BenchmarkLotRoundTrip is the round trip of two waits: in a lot, in lists, and by what the standard library has.
func BenchmarkLotRoundTrip(b *testing.B) {
	for _, kind := range []string{"Lot", "List", "anchor/sync.Cond", "anchor/channel"} {
		b.Run(kind, func(b *testing.B) {
			p := newPlace(kind)
			ctx := context.Background()
			over := make(chan struct{})
			n := 0
			go func() {
				defer close(over)
				for p.wait(ctx, 1); n >= 0; p.wait(ctx, 1) {
					p.wake(0)
				}
			}()
			b.ReportAllocs()
			for b.Loop() {
				n++
				p.wake(1)
				p.wait(ctx, 0)
			}
			n = -1
			p.wake(1)
			<-over
		})
	}
}

// BenchmarkLotWakeOfNobody is a wake-up that finds nobody, with others waiting for other keys: what an Unlock pays whose
// bit was stale. It should not depend on how many others there are.
func BenchmarkLotWakeOfNobody(b *testing.B) {
	for _, others := range []int{0, 100, 10_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			var l park.Lot
			var group sync.WaitGroup
			words := make([]int, others)
			filed := make(chan struct{})
			for i := range words {
				group.Go(func() {
					l.Park(context.Background(), &words[i], clock.Forever, 0, func() bool { filed <- struct{}{}; return true })
				})
				<-filed
			}
			word := new(int)
			b.ReportAllocs()
			for b.Loop() {
				l.Wake(word, 1, park.Woken, nil)
			}
			for i := range words {
				l.Wake(&words[i], 1, park.Woken, nil)
			}
			group.Wait()
		})
	}
}

// BenchmarkLotKeys is what a call pays for others that are at work in the same lot: each with a key of its own, or all
// with one.
func BenchmarkLotKeys(b *testing.B) {
	shared := new(int)
	for _, own := range []bool{true, false} {
		b.Run(fmt.Sprintf("own=%v", own), func(b *testing.B) {
			var l park.Lot
			b.SetParallelism(4)
			b.RunParallel(func(pb *testing.PB) {
				word := shared
				if own {
					word = new(int)
				}
				for pb.Next() {
					l.Wake(word, 1, park.Woken, nil)
				}
			})
		})
	}
}

// BenchmarkRecv is the round trip of two values over channels, each wait bounded by a context and open to a grant.
func BenchmarkRecv(b *testing.B) {
	std, cancel := context.WithCancel(context.Background())
	defer cancel()
	never := make(chan struct{})
	waits := []struct {
		name string
		recv func(w *park.Waiter, c <-chan int) bool
	}{
		{"WaitRecv/background", func(w *park.Waiter, c <-chan int) bool {
			_, ok, _, _ := park.WaitRecv(context.Background(), w, w.Arm(clock.Forever), 0, c)
			return ok
		}},
		{"WaitRecv/std", func(w *park.Waiter, c <-chan int) bool {
			_, ok, _, _ := park.WaitRecv(std, w, w.Arm(clock.Forever), 0, c)
			return ok
		}},
		{"anchor/select-of-3", func(_ *park.Waiter, c <-chan int) bool {
			select {
			case _, ok := <-c:
				return ok
			case <-never:
				return false
			case <-std.Done():
				return false
			}
		}},
		{"anchor/select-done", func(_ *park.Waiter, c <-chan int) bool {
			select {
			case _, ok := <-c:
				return ok
			case <-std.Done():
				return false
			}
		}},
	}
	for _, x := range waits {
		b.Run(x.name, func(b *testing.B) {
			ping, pong, over := make(chan int), make(chan int), make(chan struct{})
			go func() {
				defer close(over)
				w := park.New(nil)
				for x.recv(w, ping) {
					pong <- 1
				}
			}()
			w := park.New(nil)
			b.ReportAllocs()
			for b.Loop() {
				ping <- 1
				x.recv(w, pong)
			}
			close(ping)
			<-over
		})
	}
}

// BenchmarkWakeMany is the cost of waking everybody, without their waiting.
func BenchmarkWakeMany(b *testing.B) {
	for _, n := range []int{1, 32, 1000} {
		ws, toks := make([]*park.Waiter, n), make([]park.Token, n)
		for i := range ws {
			ws[i] = park.New(nil)
		}
		var l park.List
		file := func() {
			for i, w := range ws {
				toks[i] = w.Arm(clock.Forever)
				l.PushBack(&w.Nodes(1)[0], w, toks[i], park.Woken)
			}
		}
		receive := func() {
			for i, w := range ws {
				w.Withdraw(toks[i])
			}
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				file()
				var x park.Batch
				x.Resolve(&l, park.All)
				x.Unpark()
				receive()
			}
		})
	}
}
