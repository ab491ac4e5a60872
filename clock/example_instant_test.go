package clock_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
)

// A timeout becomes an instant once, at the edge. What is done below carries the instant, and never computes "the rest".
func ExampleInstant() {
	c := clock.NewVirtual() // for the example's sake: of the real clock, deadline := clock.After(2*time.Second)
	deadline := c.Now().Add(2 * time.Second)

	try := 0
	for c.Now().Before(deadline) {
		try++
		fmt.Println("try", try, "with", deadline.Sub(c.Now()), "left")
		c.Advance(900 * time.Millisecond)
	}
	fmt.Println("no deadline:", clock.Forever, clock.Forever.Add(time.Hour))
	// Output:
	// try 1 with 2s left
	// try 2 with 1.1s left
	// try 3 with 200ms left
	// no deadline: forever forever
}
