package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// An Account is locked for a moment by most of its methods, and for as long as an audit takes by one.
type Account struct {
	mu      syncs.Mutex
	balance int
}

// Deposit waits for the lock as long as ctx allows. An error means that nothing was deposited.
func (a *Account) Deposit(ctx context.Context, n int) error {
	if err := a.mu.Lock(ctx); err != nil {
		return err
	}
	defer a.mu.Unlock()
	a.balance += n
	return nil
}

// A lock whose waiting is bounded by the scope around it, together with everything else in there.
func ExampleMutex() {
	ctx := context.Background()
	var a Account

	fmt.Println(a.Deposit(ctx, 10))

	audit := a.mu.TryLock() // somebody takes the lock, and stays
	err := bide.FailAfter(ctx, 5*time.Millisecond, func(ctx context.Context) error {
		return a.Deposit(ctx, 20)
	})
	fmt.Println(audit, errors.Is(err, context.DeadlineExceeded))
	a.mu.Unlock()

	fmt.Println(a.Deposit(ctx, 30), a.balance)

	// Output:
	// <nil>
	// true true
	// <nil> 40
}
