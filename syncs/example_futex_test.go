package syncs_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"bide.invalid/bide/syncs"
)

// A balance that is kept in an atomic word. Who pays in posts; who wants to take out waits until there is enough. It
// takes the number of the next post before it looks: a payment in between is not overlooked.
func ExampleFutex() {
	var balance atomic.Int64
	var paid syncs.Futex

	payIn := func(n int64) {
		balance.Add(n)
		paid.Post()
	}
	takeOut := func(ctx context.Context, n int64) error {
		for {
			next := paid.Get() + 1
			if b := balance.Load(); b >= n {
				if balance.CompareAndSwap(b, b-n) {
					return nil
				}
				continue
			}
			if err := paid.Wait(ctx, next); err != nil {
				return err
			}
		}
	}

	go func() {
		for range 10 {
			payIn(10)
		}
	}()
	fmt.Println(takeOut(context.Background(), 75), takeOut(context.Background(), 25))
	fmt.Println(balance.Load())

	paid.Close()
	fmt.Println(takeOut(context.Background(), 1))

	// Output:
	// <nil> <nil>
	// 0
	// bide/syncs: closed
}
