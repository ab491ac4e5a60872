package syncs_test

import (
	"context"
	"fmt"
	"sync"

	"bide.invalid/bide/syncs"
)

// The lock goes to who has waited longest, so that no customer waits for ever, however many come.
func ExampleFairMutex() {
	ctx := context.Background()
	var counter syncs.FairMutex
	_ = counter.Lock(ctx) // not open yet

	var served sync.WaitGroup
	for _, customer := range []string{"Ann", "Bob", "Cy"} {
		ticket := counter.LockAsync() // they come in this order
		served.Go(func() {
			if err := ticket.Wait(ctx); err != nil {
				return
			}
			defer counter.Unlock()
			fmt.Println("serving", customer)
		})
	}
	counter.Unlock()
	served.Wait()

	// Output:
	// serving Ann
	// serving Bob
	// serving Cy
}
