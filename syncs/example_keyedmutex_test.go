package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// One job at a time for each user, and users do not wait for each other.
func ExampleKeyedMutex() {
	ctx := context.Background()
	var users syncs.KeyedMutex[string]

	job := func(ctx context.Context, user string) error {
		if err := users.Lock(ctx, user); err != nil {
			return err
		}
		defer users.Unlock(user)
		return nil // the work
	}

	_ = users.Lock(ctx, "ann") // a long one
	err := bide.FailAfter(ctx, 5*time.Millisecond, func(ctx context.Context) error { return job(ctx, "ann") })
	fmt.Println("ann:", errors.Is(err, context.DeadlineExceeded))
	fmt.Println("bob:", job(ctx, "bob"))
	users.Unlock("ann")
	fmt.Println("locked:", users.Len())

	// Output:
	// ann: true
	// bob: <nil>
	// locked: 0
}
