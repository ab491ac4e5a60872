package syncs_test

import (
	"context"
	"fmt"
	"sync"

	"bide.invalid/bide/syncs"
)

// Each step of a simulation needs all cells of the step before. The last who is ready with a step prints it, while the
// others wait at the second barrier.
func ExampleBarrier() {
	ctx := context.Background()
	cells := []int{0, 0, 0, 1, 0, 0, 0}
	next := make([]int, len(cells))
	computed, copied := syncs.NewBarrier(len(cells)), syncs.NewBarrier(len(cells))

	var all sync.WaitGroup
	for i := range cells {
		all.Go(func() {
			for range 3 {
				next[i] = cells[i]
				if i > 0 {
					next[i] += cells[i-1]
				}
				if i < len(cells)-1 {
					next[i] += cells[i+1]
				}
				last, err := computed.Wait(ctx)
				if err != nil {
					return
				}
				if last {
					copy(cells, next)
					fmt.Println(cells)
				}
				if _, err := copied.Wait(ctx); err != nil {
					return
				}
			}
		})
	}
	all.Wait()

	// Output:
	// [0 0 1 1 1 0 0]
	// [0 1 2 3 2 1 0]
	// [1 3 6 7 6 3 1]
}
