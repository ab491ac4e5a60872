package syncs_test

import (
	"context"
	"fmt"

	"bide.invalid/bide/syncs"
)

// A limit on how much is done at a time that follows the load: those who wait go on as soon as there is room for them.
func ExampleSemaphore_SetSize() {
	ctx := context.Background()
	limit := syncs.NewSemaphore(1)
	started := make(chan int)
	for i := range 3 {
		go func() {
			if err := limit.Acquire(ctx, 1); err != nil {
				return
			}
			started <- i // and it goes on working
		}()
	}
	<-started
	fmt.Println("running:", limit.Stats().Held)

	limit.SetSize(3) // it is quiet: more may run
	<-started
	<-started
	fmt.Println("running:", limit.Stats().Held)

	limit.SetSize(2) // nobody is interrupted, but nobody else is let in before two of them are done
	limit.Release(1)
	fmt.Println("another one:", limit.TryAcquire(1))
	limit.Release(1)
	fmt.Println("another one:", limit.TryAcquire(1))

	// Output:
	// running: 1
	// running: 3
	// another one: false
	// another one: true
}
