package park_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// woken are the indexes of those of l who have been woken, in the order of their nodes.
func (l *line) woken(t *testing.T) (is []int) {
	t.Helper()
	for i, w := range l.ws {
		if o := w.Withdraw(l.toks[i]); o == park.User+park.Outcome(i) {
			is = append(is, i)
		} else if o != park.Self {
			t.Errorf("waiter %d ended with %v", i, o)
		}
	}
	return is
}

func TestBatch(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []int
		got  int
	}{
		{0, nil, 0},
		{-1, nil, 0},
		{1, []int{1}, 1},
		{3, []int{1, 2, 4}, 3},
		{100, []int{1, 2, 4, 6}, 4},
		{park.All, []int{1, 2, 4, 6}, 4},
	} {
		l := newLine(7)
		for _, i := range []int{0, 3, 5} {
			l.ws[i].Wake(l.toks[i], park.Self) // left, and is still filed
		}
		var b park.Batch
		if got := b.Resolve(&l.List, c.n); got != c.got {
			t.Errorf("Resolve of %d: %d, want %d", c.n, got, c.got)
		}
		if l.Empty() != (c.n > 3) {
			t.Errorf("Resolve of %d: empty %v", c.n, l.Empty())
		}
		for i := range l.ws { // who was resolved is out, and may find that
			if in := l.Remove(l.node(i)); in != (c.n <= 0 || c.n == 1 && i > 1 || c.n == 3 && i > 4) {
				t.Errorf("Resolve of %d: waiter %d is in: %v", c.n, i, in)
			}
		}
		b.Unpark()
		if got := l.woken(t); !slices.Equal(got, c.want) {
			t.Errorf("Resolve of %d: woken %v, want %v", c.n, got, c.want)
		}
		b.Unpark() // it is empty
		if b != (park.Batch{}) {
			t.Error("not empty")
		}
	}
}

// With an outcome of the resolver's, whatever they were filed with.
func TestBatchResolveAs(t *testing.T) {
	l := newLine(4)
	l.ws[0].Wake(l.toks[0], park.Self)
	var b park.Batch
	if n := b.ResolveAs(&l.List, 1, park.Closed) + b.ResolveAs(&l.List, 1, park.MaxOutcome); n != 2 {
		t.Errorf("resolved %d, want 2", n)
	}
	for o, want := range map[park.Outcome]string{
		park.Pending:        "bide/park: ResolveAs with the outcome pending",
		park.MaxOutcome + 1: "bide/park: ResolveAs with the outcome user+122",
	} {
		if got := panics(func() { b.ResolveAs(&l.List, 1, o) }); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
	b.Unpark()
	want := []park.Outcome{park.Self, park.Closed, park.MaxOutcome, park.Self}
	for i, w := range l.ws {
		if o := w.Withdraw(l.toks[i]); o != want[i] {
			t.Errorf("waiter %d ended with %v, want %v", i, o, want[i])
		}
	}
}

// It collects from several lists, and is used again.
func TestBatchOfSeveral(t *testing.T) {
	var b park.Batch
	for range 3 {
		x, y := newLine(40), newLine(2)
		if n := b.Resolve(&x.List, 39) + b.Resolve(&y.List, park.All) + b.Resolve(&x.List, park.All); n != 42 {
			t.Errorf("resolved %d, want 42", n)
		}
		b.Unpark()
		if n := len(x.woken(t)) + len(y.woken(t)); n != 42 {
			t.Errorf("woken %d, want 42", n)
		}
	}
	b.Unpark()
}

// The wake-ups come in order, and the waiter is its owner's from then on: hooks arm it again, and file it elsewhere.
func TestBatchOrder(t *testing.T) {
	const n = 5
	var (
		first, second park.List
		order         []int
		ws            [n]*park.Waiter
	)
	for i := range n {
		ws[i] = park.New(func(park.Outcome) { order = append(order, i) })
		first.PushBack(&ws[i].Nodes(1)[0], ws[i], ws[i].Arm(clock.Forever), park.User)
	}
	var b park.Batch
	b.Resolve(&first, park.All)
	b.Unpark()
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Errorf("order %v", order)
	}
	for _, w := range ws {
		w.Wait(context.Background(), park.Token{}, 0)
		second.PushBack(&w.Nodes(1)[0], w, w.Arm(clock.Forever), park.User)
	}
	b.Resolve(&second, 2)
	b.Unpark()
	if !slices.Equal(order, []int{0, 1, 2, 3, 4, 0, 1}) {
		t.Errorf("order %v", order)
	}
}

// An owner that learns of its wake-up, and waits again in the same list, while the batch is still at it.
func TestBubbleBatchWokenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiters, rounds = 40, 50
		var mu sync.Mutex
		var l park.List
		var group sync.WaitGroup
		s := bide.Open(context.Background())
		defer s.Close(nil)
		counts := make([]int, waiters)
		for i := range waiters {
			group.Go(func() {
				w := park.New(nil)
				n := &w.Nodes(1)[0]
				for counts[i] < rounds {
					tok := w.Arm(clock.Forever)
					mu.Lock()
					l.PushBack(n, w, tok, park.Woken)
					mu.Unlock()
					if o := w.Wait(s, tok, park.KindUser); o != park.Woken {
						t.Errorf("outcome %v", o)
						return
					}
					counts[i]++
				}
			})
		}
		over := make(chan struct{})
		go func() { group.Wait(); close(over) }()
		for {
			select {
			case <-over:
				return
			case <-time.After(1):
			}
			var b park.Batch
			mu.Lock()
			b.Resolve(&l, park.All)
			mu.Unlock()
			b.Unpark()
		}
	})
}
