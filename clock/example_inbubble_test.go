package clock_test

import (
	"fmt"

	"bide.invalid/bide/clock"
)

// A pool of things that belong to a bubble once they were used in it, as channels and timers do, keeps them apart.
func ExampleInBubble() {
	var pool []chan int
	get := func() chan int {
		if n := len(pool); n > 0 && !clock.InBubble() {
			c := pool[n-1]
			pool = pool[:n-1]
			return c
		}
		return make(chan int)
	}
	pool = append(pool, get())
	get()
	fmt.Println("left:", len(pool))
	// Output: left: 0
}
