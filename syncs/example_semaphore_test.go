package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// Memory for requests of different sizes, of which there is so much. Who wants more than there will ever be is told at
// once; who wants more than there is now waits, as long as its bound allows.
func ExampleSemaphore() {
	const megabyte = 1 << 20
	memory := syncs.NewSemaphore(64 * megabyte)

	handle := func(ctx context.Context, size int64) error {
		if err := memory.Acquire(ctx, size); err != nil {
			return err
		}
		defer memory.Release(size)
		return nil // the work
	}

	ctx := context.Background()
	fmt.Println(handle(ctx, 48*megabyte))
	fmt.Println(handle(ctx, 65*megabyte))

	memory.TryAcquire(32 * megabyte) // somebody has it
	err := bide.FailAfter(ctx, 5*time.Millisecond, func(ctx context.Context) error {
		return handle(ctx, 48*megabyte)
	})
	fmt.Println(errors.Is(err, context.DeadlineExceeded))

	// Output:
	// <nil>
	// bide/syncs: more was asked for than there is in all
	// true
}
