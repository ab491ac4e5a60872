package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A session with a server that takes two at a time.
type session struct{ id int }

// Sessions are lent to who asks first, for as long as each is willing to wait; broken ones are replaced.
func ExamplePool() {
	ctx := context.Background()
	opened := 0
	pool := syncs.Pool[*session]{
		New: func(context.Context) (*session, error) {
			opened++
			return &session{opened}, nil
		},
		Destroy: func(s *session) { fmt.Println("closed:", s.id) },
		Max:     2,
		Bound:   5 * time.Second, // of one New
	}

	a, _ := pool.Get(ctx)
	b, _ := pool.Get(ctx)
	_, err := bide.Within(ctx, time.Millisecond, pool.Get)
	fmt.Println("all lent:", errors.Is(err, context.DeadlineExceeded))

	pool.Drop(a) // broken
	c, _ := pool.Get(ctx)
	fmt.Println("new:", c.id)

	pool.Put(b)
	again, _ := pool.Get(ctx)
	fmt.Println("again:", again.id)

	pool.Put(again)
	pool.Close()
	fmt.Println("still lent:", pool.Stats().Lent)
	pool.Put(c)
	fmt.Println(bide.FailAfter(ctx, time.Second, pool.Wait))

	// Output:
	// all lent: true
	// closed: 1
	// new: 3
	// again: 2
	// closed: 2
	// still lent: 1
	// closed: 3
	// <nil>
}

// Who has something better to do than to wait takes what is there.
func ExamplePool_TryGet() {
	pool := syncs.Pool[string]{New: func(context.Context) (string, error) { return "made", nil }}
	fmt.Println(pool.TryGet())
	s, _ := pool.Get(context.Background())
	pool.Put(s)
	fmt.Println(pool.TryGet())

	// Output:
	//  false
	// made true
}
