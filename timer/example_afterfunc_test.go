package timer_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A function is called once its time has come, unless the timer is stopped before. A test puts the timer on a virtual
// clock; without the options it is on the real one, and f gets a goroutine of its own.
func ExampleAfterFunc() {
	c := clock.NewVirtual()
	opts := []timer.Option{timer.On(c), timer.Inline()}

	slow := timer.AfterFunc(50*time.Millisecond, func() { fmt.Println("slow, after", c.Now()) }, opts...)
	lost := timer.AfterFunc(time.Second, func() { fmt.Println("lost") }, opts...)

	c.Advance(200 * time.Millisecond) // the work takes a while
	fmt.Println("prevented:", slow.Stop(), lost.Stop())

	slow.Reset(30 * time.Millisecond) // armed again, from now
	c.Advance(time.Minute)
	// Output:
	// slow, after 50ms
	// prevented: false true
	// slow, after 230ms
}
