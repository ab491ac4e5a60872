package park_test

import (
	"context"
	"fmt"
	"sync"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A shelf has at most one item, and whoever comes first takes it: one who was woken for an item may find that somebody
// who did not have to wait has it already, and waits again.
type shelf struct {
	mu    sync.Mutex
	item  string
	queue park.List
}

// Take waits for an item as long as ctx allows.
func (s *shelf) Take(ctx context.Context) (item string, err error) {
	w := park.Get()
	n := &w.Nodes(1)[0]
	look := func() (t park.Token, more bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if item, s.item = s.item, ""; item != "" {
			return t, false
		}
		t = w.Arm(clock.Forever)
		s.queue.PushBack(n, w, t, park.Woken)
		return t, true
	}
	if t, more := look(); more && w.WaitAgain(ctx, t, park.KindUser, look) != park.Woken {
		s.mu.Lock()
		s.queue.Remove(n)
		s.mu.Unlock()
		err = park.Reason(ctx)
	}
	park.Put(w)
	return item, err
}

// Put puts an item on the shelf.
func (s *shelf) Put(item string) {
	s.mu.Lock()
	s.item = item
	w, _ := s.queue.Resolve()
	s.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

func ExampleWaiter_WaitAgain() {
	var s shelf
	ctx, cancel := context.WithCancel(context.Background())
	go s.Put("a book")
	fmt.Println(s.Take(ctx))
	cancel()
	fmt.Println(s.Take(ctx))
	// Output:
	// a book <nil>
	//  context canceled
}
