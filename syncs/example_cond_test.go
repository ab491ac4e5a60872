package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A Stock is waited for until there is enough of it.
type Stock struct {
	mu      syncs.Mutex
	changed syncs.Cond
	n       int
}

// NewStock returns a stock of nothing.
func NewStock() *Stock {
	s := &Stock{}
	s.changed.L = s.mu.Locker()
	return s
}

// Put puts n there.
func (s *Stock) Put(n int) {
	s.changed.L.Lock()
	s.n += n
	s.changed.L.Unlock()
	s.changed.Broadcast()
}

// Take takes n, and waits for them as long as ctx allows.
func (s *Stock) Take(ctx context.Context, n int) error {
	if err := s.mu.Lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock() // Wait returns with the lock, with an error too
	for s.n < n {
		if err := s.changed.Wait(ctx); err != nil {
			return err
		}
	}
	s.n -= n
	return nil
}

func ExampleCond() {
	ctx := context.Background()
	s := NewStock()
	s.Put(2)

	err := bide.FailAfter(ctx, 5*time.Millisecond, func(ctx context.Context) error { return s.Take(ctx, 3) })
	fmt.Println("too few:", errors.Is(err, context.DeadlineExceeded))

	took := make(chan error)
	go func() { took <- s.Take(ctx, 3) }()
	s.Put(5)
	fmt.Println(<-took, s.n)

	// Output:
	// too few: true
	// <nil> 4
}
